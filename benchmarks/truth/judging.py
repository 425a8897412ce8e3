"""What stored memories are worth, by the gold facts of their conversation: no database, no clock.

An active memory is right if it says what is true now and no other one says already. It is wrong if it says as current
what is over, if nobody should have stored it, or if it matches no fact and no reader has found it true.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from uuid import UUID

from apps.pipeline.core.enums import Status
from benchmarks.truth.gold import HEALTH, Fact, FactState, GoldConversation
from benchmarks.truth.replay import HeldMemory, Replayed

JUDGEMENTS = Path(__file__).with_name("judgements.jsonl")
_OVER = frozenset({Status.SUPERSEDED, Status.RETRACTED, Status.MERGED, Status.ARCHIVED})


class Verdict(StrEnum):
    """What an active memory is; all but RIGHT count as wrong."""

    RIGHT = "right"
    OVER = "over"  # a closed fact, told as current
    UNWANTED = "unwanted"
    REPEATED = "repeated"  # another active memory holds the same fact
    UNSETTLED = "unsettled"  # one side of what excludes each other, told as certain
    FALSE = "false"  # a reader says so
    USELESS = "useless"  # so does this
    UNMATCHED = "unmatched"  # no fact, and no reader has judged it


Judgements = Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Judged:
    """One share, as its two counts, so that conversations can be added up."""

    count: int = 0
    of: int = 0

    def __add__(self, other: "Judged") -> "Judged":
        """Add the counts."""
        return Judged(self.count + other.count, self.of + other.of)

    @property
    def share(self) -> float | None:
        """Return the share, None of nothing."""
        return round(self.count / self.of, 4) if self.of else None


NOTHING = Judged()


@dataclass(slots=True)
class StoreJudgement:
    """How true the store of one conversation is, and what one could mend."""

    precision: Judged = NOTHING
    recall: Judged = NOTHING
    health_recall: Judged = NOTHING
    superseded_needed: Judged = NOTHING
    superseded_wrongly: int = 0
    repeats_stored_twice: Judged = NOTHING
    wrong: list[dict[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    not_superseded: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    stored_twice: list[str] = field(default_factory=list)


def read_judgements(file: Path = JUDGEMENTS) -> dict[tuple[str, str], str]:
    """Return what a reader has said of sentences, by conversation and sentence."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    rows = (json.loads(line) for line in lines if line.strip())
    return {(row["conversation"], row["memory"]): row["verdict"] for row in rows}


def judge(conversation: GoldConversation, replayed: Replayed, judgements: Judgements) -> StoreJudgement:
    """Judge all memories of a conversation."""
    at = conversation.asked_at
    active = [each for each in replayed.memories if each.is_current(at)]
    found = StoreJudgement()
    verdicts = _verdicts(conversation, active, judgements)
    found.precision = Judged(sum(verdict is Verdict.RIGHT for verdict in verdicts.values()), len(active))
    found.wrong = [
        {"memory": each.content, "verdict": verdicts[each.id].value}
        for each in active
        if verdicts[each.id] is not Verdict.RIGHT
    ]
    believed = [each for each in active if verdicts[each.id] not in (Verdict.UNWANTED, Verdict.FALSE)]
    _judge_recall(found, conversation, believed)
    _judge_supersession(found, conversation, replayed, active)
    _judge_repeats(found, conversation, replayed, {each.id for each in active})
    return found


def _verdicts(
    conversation: GoldConversation, active: Sequence[HeldMemory], judgements: Judgements
) -> dict[UUID, Verdict]:
    """Judge each active memory; of two that hold one fact the first one is right."""
    told: set[str] = set()
    verdicts: dict[UUID, Verdict] = {}
    for memory in active:
        by_reader = judgements.get((conversation.name, memory.content))
        verdicts[memory.id] = _verdict(conversation, memory, by_reader, told)
        told |= {fact.id for fact in facts_in(memory.content, conversation.facts.values())}
    return verdicts


