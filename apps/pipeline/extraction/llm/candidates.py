"""Conversion of an object of an answer to a candidate, or to the reason why it is refused."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape  # a prompt shows "&" as "&amp;", and models copy it
from typing import Any
from uuid import UUID

from apps.pipeline.core.enums import BINDING_TAGS, EntityType, Grounding, MemoryType, Reason, SpeechAct
from apps.pipeline.core.input_validation import cleaned_text
from apps.pipeline.core.placeholders import names_redacted_secret
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.extraction_result import CandidateRefusal
from apps.pipeline.extraction.llm.answer_fields import read_memory
from apps.pipeline.extraction.llm.event_time import moment_of
from apps.pipeline.extraction.llm.evidence import QuotableTurn, Quote, find_quote
from apps.pipeline.extraction.llm.grounding import follows
from apps.pipeline.extraction.llm.origin import settle_origin
from apps.pipeline.extraction.llm.speech_acts import speech_act_of_quote
from apps.pipeline.extraction.plain.table import rule_tags
from apps.pipeline.prompts.extract import ExtractedMemory
from apps.pipeline.prompts.sections import ShownEntity, ShownMemory, ShownTurn
from apps.pipeline.redaction.redact import holds_secret

USER = "User"
LEAST_ADJUSTMENT = -0.2
_SPEAKER = frozenset({"user", "the user", "speaker"})
_ENDS, _CLOSING = (".", "!", "?", "…"), "\"'”’)"
# Identifiers that only prompts assign: e1, ent_…, UUIDs. Names never look like one.
_AN_ID = re.compile(r"(?:e\d+|(?:ent|usr|mem)_\w+|[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12})", re.IGNORECASE)


class UnknownId(ValueError):
    """An answer refers to an entity by an unknown id."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The turns, entities and memories in a prompt; an answer may refer to no others."""

    turns: Sequence[ShownTurn]
    entities: Sequence[ShownEntity]
    memories: Sequence[ShownMemory] = ()
    answered: Mapping[str, Candidate] = field(default_factory=dict)  # a1, a2… of the same answer

    @property
    def sources(self) -> list[SourceTurn]:
        """Return the turns that candidates may be extracted from."""
        return [shown.turn for shown in self.turns if shown.is_new]

    def turn(self, name: str) -> SourceTurn | None:
        """Return a turn by its id in the prompt."""
        return next((shown.turn for shown in self.turns if shown.id == name.strip()), None)

    def memory_ids(self, names: Iterable[str]) -> tuple[UUID, ...]:
        """Return the ids of the named memories that are in the prompt or earlier in the answer.

        A memory that repeats a known one will be merged into it, so the ids of both are returned.
        """
        found: list[UUID | None] = []
        for name in names:
            earlier = self.answered.get(name.strip().lower())
            found += [self.memory_id(name), earlier.same_as if earlier else None]
        return tuple(dict.fromkeys(each for each in found if each is not None))

    def before(self, turn: SourceTurn) -> SourceTurn | None:
        """Return the turn before another one in the prompt, if they are consecutive in the session."""
        return next((each.turn for each in self.turns if each.turn.position == turn.position - 1), None)

    def topic_of(self, turn: SourceTurn) -> str:
        """Return the topic that the caller has given to a turn."""
        return next((each.topic for each in self.turns if each.turn is turn), "")

    def memory_id(self, name: str) -> UUID | None:
        """Return the id of a memory by its id in the prompt, or by its position in the answer."""
        if earlier := self.answered.get(name.strip().lower()):
            return earlier.memory_id
        return next((shown.memory.id for shown in self.memories if shown.id == name.strip().lower()), None)


@dataclass(frozen=True, slots=True)
class Judge:
    """The model that answered, and the limits for its answer."""

    model: str
    policy: ExtractionPolicy
    own_reliability: float | None = None  # of the entry that answered; None is the policy's

    @property
    def reliability(self) -> float:
        """Return the reliability of the model, from 0 to 1."""
        return self.policy.model_reliability if self.own_reliability is None else self.own_reliability


