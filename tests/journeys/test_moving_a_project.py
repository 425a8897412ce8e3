"""A project is moved to another installation by commands, and every identifier stays."""

import json
from pathlib import Path
from typing import Any

from tests.instance import Instance, migrated_instance

SAID = [
    {"user_id": "ana", "session_id": "one", "role": "user", "content": "I live in Berlin and I work as a nurse."},
    {"user_id": "ana", "session_id": "two", "role": "user", "content": "I moved to Munich in May 2024."},
    {"user_id": "bo", "session_id": "one", "role": "user", "content": "My sister Lena lives in Rome."},
]


def lines_of(instance: Instance, file: Path) -> list[dict[str, Any]]:
    done = instance.run("export_project", "moved", f"--output={file}")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in file.read_text().splitlines()]


def comparable(lines: list[dict[str, Any]]) -> list[str]:
    """Return the rows in an order of their own, without what the loading itself adds or changes."""
    return sorted(json.dumps(line, sort_keys=True) for line in lines[1:] if line["kind"] != "memory_vectors")


def test_a_project_keeps_its_identifiers_in_another_installation(tmp_path: Path) -> None:
    turns, exported = tmp_path / "turns.jsonl", tmp_path / "moved.jsonl"
    turns.write_text("".join(json.dumps(each) + "\n" for each in SAID))
    with migrated_instance() as former:
        former.run_all(["createproject", "Moved"], ["ingest", str(turns), "--project=moved", "--wait"])
        before = lines_of(former, exported)
    with migrated_instance() as latter:
        project = before[0]["project"]["id"]
        latter.run_all(["createproject", "Moved", f"--id={project}"], ["ingest", str(exported), "--project=moved"])
        after = lines_of(latter, tmp_path / "again.jsonl")
    assert {line["kind"] for line in before[1:]} >= {"memories", "entities", "turns", "traces"}
    assert comparable(after) == comparable(before)
