"""Proposals: from one object of an answer to a candidate, or to the reason why it can't be one."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from apps.pipeline.core.enums import EntityType, Grounding, MemoryType, Precision, Reason, SpeechAct
from apps.pipeline.core.input_validation import check_json, cleaned_text
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.extraction_result import CandidateRefusal
from apps.pipeline.extraction.llm import evidence
from apps.pipeline.extraction.llm.event_time import moment_of
from apps.pipeline.extraction.patterns.sentences import sentences_of
from apps.pipeline.extraction.patterns.speech_act import speech_act_of
from apps.pipeline.extraction.patterns.standing_rules import rule_in
from apps.pipeline.prompts.extract import ExtractedMemory
from apps.pipeline.prompts.sections import ShownEntity, ShownMemory, ShownTurn

USER = "User"
_SPEAKER = frozenset({"user", "the user", "speaker"})
_ENDS, _CLOSING = (".", "!", "?", "…"), "\"'”’)"
# What only we may hand out: e1, ent_…, UUIDs. A name never looks like one.
_AN_ID = re.compile(r"(?:e\d+|(?:ent|usr|mem)_\w+|[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12})", re.IGNORECASE)


class UnknownId(ValueError):
    """An answer names an entity or turn by an id that the prompt didn't give."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a prompt has shown: the only turns, entities and memories that an answer may point at."""

    turns: Sequence[ShownTurn]
    entities: Sequence[ShownEntity]
    memories: Sequence[ShownMemory] = ()

    @property
    def sources(self) -> list[SourceTurn]:
        """Return the turns that may be extracted from."""
        return [shown.turn for shown in self.turns if shown.is_new]

    def turn(self, name: str) -> SourceTurn | None:
        """Return a turn by the id that the prompt gave it."""
        return next((shown.turn for shown in self.turns if shown.id == name), None)

    def memory_id(self, name: str) -> UUID | None:
        """Return the id of a memory by the one that the prompt gave it."""
        return next((shown.memory.id for shown in self.memories if shown.id == name.strip().lower()), None)


@dataclass(frozen=True, slots=True)
class Judge:
    """Who answered, and under which limits it is taken."""

    model: str
    policy: ExtractionPolicy
    own_reliability: float | None = None  # of the entry that answered; None is the policy's

    @property
    def reliability(self) -> float:
        """Return how far the model's statements are trusted, from 0 to 1."""
        return self.policy.model_reliability if self.own_reliability is None else self.own_reliability


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one object of an answer came to, and what of it was ignored."""

    outcome: Candidate | CandidateRefusal
    ignored: tuple[str, ...] = ()


def propose(proposed: Any, *, shown: Shown, judge: Judge) -> Proposal:
    """Turn one object into a candidate, with index 0; a refusal says which check it failed.

    The quote decides which turn says it, whatever turns the object names. Raises ValueError for an object that is
    malformed, names an id that was not given, or holds text or a time that can't be stored.
    """
    answer = _read(proposed)
    ignored = _unknown_memories(answer, shown)
    outcome = _outcome(answer, shown=shown, judge=judge)
    return Proposal(outcome, ignored)


def _unknown_memories(answer: ExtractedMemory, shown: Shown) -> tuple[str, ...]:
    """Name the memories that an answer points at though the prompt didn't show them."""
    named = {"replaces": answer.replaces, "same_as": (answer.same_as or "",), "contradicts": answer.contradicts}
    return tuple(
        f"{key}: {name}" for key, names in named.items() for name in names if name and shown.memory_id(name) is None
    )


def _outcome(answer: ExtractedMemory, *, shown: Shown, judge: Judge) -> Candidate | CandidateRefusal:
    named = [shown.turn(name) for name in answer.source_turn_ids]
    if None in named:
        raise UnknownId(f"source_turn_ids: {', '.join(answer.source_turn_ids)}")
    cited = [turn for turn in named if turn in shown.sources]
    source = evidence.said_in(answer.evidence, turns=[*cited, *shown.sources])
    turn = source or (cited or shown.sources)[-1]
    candidate = _candidate(answer, turn=turn, shown=shown, judge=judge)
    if answer.quality_decision == "discard":
        return CandidateRefusal(candidate, Reason.LOW_QUALITY, answer.quality_reason)
    if source is None or answer.grounding_verdict is Grounding.NOT_SUPPORTED:
        why = "the quote was not said" if source is None else "the model says so"
        return CandidateRefusal(candidate.evolve(grounding=Grounding.NOT_SUPPORTED), Reason.NOT_SUPPORTED, why)
    return candidate