@dataclass(frozen=True, slots=True)
class Proposal:
    """The result of one object of an answer, and its ignored parts."""

    outcome: Candidate | CandidateRefusal
    ignored: tuple[str, ...] = ()


def propose(proposed: Any, *, shown: Shown, judge: Judge) -> Proposal:
    """Convert one object to a candidate with index 0; a refusal names the check that failed.

    The quote decides which turn states it, whatever turns the object names. Raises ValueError for an object without
    type, content or predicate, with text that can't be stored, or with an entity that is not in the prompt.
    """
    answer, unreadable = read_memory(proposed)
    cited = [turn for name in answer.source_turn_ids if (turn := shown.turn(name)) in shown.sources]
    quotable = [QuotableTurn(turn, shown.before(turn)) for turn in (*cited, *shown.sources) if turn]
    quote = find_quote(answer.evidence, turns=quotable)
    turn = quote.turn if quote else quotable[0].turn if cited else shown.sources[-1]
    moments, bad_times = _moments(answer)
    candidate = _candidate(answer, quote=quote, turn=turn, shown=shown, judge=judge).evolve(**moments)
    if quote is not None and not quote.is_whole and candidate.grounding is Grounding.SUPPORTED:
        candidate = candidate.evolve(grounding=Grounding.PARTIAL)
    outcome = _refused(answer, candidate, quote) or settle_origin(
        _judged(candidate, before=shown.before(turn), turn=turn),
        turn=turn,
        turns=shown.turns,
        memories=shown.memories,
        entities=shown.entities,
    )
    return Proposal(outcome, (*unreadable, *bad_times, *_not_shown(answer, shown)))


def _not_shown(answer: ExtractedMemory, shown: Shown) -> tuple[str, ...]:
    """Return the ids of turns and memories in an answer that are not in the prompt."""
    memories = {"replaces": answer.replaces, "same_as": (answer.same_as or "",), "contradicts": answer.contradicts}
    unknown = [
        f"{key}: {name}" for key, names in memories.items() for name in names if name and not shown.memory_id(name)
    ]
    turns = [f"source_turn_ids: {name}" for name in answer.source_turn_ids if shown.turn(name) is None]
    return (*turns, *unknown)


def _refused(answer: ExtractedMemory, candidate: Candidate, quote: Quote | None) -> CandidateRefusal | None:
    """Refuse secrets, discards of the model, and statements without evidence; the refusal doesn't repeat a secret."""
    if gives_away_secret(candidate):
        return secret_refused(candidate)
    if answer.quality_decision == "discard":
        return CandidateRefusal(candidate, Reason.LOW_QUALITY, answer.quality_reason)
    if quote is None or answer.grounding_verdict is Grounding.NOT_SUPPORTED:
        why = "the quote was not said" if quote is None else "the model says so"
        return CandidateRefusal(candidate.evolve(grounding=Grounding.NOT_SUPPORTED), Reason.NOT_SUPPORTED, why)
    return None


def gives_away_secret(candidate: Candidate) -> bool:
    """Return True if a candidate is about a password, key, code or account number, masked or not.

    The quote may contain a masked one next to the candidate's statement.
    """
    statement = "\n".join((candidate.content, candidate.object.text, candidate.subject.text))
    return names_redacted_secret(statement) or holds_secret(f"{statement}\n{candidate.evidence}")


def secret_refused(candidate: Candidate) -> CandidateRefusal:
    """Return the refusal of a candidate that gives a secret away, without its words."""
    wordless = candidate.evolve(
        subject=Mention(text=USER, type=EntityType.PERSON, is_speaker=True),
        predicate="secret",
        object=ObjectValue(),
        content="A secret.",
        evidence="",
        topic="",
        tags=(),
    )
    return CandidateRefusal(wordless, Reason.SECRET, "it holds a password, key, code or account number")


def _judged(candidate: Candidate, *, turn: SourceTurn, before: SourceTurn | None) -> Candidate:
    """Lower speech act and grounding if the words of the turn don't support them.

    A sentence that shares no word with its turn waits for review: even a direct statement has a confidence of 0.46.
    """
    if candidate.speech_act is SpeechAct.ASSERTED:
        meant = speech_act_of_quote(candidate.evidence, text=turn.content)
        candidate = candidate.evolve(speech_act=meant)
    said = (turn.content, *((before.content,) if before else ()))
    if follows(candidate.content, quote=candidate.evidence, said=said, subject=candidate.subject.text):
        return candidate
    return candidate.evolve(grounding=Grounding.PARTIAL, adjustment=LEAST_ADJUSTMENT)


