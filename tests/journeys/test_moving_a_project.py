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


def exported_after(instance: Instance, *commands: list[str], file: Path) -> list[dict[str, Any]]:
    """Run commands and export the project to a file; return its lines."""
    instance.run_all(*commands, ["export_project", "moved", f"--output={file}"])
    return [json.loads(line) for line in file.read_text().splitlines()]


def comparable(lines: list[dict[str, Any]]) -> list[str]:
    """Return the rows in an order of their own."""
    return sorted(json.dumps(line, sort_keys=True) for line in lines[1:])


def test_a_project_keeps_its_identifiers_in_another_installation(tmp_path: Path) -> None:
    turns, exported = tmp_path / "turns.jsonl", tmp_path / "moved.jsonl"
    turns.write_text("".join(json.dumps(each) + "\n" for each in SAID))
    with migrated_instance() as former:
        told = ["ingest", str(turns), "--project=moved", "--wait"]
        before = exported_after(former, ["createproject", "Moved"], told, file=exported)
    with migrated_instance() as latter:
        after = exported_after(latter, ["load_project", str(exported)], file=tmp_path / "again.jsonl")
    assert after[0]["project"] == before[0]["project"]
    assert {line["kind"] for line in before[1:]} >= {"memories", "entities", "turns", "traces"}
    assert comparable(after) == comparable(before)
