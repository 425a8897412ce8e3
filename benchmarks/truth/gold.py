"""Conversations with their gold facts: what a good memory holds of them, written from the text alone.

A file of `conversations/` holds sessions of turns, and lists of facts, unwanted statements and questions. Turns are
named s1.1, s1.2 and so on. A sentence holds a fact if all of its `needs` are found in it and none of its `excludes`.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

CONVERSATIONS = Path(__file__).with_name("conversations")
WITHOUT_ANSWERS = Path(__file__).with_name("conversations_without_answers")  # for runs without a model only
HEALTH = "health"  # the kind of a fact of health, allergy or diet


class FactState(StrEnum):
    """Where a fact stands when the conversation is over."""

    CURRENT = "current"
    CLOSED = "closed"
    UNCERTAIN = "uncertain"  # two statements exclude each other, and nobody can say which one is right


@dataclass(frozen=True, slots=True)
class GoldTurn:
    """One message; `id` is its session's id and its place, such as s2.3."""

    id: str
    role: str
    text: str
    said_at: datetime
    speaker: str = ""  # where several people write


@dataclass(frozen=True, slots=True)
class Exchange:
    """What is posted at once: a turn of the user and those that follow it."""

    session: str
    agent: str
    turns: tuple[GoldTurn, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that a sentence may say, found by regular expressions."""

    id: str
    text: str
    needs: tuple[re.Pattern[str], ...]
    excludes: tuple[re.Pattern[str], ...]

    def is_held_by(self, sentence: str) -> bool:
        """Return True if a sentence says it."""
        return all(each.search(sentence) for each in self.needs) and not any(
            each.search(sentence) for each in self.excludes
        )


@dataclass(frozen=True, slots=True)
class Fact(Statement):
    """A durable statement; storing an optional one is right, missing it costs nothing."""

    state: FactState
    said: tuple[str, ...]
    repeated: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    optional: bool = False
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What an agent asks later, with the facts that answer it and those that would mislead."""

    ask: str
    answered_by: tuple[str, ...]
    misled_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoldConversation:
    """A conversation of one user over weeks, with everything that it is judged by."""

    name: str
    user_id: str
    half: str  # "develop", "held_out", or "blind_1" and so on by when they were written
    exchanges: tuple[Exchange, ...]
    facts: Mapping[str, Fact]
    unwanted: tuple[Statement, ...]
    questions: tuple[Question, ...]

    @property
    def turns(self) -> tuple[GoldTurn, ...]:
        """Return all turns in their order."""
        return tuple(turn for exchange in self.exchanges for turn in exchange.turns)

    @property
    def asked_at(self) -> datetime:
        """Return when the questions are asked: a day after the last turn."""
        return self.turns[-1].said_at + timedelta(days=1)


def load(folder: Path = CONVERSATIONS, *, names: Sequence[str] = ()) -> tuple[GoldConversation, ...]:
    """Read all conversations, or the named ones. Raises FileNotFoundError for a name without a file."""
    files = [folder / f"{name}.toml" for name in names] or sorted(folder.glob("*.toml"))
    return tuple(_conversation(file.stem, tomllib.loads(file.read_text(encoding="utf-8"))) for file in files)


def _conversation(name: str, raw: Mapping[str, Any]) -> GoldConversation:
    facts = {each["id"]: _fact(each) for each in raw["fact"]}
    conversation = GoldConversation(
        name=name,
        user_id=raw["user_id"],
        half=raw["half"],
        exchanges=tuple(exchange for session in raw["session"] for exchange in _exchanges(session)),
        facts=facts,
        unwanted=tuple(Statement(**_statement(each)) for each in raw.get("unwanted", ())),
        questions=tuple(
            Question(each["ask"], tuple(each["answered_by"]), tuple(each.get("misled_by", ())))
            for each in raw["question"]
        ),
    )
    _check_references(conversation)
    return conversation


def _exchanges(session: Mapping[str, Any]) -> Iterator[Exchange]:
    turns: list[GoldTurn] = []
    for turn in _turns(session):
        if turn.role == "user" and turns:
            yield Exchange(session["id"], session.get("agent", ""), tuple(turns))
            turns = []
        turns.append(turn)
    if turns:
        yield Exchange(session["id"], session.get("agent", ""), tuple(turns))


def _turns(session: Mapping[str, Any]) -> Iterator[GoldTurn]:
    said_at = session["starts"]
    for place, raw in enumerate(session["turn"], start=1):
        if place > 1:
            said_at += timedelta(minutes=raw.get("after", 1))
        yield GoldTurn(f"{session['id']}.{place}", raw["role"], raw["text"], said_at, raw.get("speaker", ""))


def _fact(raw: Mapping[str, Any]) -> Fact:
    return Fact(
        **_statement(raw),
        state=FactState(raw["state"]),
        said=tuple(raw["said"]),
        repeated=tuple(raw.get("repeated", ())),
        replaces=tuple(raw.get("replaces", ())),
        contradicts=tuple(raw.get("contradicts", ())),
        optional=raw.get("optional", False),
        kind=raw.get("kind", ""),
    )


def _statement(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": raw["id"],
        "text": raw["text"],
        "needs": _patterns(raw["needs"]),
        "excludes": _patterns(raw.get("excludes", ())),
    }


def _patterns(texts: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(text, re.IGNORECASE) for text in texts)


def _check_references(conversation: GoldConversation) -> None:
    """Raise ValueError for a fact or turn that is named and doesn't exist."""
    turns = {turn.id for turn in conversation.turns}
    for fact in conversation.facts.values():
        _check_known(conversation, {*fact.said, *fact.repeated} - turns)
        _check_known(conversation, {*fact.replaces, *fact.contradicts} - set(conversation.facts))
    for question in conversation.questions:
        _check_known(conversation, {*question.answered_by, *question.misled_by} - set(conversation.facts))


def _check_known(conversation: GoldConversation, unknown: set[str]) -> None:
    if unknown:
        raise ValueError(f"{conversation.name} names what it doesn't hold: {', '.join(sorted(unknown))}")
