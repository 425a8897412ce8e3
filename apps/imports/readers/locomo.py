"""LoCoMo (Maharana et al., 2024): a JSON file of conversations between two people over many sessions."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, BinaryIO

from apps.imports.readers.entries import ImportedTurn, ImportEntry, ImportProblem, ImportSource, checked_turn
from apps.imports.readers.json_elements import json_elements
from apps.pipeline.core.enums import Role
from apps.pipeline.core.turn import NewTurn

_SESSION = re.compile(r"session_(\d+)")
_STRUCTURE_ERRORS = (KeyError, TypeError, AttributeError)  # raised when the file has another structure


def read_locomo(stream: BinaryIO, *, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield every turn; both people have the role user and are distinguished by `speaker`.

    The end user is that of the source, or else the conversation's sample_id.
    """
    for element in json_elements(stream):
        if isinstance(element, ImportProblem):
            yield element
            continue
        try:
            yield from _conversation(element.value, source=source)
        except _STRUCTURE_ERRORS:
            yield ImportProblem(f"conversation {element.number}", "does not have the structure of LoCoMo")


def _conversation(raw: Mapping[str, Any], *, source: ImportSource) -> Iterator[ImportEntry]:
    sample, talk = str(raw["sample_id"]), raw["conversation"]
    user_id = source.users.holder(sample) or sample
    numbers = sorted(int(match[1]) for key in talk if (match := _SESSION.fullmatch(key)))
    for number in numbers:
        moment = _moment(talk.get(f"session_{number}_date_time", ""))
        for index, each in enumerate(talk[f"session_{number}"], start=1):
            at = f"{sample}, session {number}, turn {index}"
            turn = _turn(each, moment)
            if turn is None:
                yield ImportProblem(at, "lacks speaker, dia_id or text")
                continue
            yield checked_turn(ImportedTurn(at, user_id, f"{sample}-session-{number}", turn), now=source.now)


def _turn(raw: Mapping[str, Any], moment: datetime | None) -> NewTurn | None:
    try:
        speaker, turn_id, text = str(raw["speaker"]), str(raw["dia_id"]), str(raw["text"])
    except _STRUCTURE_ERRORS:
        return None
    caption = raw.get("blip_caption")  # a model's description of an attached image
    content = f"{text} [shares {caption}]" if caption else text
    return NewTurn(role=Role.USER, content=content, speaker=speaker, occurred_at=moment, external_id=turn_id)


def _moment(text: str) -> datetime | None:
    """Parse "1:56 pm on 8 May, 2023"; the file names no time zone, so UTC is assumed."""
    try:
        return datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        return None
