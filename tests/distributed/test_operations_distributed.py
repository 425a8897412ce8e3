"""Commands and scheduled tasks do with a distributed database what they do with any other."""

import json

from tests.distributed.citus_database import run


def test_operators_notice_nothing(distributed: dict[str, str]) -> None:
    told = json.loads(run(distributed, "-m", "tests.distributed.operations").splitlines()[-1])

    assert told == {
        "redaction": [True, True, 0],
        "reembedding": [["hashing"], True],
        "transfer": [True, True],
        "import_of_a_file": ["User lives in Rome."],
        "rollback": [True, [], ["User lives in Oslo."]],
        "replay": True,
        "rules": ["done", 1, 1],
        "retrying": [True, ["User lives in Turin."], ["User lives in Turin."]],
        "retention": [True, False, True],
        "export": [True, True, True],
        "erasure": [[], True],
        "alerts": ["webhook_failing"],
        "scheduled_tasks": 16,
        "ledger": [True, True],
    }
