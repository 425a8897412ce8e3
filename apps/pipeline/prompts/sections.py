"""Sections of a prompt: XML tags around material that can't close them, short ids instead of long ones."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.input_validation import storable
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.core.turn import SourceTurn

MOST_CONTENT = 240  # characters of a recent memory
MOST_ALIASES = 3


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn under the id by which an answer names it; only new ones may be extracted from."""

    id: str  # t1, t2…
    turn: SourceTurn
    is_new: bool = True


@dataclass(frozen=True, slots=True)
class ShownEntity:
    """An entity under the id by which an answer names it."""

    id: str  # e1, e2…
    entity: KnownEntity


def known_section(*, entities: Iterable[ShownEntity], memories: Iterable[StoredMemory]) -> str:
    """Render what is known of the end user: a line an entity, a line a memory."""
    parts = (
        _section("active_entities", map(_entity, entities)),
        _section("recent_memories", (f"- {_line(memory.content, MOST_CONTENT)}" for memory in memories)),
    )
    return "\n".join(part for part in parts if part)


def turns_section(*, turns: Iterable[ShownTurn], most_characters: int) -> str:
    """Render turns oldest first, each cut at `most_characters`."""
    return _section("source_turns", (_turn(shown, most_characters) for shown in turns))


def _section(name: str, lines: Iterable[str]) -> str:
    body = "\n".join(lines)
    return f"<{name}>\n{body}\n</{name}>" if body else ""


def _entity(shown: ShownEntity) -> str:
    entity = shown.entity
    names = [entity.name, *(alias for alias in entity.aliases if alias != entity.name)]
    told = " | ".join((shown.id, names[0], "the user" if entity.is_user else entity.type, *names[1 : MOST_ALIASES + 1]))
    return _line(told, MOST_CONTENT)


def _turn(shown: ShownTurn, most: int) -> str:
    turn = shown.turn
    given = {
        "id": shown.id,
        "role": turn.role.value,
        "speaker": turn.speaker,
        "said": turn.local_time.isoformat(timespec="minutes").replace("+00:00", "Z"),
    }
    attributes = "".join(f' {name}="{escape(_one_line(value))}"' for name, value in given.items() if value)
    new = ' new="true"' if shown.is_new else ""
    return f"<turn{attributes}{new}>{escape(storable(turn.content[:most]), quote=False)}</turn>"


def _line(text: str, most: int) -> str:
    return escape(_one_line(text)[:most], quote=False)


def _one_line(text: str) -> str:
    return " ".join(storable(text).split())
