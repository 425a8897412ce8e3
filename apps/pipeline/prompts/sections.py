"""Sections of a prompt: XML tags around material that can't close them, short ids instead of long ones."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TypeVar

from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import Status
from apps.pipeline.core.input_validation import storable
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.core.turn import SourceTurn

MOST_CONTENT = 240  # characters of a known memory
UNCONFIRMED = "unconfirmed"  # the mark of a memory that waits for review; the static part says what it means
MOST_ALIASES = 3
_Known = TypeVar("_Known", KnownEntity, StoredMemory)
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn under the id by which an answer names it; only new ones may be extracted from."""

    id: str  # t1, t2…
    turn: SourceTurn
    is_new: bool = True
    topic: str = ""  # that the caller gave with its request


def numbered(letter: str, known: Iterable[_Known]) -> dict[str, _Known]:
    """Give entities (e1, e2…) or memories (m1, m2…) the ids by which an answer names them, in their order."""
    return {f"{letter}{number}": each for number, each in enumerate(known, start=1)}


def known_section(*, entities: Mapping[str, KnownEntity], memories: Mapping[str, StoredMemory]) -> str:
    """Render what is known of the end user: one line per entity and memory."""
    entity_lines = []
    for id, entity in entities.items():
        names = [entity.name, *(alias for alias in entity.aliases if alias != entity.name)]
        kind = "the user" if entity.is_user else entity.type
        told = " | ".join((id, names[0], kind, *names[1 : MOST_ALIASES + 1]))
        entity_lines.append(_line(told, MOST_CONTENT))
    memory_lines = []
    for id, memory in memories.items():
        mark = (UNCONFIRMED,) if memory.status is Status.PENDING_REVIEW else ()
        parts = (id, memory.said_at.date().isoformat(), *mark, *filter(None, [memory.predicate]))
        memory_lines.append(f"{' | '.join(map(_escaped, parts))} | {_line(memory.content, MOST_CONTENT)}")
    sections = _section("active_entities", entity_lines), _section("known_memories", memory_lines)
    return "\n".join(filter(None, sections))


def turns_section(*, turns: Iterable[ShownTurn], most_characters: int) -> str:
    """Render turns oldest first, each cut at `most_characters`."""
    lines = []
    for shown in turns:
        turn, said = shown.turn, shown.turn.local_time
        given = {
            "id": shown.id,
            "role": turn.role.value,
            "speaker": turn.speaker,
            "said": f"{_WEEKDAYS[said.weekday()]} {said.isoformat(timespec='minutes').replace('+00:00', 'Z')}",
            "topic": shown.topic,
        }
        attributes = "".join(f' {name}="{escape(_one_line(value))}"' for name, value in given.items() if value)
        new = ' new="true"' if shown.is_new else ""
        content = escape(storable(turn.content[:most_characters]), quote=False)
        lines.append(f"<turn{attributes}{new}>{content}</turn>")
    return _section("source_turns", lines)


def _section(name: str, lines: Iterable[str]) -> str:
    body = "\n".join(lines)
    return f"<{name}>\n{body}\n</{name}>" if body else ""


def _line(text: str, most: int) -> str:
    return _escaped(_one_line(text)[:most])


def _escaped(text: str) -> str:
    return escape(_one_line(text), quote=False)


def _one_line(text: str) -> str:
    return " ".join(storable(text).split())