def _verdict(conversation: GoldConversation, memory: HeldMemory, by_reader: str | None, told: set[str]) -> Verdict:
    held = facts_in(memory.content, conversation.facts.values())
    if by_reader is not None:
        return Verdict.RIGHT if by_reader == "true" else Verdict(by_reader)
    if any(each.is_held_by(memory.content) for each in conversation.unwanted):
        return Verdict.UNWANTED
    if over_in(held):
        return Verdict.OVER
    valid = [fact for fact in held if fact.state is not FactState.CLOSED]
    if not valid:
        return Verdict.UNMATCHED
    if all(fact.id in told for fact in valid):
        return Verdict.REPEATED
    unsettled = [fact for fact in valid if fact.state is FactState.UNCERTAIN]
    if len(unsettled) == len(valid) == 1 and not memory.is_disputed:
        return Verdict.UNSETTLED
    return Verdict.RIGHT


def facts_in(sentence: str, facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts that a sentence holds."""
    return [fact for fact in facts if fact.is_held_by(sentence)]


def over_in(held: Sequence[Fact]) -> list[Fact]:
    """Return the closed facts among those of one sentence; it may name an old value beside what replaced it."""
    replaced = {old for fact in held for old in fact.replaces}
    return [fact for fact in held if fact.state is FactState.CLOSED and fact.id not in replaced]


def _judge_recall(found: StoreJudgement, conversation: GoldConversation, believed: Sequence[HeldMemory]) -> None:
    """Judge each required fact; a memory that is false in itself holds none."""
    for fact in conversation.facts.values():
        if fact.optional or fact.state is not FactState.CURRENT:
            continue
        is_held = any(fact.is_held_by(memory.content) for memory in believed)
        found.recall += Judged(is_held, 1)
        if fact.kind == HEALTH:
            found.health_recall += Judged(is_held, 1)
        if not is_held:
            found.missing.append(fact.text)


def _judge_supersession(
    found: StoreJudgement, conversation: GoldConversation, replayed: Replayed, active: Sequence[HeldMemory]
) -> None:
    """Judge each `replaces` whose old fact was active once, and each closed memory whose fact is lost."""
    once_active = [memory.content for _, held in replayed.steps for memory in held if memory.status == Status.ACTIVE]
    for fact in conversation.facts.values():
        for old in (conversation.facts[each] for each in fact.replaces):
            if not any(old.is_held_by(sentence) for sentence in once_active):
                continue
            still = [each.content for each in active if old in over_in(facts_in(each.content, [old, fact]))]
            found.superseded_needed += Judged(not still, 1)
            found.not_superseded += [f"{sentence} [now: {fact.text}]" for sentence in still]
    found.lost = [each.content for each in replayed.memories if _is_lost(each, conversation, active)]
    found.superseded_wrongly = len(found.lost)


def _is_lost(memory: HeldMemory, conversation: GoldConversation, active: Sequence[HeldMemory]) -> bool:
    """Return True for a memory that was closed although it says what is true and nothing else says it."""
    ended = memory.status == Status.ACTIVE and not memory.is_current(conversation.asked_at)
    if memory.status not in _OVER and not ended:
        return False
    held = facts_in(memory.content, conversation.facts.values())
    # A value that another one has replaced was rightly closed, though it may have come back: then it is missing.
    replaced = {old for fact in conversation.facts.values() for old in fact.replaces}
    current = [fact for fact in held if fact.state is FactState.CURRENT and fact.id not in replaced]
    if over_in(held):
        return False
    return any(not any(fact.is_held_by(each.content) for each in active) for fact in current)


def _judge_repeats(
    found: StoreJudgement, conversation: GoldConversation, replayed: Replayed, active: set[UUID]
) -> None:
    """Judge each repeated mention of a fact that was known before, by the memories that its exchange has left."""
    before: tuple[HeldMemory, ...] = ()
    for turns, held in replayed.steps:
        known = {each.id for each in before}
        for fact in conversation.facts.values():
            if not set(fact.repeated) & set(turns):
                continue
            first = [each for each in before if each.status == Status.ACTIVE and fact.is_held_by(each.content)]
            told = {
                each.id for each in conversation.facts.values() if any(each.is_held_by(old.content) for old in before)
            }
            again = [each for each in held if each.id not in known and fact.is_held_by(each.content)]
            # As for precision: what says something new as well is no second memory of the known fact.
            again = [
                each
                for each in again
                if all(other.id in told for other in facts_in(each.content, conversation.facts.values()))
            ]
            is_twice = any(each.id in active for each in first) and any(each.id in active for each in again)
            found.repeats_stored_twice += Judged(is_twice, 1 if first else 0)
            if first and is_twice:
                found.stored_twice.append(f"{first[0].content} / {again[0].content}")
        before = held
