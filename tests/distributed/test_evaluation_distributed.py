"""Samples are drawn, listed, labelled and evaluated on a distributed database as on any other."""

import json

from tests.distributed.citus_database import run


def test_samples_are_drawn_labelled_and_read(distributed: dict[str, str]) -> None:
    told = json.loads(run(distributed, "-m", "tests.distributed.evaluation").splitlines()[-1])

    assert told == {
        "drawn": {"memory": [2, 2, 0], "turn": [1, 1, 0]},
        "listed": {"memory": [2, 2], "turn": [1, 1]},
        "contents": ["That is a long story.", "User is a nurse.", "User lives in Lisbon."],
        "drawn again": 422,
        "precision and recall": [1.0, 1.0],
        "exported": 4,
        "drawn of last week": 0,
        "pages": [200, 200],
    }
