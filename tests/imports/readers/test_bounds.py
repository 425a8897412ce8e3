"""No file makes a reader hold more than its bounds; what is too large costs its own entry; problems quote nothing."""

from typing import Any

import pytest

from apps.imports.enums import ImportFormat
from tests.imports.readers.read_files import HUMAN, MEM0, OWN, claude, problems, read

SECRET = "Xyloquartz"


def quoting() -> list[tuple[ImportFormat, Any]]:
    """Files with an invalid entry, each of which says the secret at the place that is wrong."""
    turn = {"session_id": "s", "role": "user", "content": "Hello"}
    return [
        (ImportFormat.JSONL, {**turn, "role": f"{SECRET}' - \n at"}),
        (ImportFormat.JSONL, {**turn, SECRET: 1}),
        (ImportFormat.MEMORIES, {**OWN, "status": SECRET}),
        (ImportFormat.MEM0, [{**MEM0, "metadata": {SECRET: "a\0b"}}]),
        (ImportFormat.MEM0, [{**MEM0, "metadata": {"a": SECRET * 1_000}}]),
        (ImportFormat.MEM0, [{**MEM0, "id": f"{SECRET}\0"}]),
        (ImportFormat.MEM0, [{**MEM0, "user_id": f"{SECRET}\n"}]),
        (ImportFormat.CHAT, [{"role": {SECRET: 1}, "content": "hi"}]),
        (ImportFormat.CHAT, f'[{{"role": "user", {SECRET}'.encode()),
        (ImportFormat.CLAUDE, f'[{{"uuid": {SECRET}'.encode()),
        (ImportFormat.CLAUDE, [claude({**HUMAN, "sender": SECRET})]),
    ]


@pytest.mark.parametrize(("name", "content"), quoting())
def test_problems_quote_nothing(name: ImportFormat, content: Any) -> None:
    told = problems(read(name, content))
    assert told
    assert SECRET not in str(told)