def _candidate(
    answer: ExtractedMemory, *, quote: Quote | None, turn: SourceTurn, shown: Shown, judge: Judge
) -> Candidate:
    content = cleaned_text(" ".join(unescape(answer.content).split()), at="content", most=1_000)
    return Candidate(
        index=0,
        type=answer.type,
        subject=_mention(answer.subject, answer.subject_type, turn=turn, shown=shown),
        predicate=answer.predicate,
        object=_object(answer, turn=turn, shown=shown),
        content=content if content.rstrip(_CLOSING).endswith(_ENDS) else f"{content}.",
        source_turn_ids=(turn.id,),
        evidence=quote.words if quote else answer.evidence.strip(),
        extractor=judge.model[:120],
        reliability=judge.reliability,
        source_confidence=answer.source_confidence,
        grounding=answer.grounding_verdict,
        speech_act=answer.speech_act,
        polarity=answer.polarity,
        stateful=answer.predicate_is_stateful,
        importance=answer.importance,
        topic=shown.topic_of(turn) or answer.topic.strip().lower(),
        tags=_tags(answer),
        adjustment=answer.confidence_adjustment,
        replaces=shown.memory_ids(answer.replaces),
        same_as=shown.memory_id(answer.same_as) if answer.same_as else None,
        contradicts=shown.memory_ids(answer.contradicts),
    )


def _moments(answer: ExtractedMemory) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Parse the times of an answer; return them with the names of invalid ones."""
    read: dict[str, Any] = {}
    ignored: list[str] = []
    told = {"event": answer.event_at, "valid_from": answer.valid_from, "valid_until": answer.valid_until}
    for name, text in told.items():
        at = "event_at" if name == "event" else name
        if not text or not text.strip():
            continue
        try:
            read[at], read[f"{name}_precision"] = moment_of(text)
        except ValueError:
            ignored.append(f"{at}: {text}")
    return read, tuple(ignored)


def speaker_mention(turn: SourceTurn) -> Mention:
    """Return a mention of the speaker of a turn, by their name in the prompt."""
    return Mention(text=" ".join(turn.speaker.split()) or USER, type=EntityType.PERSON, is_speaker=True)


def _mention(text: str, kind: EntityType | None, *, turn: SourceTurn, shown: Shown) -> Mention:
    if text.strip().lower() in _SPEAKER:
        return speaker_mention(turn)
    known = next((each.entity for each in shown.entities if each.id == text.strip()), None)
    if known is not None:
        return Mention(text=known.name, type=known.type, entity_id=known.id)
    if _AN_ID.fullmatch(text.strip()):
        raise UnknownId(text.strip()[:60])
    return Mention(text=cleaned_text(" ".join(unescape(text).split()), at="subject", most=200), type=kind)


def _object(answer: ExtractedMemory, *, turn: SourceTurn, shown: Shown) -> ObjectValue:
    value = answer.object
    if value is None:
        return ObjectValue()
    if value.entity is not None:
        return ObjectValue(entity=_mention(value.entity, value.entity_type, turn=turn, shown=shown))
    if value.list:
        return ObjectValue(items=tuple(unescape(each).strip() for each in value.list if each.strip()))
    return ObjectValue(literal=unescape(value.literal or "").strip() or None)


def _tags(answer: ExtractedMemory) -> tuple[str, ...]:
    """Return the model's tags and those of a rule by its words; only a wish to the assistant binds agents."""
    ruled = rule_tags(answer.evidence) if answer.type is MemoryType.PREFERENCE else ()
    given = dict.fromkeys((*(tag.strip().lower() for tag in answer.tags), *ruled))
    is_wish = "assistant" in f"{answer.predicate} {answer.content}".lower() or bool(ruled)
    return tuple(tag for tag in given if tag and (is_wish or tag not in BINDING_TAGS))
