"""Whatever writes memories or vectors notes it, or its caches would answer from what was before (revisions.py)."""

import re
from pathlib import Path

import pytest

APPS = Path(__file__).resolve().parents[2] / "apps"
WRITES = re.compile(
    r"(?:update|insert into|delete from)\s+memories_memory(?:vector)?\b"
    r"|\bMemory(?:Vector)?\.objects\b[^\n]*\.(?:create|update|bulk_create|bulk_update|delete)\("
    r"|\binsert_rows\(\s*Memory(?:Vector)?\b"
)
# Files that write, but no column that a search reads.
OTHER_COLUMNS = {
    "actions/memories/archive_memories.py": "the score of decay; what it archives goes through the plan writer",
    "actions/memories/count_accesses.py": "how often a memory was told",
    "actions/rollbacks/run_again.py": "the place of the candidate in its trace",
    "memories/writing/memory_writer.py": "called by the plan writer, which notes all changes of a plan",
    "memories/writing/versions.py": "called by the plan writer, which notes all changes of a plan",
}


def writers() -> dict[str, str]:
    texts = {path.relative_to(APPS).as_posix(): path.read_text() for path in APPS.rglob("*.py")}
    return {name: text for name, text in texts.items() if "/migrations/" not in name and WRITES.search(text)}


def test_writers_are_found() -> None:
    assert {"actions/memories/index_memories.py", "actions/sessions/delete_turns.py"} <= writers().keys()


@pytest.mark.parametrize("name", sorted(writers()))
def test_each_writer_notes_its_changes(name: str) -> None:
    assert "note_changes(" in writers()[name] or name in OTHER_COLUMNS


def test_exceptions_are_writers() -> None:
    assert OTHER_COLUMNS.keys() <= writers().keys()