def _read(proposed: Any) -> ExtractedMemory:
    check_json(proposed)
    try:
        return ExtractedMemory.model_validate(proposed)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def _candidate(answer: ExtractedMemory, *, turn: SourceTurn, shown: Shown, judge: Judge) -> Candidate:
    event_at, precision = _moment(answer.event_at)
    valid_from, valid_from_precision = _moment(answer.valid_from)
    valid_until, valid_until_precision = _moment(answer.valid_until)
    content = cleaned_text(" ".join(answer.content.split()), at="content", most=1_000)
    return Candidate(
        index=0,
        type=answer.type,
        subject=_mention(answer.subject, answer.subject_type, turn=turn, shown=shown),
        predicate=answer.predicate,
        object=_object(answer, turn=turn, shown=shown),
        content=content if content.rstrip(_CLOSING).endswith(_ENDS) else f"{content}.",
        source_turn_ids=(turn.id,),
        evidence=answer.evidence.strip(),
        extractor=judge.model[:120],
        reliability=judge.reliability,
        source_confidence=answer.source_confidence,
        grounding=answer.grounding_verdict,
        speech_act=_speech_act(answer, turn=turn),
        polarity=answer.polarity,
        stateful=answer.predicate_is_stateful,
        importance=answer.importance,
        topic=answer.topic.strip().lower(),
        tags=_tags(answer),
        adjustment=answer.confidence_adjustment,
        event_at=event_at,
        event_precision=precision,
        replaces=_memory_ids(answer.replaces, shown),
        same_as=shown.memory_id(answer.same_as) if answer.same_as else None,
        contradicts=_memory_ids(answer.contradicts, shown),
        valid_from=valid_from,
        valid_from_precision=valid_from_precision,
        valid_until=valid_until,
        valid_until_precision=valid_until_precision,
    )


def _moment(text: str | None) -> tuple[datetime, Precision] | tuple[None, None]:
    return moment_of(text) if text else (None, None)


def _memory_ids(names: Iterable[str], shown: Shown) -> tuple[UUID, ...]:
    return tuple(dict.fromkeys(each for name in names if (each := shown.memory_id(name)) is not None))


def speaker_mention(turn: SourceTurn) -> Mention:
    """Point at whoever speaks a turn, by the name under which the prompt shows them."""
    return Mention(text=" ".join(turn.speaker.split()) or USER, type=EntityType.PERSON, is_speaker=True)


def _mention(text: str, kind: EntityType | None, *, turn: SourceTurn, shown: Shown) -> Mention:
    if text.strip().lower() in _SPEAKER:
        return speaker_mention(turn)
    known = next((each.entity for each in shown.entities if each.id == text.strip()), None)
    if known is not None:
        return Mention(text=known.name, type=known.type, entity_id=known.id)
    if _AN_ID.fullmatch(text.strip()):
        raise UnknownId(text.strip()[:60])
    return Mention(text=cleaned_text(" ".join(text.split()), at="subject", most=200), type=kind)


def _object(answer: ExtractedMemory, *, turn: SourceTurn, shown: Shown) -> ObjectValue:
    value = answer.object
    if value is None:
        return ObjectValue()
    if value.entity is not None:
        return ObjectValue(entity=_mention(value.entity, value.entity_type, turn=turn, shown=shown))
    if value.list:
        return ObjectValue(items=tuple(each.strip() for each in value.list if each.strip()))
    return ObjectValue(literal=(value.literal or "").strip() or None)


def _speech_act(answer: ExtractedMemory, *, turn: SourceTurn) -> SpeechAct:
    """Believe the model where it doubts, and the rules where they do: what either calls unreal is not asserted."""
    if answer.speech_act is not SpeechAct.ASSERTED:
        return answer.speech_act
    quote = evidence.fold(answer.evidence)
    around = (each.text for each in sentences_of(turn.content) if quote and quote in evidence.fold(each.text))
    ruled, _ = speech_act_of(next(around, answer.evidence))
    return ruled or SpeechAct.SARCASM


def _tags(answer: ExtractedMemory) -> tuple[str, ...]:
    """Add to the model's tags those that a standing rule has by its words alone."""
    rule = rule_in(answer.evidence, name=USER) if answer.type is MemoryType.PREFERENCE else None
    given = (*(tag.strip().lower() for tag in answer.tags), *(rule.row.tags if rule else ()))
    return tuple(dict.fromkeys(tag for tag in given if tag))
