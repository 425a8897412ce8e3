"""Conversion of an object of an answer to a candidate, or to the reason why it is refused."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any
from uuid import UUID

from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import BINDING_TAGS, EntityType, Grounding, MemoryType, Precision, Reason, SpeechAct
from apps.pipeline.core.input_validation import checked_moment, cleaned_text
from apps.pipeline.core.placeholders import names_redacted_secret
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.predicates import HEALTH_PREDICATES, canonical_predicate
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue, StoredMemory
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.llm.evidence import Quote, before, find_quote, follows, speech_act_of_quote
from apps.pipeline.extraction.llm.origin import settle_origin
from apps.pipeline.extraction.plain.table import rule_tags
from apps.pipeline.extraction.windows import CandidateRefusal
from apps.pipeline.prompts.extracted_memory import ExtractedMemory, read_memory
from apps.pipeline.prompts.sections import ShownTurn
from apps.pipeline.redaction.redact import holds_secret
from apps.pipeline.resolution.dates import date_with_year

USER = "User"
LEAST_ADJUSTMENT = -0.2
_SPEAKER = frozenset({"user", "the user", "speaker"})
_ENDS, _CLOSING = (".", "!", "?", "…"), "\"'”’)"
# Identifiers that only prompts assign: e1, ent_…, UUIDs. Names never look like one.
_AN_ID = re.compile(r"(?:e\d+|(?:ent|usr|mem)_\w+|[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12})", re.IGNORECASE)
_WITHIN_NAMES = frozenset({"&", "and", "of"})
_CLAUSE_END = re.compile(r"[,.;:!?(]")
# Topics that an answer leaves out because the predicate tells them.
_TOPICS = {**dict.fromkeys(HEALTH_PREDICATES, "health"), "works_at": "work", "works_as": "work", "diet": "food"}
# Slots whose value is an entity however it is written; the other side of a relation is one as well.
_ENTITY_OF_SLOT = {"lives_in": EntityType.PLACE, "stays_in": EntityType.PLACE, "works_at": EntityType.ORGANISATION}
# Times in answers.
_SHAPES: tuple[tuple[re.Pattern[str], str, Precision], ...] = (
    (re.compile(r"\d{4}"), "%Y", Precision.YEAR),
    (re.compile(r"\d{4}-\d{2}"), "%Y-%m", Precision.MONTH),
    (re.compile(r"\d{4}-\d{2}-\d{2}"), "%Y-%m-%d", Precision.DAY),
)
_WEEK = re.compile(r"\d{4}-?W\d{2}", re.IGNORECASE)
_YEAR = re.compile(r"\D*\b((?:19|20)\d\d)\D*")  # "late 2026", "summer 2026"


@dataclass(frozen=True, slots=True)
class Shown:
    """The turns, entities and memories in a prompt; an answer may refer to no others."""

    turns: Sequence[ShownTurn]
    entities: Mapping[str, KnownEntity]  # by their ids in the prompt, as the memories
    memories: Mapping[str, StoredMemory] = field(default_factory=dict)
    answered: Mapping[str, Candidate] = field(default_factory=dict)  # a1, a2… of the same answer

    @property
    def words(self) -> str:
        """Return the sentences and names of what is known."""
        contents = (each.content for each in self.memories.values())
        return " ".join((*contents, *(each.name for each in self.entities.values())))

    def memory_id(self, name: str) -> UUID | None:
        """Return the id of a memory by its id in the prompt, or by its position in the answer."""
        name = name.strip().lower()
        if earlier := self.answered.get(name):
            return earlier.memory_id
        return self.memories[name].id if name in self.memories else None

    def memory_ids(self, names: Iterable[str]) -> tuple[UUID, ...]:
        """Return the ids of the named memories that are in the prompt or earlier in the answer.

        A memory that repeats a known one will be merged into it, so the ids of both are returned.
        """
        found: list[UUID | None] = []
        for name in names:
            earlier = self.answered.get(name.strip().lower())
            found += [self.memory_id(name), earlier.same_as if earlier else None]
        return tuple(dict.fromkeys(each for each in found if each is not None))


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

    The quote decides which turn states it. Raises ValueError for an object without content, with text that can't be
    stored, or whose subject is an unknown id and unnamed.
    """
    answer, unreadable = read_memory(proposed)
    quote = find_quote(answer.evidence, turns=shown.turns)
    turn = quote.turn if quote else [each.turn for each in shown.turns if each.is_new][-1]
    candidate, ignored = _candidate(answer, quote=quote, turn=turn, shown=shown, judge=judge)
    outcome: Candidate | CandidateRefusal
    statement = "\n".join((candidate.content, candidate.object.text, candidate.subject.text))
    # The quote may contain a masked secret next to the candidate's statement.
    if names_redacted_secret(statement) or holds_secret(f"{statement}\n{candidate.evidence}"):
        wordless = candidate.evolve(  # a refusal doesn't repeat the secret
            subject=Mention(text=USER, type=EntityType.PERSON, is_speaker=True),
            predicate="secret",
            object=ObjectValue(),
            content="A secret.",
            evidence="",
            topic="",
            tags=(),
        )
        outcome = CandidateRefusal(wordless, Reason.SECRET, "it holds a password, key, code or account number")
    elif quote is None:
        unfounded = candidate.evolve(grounding=Grounding.NOT_SUPPORTED)
        outcome = CandidateRefusal(unfounded, Reason.NOT_SUPPORTED, "the quote was not said")
    else:
        # Speech act and grounding are lowered if the words of the turn don't support them. A sentence that shares no
        # word with its turn waits for review: even a direct statement has a confidence of 0.46.
        if candidate.speech_act is SpeechAct.ASSERTED:
            meant = speech_act_of_quote(candidate.evidence, text=turn.content)
            candidate = candidate.evolve(speech_act=meant)
        last = before(turn, shown.turns)
        said = (turn.content, last.content) if last else (turn.content,)
        if not follows(candidate.content, quote=candidate.evidence, said=said, subject=candidate.subject.text):
            candidate = candidate.evolve(grounding=Grounding.PARTIAL, adjustment=LEAST_ADJUSTMENT)
        outcome = settle_origin(candidate, turn=turn, turns=shown.turns, known=shown.words)
    return Proposal(outcome, (*unreadable, *ignored))


def _candidate(
    answer: ExtractedMemory, *, quote: Quote | None, turn: SourceTurn, shown: Shown, judge: Judge
) -> tuple[Candidate, list[str]]:
    """Return the candidate of an answer, with its invalid times and the unknown ids in it."""
    content = cleaned_text(" ".join(answer.content.split()), at="content", most=1_000)
    related = {"replaces": answer.replaces, "same_as": (answer.same_as,), "contradicts": answer.contradicts}
    ignored = [f"{key}: {each}" for key, ids in related.items() for each in ids if each and not shown.memory_id(each)]
    moments: dict[str, Any] = {}
    for name, key in (("event_at", "event"), ("valid_from", "valid_from"), ("valid_until", "valid_until")):
        text = getattr(answer, name) or ""
        try:
            moments |= dict(zip((name, f"{key}_precision"), moment_of(text), strict=True)) if text.strip() else {}
        except ValueError:
            ignored.append(f"{name}: {text}")
    # The model's tags and those of a rule by its words; only a wish to the assistant binds agents.
    ruled = rule_tags(answer.evidence) if answer.type is MemoryType.PREFERENCE else ()
    tags = dict.fromkeys((*(tag.strip().lower() for tag in answer.tags), *ruled))
    is_wish = "assistant" in f"{answer.predicate} {answer.content}".lower() or bool(ruled)
    topic = next((each.topic for each in shown.turns if each.turn is turn), "")
    candidate = Candidate(
        index=0,
        type=answer.type,
        subject=_subject(answer, content, turn=turn, shown=shown),
        predicate=answer.predicate,
        object=_value(answer, turn=turn, shown=shown),
        content=content if content.rstrip(_CLOSING).endswith(_ENDS) else f"{content}.",
        source_turn_ids=(turn.id,),
        evidence=quote.words if quote else answer.evidence.strip(),
        extractor=judge.model[:120],
        reliability=judge.reliability,
        source_confidence=answer.source_confidence,
        grounding=Grounding.SUPPORTED if quote is None or quote.is_whole else Grounding.PARTIAL,
        speech_act=answer.speech_act,
        polarity=answer.polarity,
        stateful=answer.is_slot,
        importance=answer.importance,
        topic=topic or answer.topic.strip().lower() or _TOPICS.get(answer.predicate, ""),
        tags=tuple(tag for tag in tags if tag and (is_wish or tag not in BINDING_TAGS)),
        replaces=shown.memory_ids(answer.replaces),
        same_as=shown.memory_id(answer.same_as),
        contradicts=shown.memory_ids(answer.contradicts),
        **moments,
    )
    return candidate, ignored


def _subject(answer: ExtractedMemory, content: str, *, turn: SourceTurn, shown: Shown) -> Mention:
    """Return whom a statement is about; the first name in its sentence where the id is not in the prompt."""
    text = answer.subject
    if _AN_ID.fullmatch(text.strip()) and text.strip() not in shown.entities:
        name = _leading_name(content)
        if not name or name.endswith(("'s", "’s")):
            raise ValueError(f"unknown id: {text.strip()[:60]}")
        text = name
    return _mention(text, answer.subject_type, turn=turn, shown=shown)


def _leading_name(text: str) -> str:
    """Return the words with a capital at the beginning of a text: "Saffron & Sage" of "Saffron & Sage cook."."""
    words = _CLAUSE_END.split(text, maxsplit=1)[0].split()
    return " ".join(takewhile(lambda word: word[0].isupper() or word in _WITHIN_NAMES, words))


def _mention(text: str, kind: EntityType | None, *, turn: SourceTurn, shown: Shown) -> Mention:
    name = cleaned_text(" ".join(text.split()), at="name", most=1_000)[:200]
    speaker = " ".join(turn.speaker.split()) or USER
    if name.lower() in _SPEAKER or name == speaker:
        return Mention(text=speaker, type=EntityType.PERSON, is_speaker=True)
    known = shown.entities.get(name)
    return Mention(text=known.name, type=known.type, entity_id=known.id) if known else Mention(text=name, type=kind)


def _value(answer: ExtractedMemory, *, turn: SourceTurn, shown: Shown) -> ObjectValue:
    """Return the value of a slot, or the other side of a relation; a name is an entity, an unknown id is nothing."""
    value = answer.value.strip()
    if value in shown.entities or value.lower() in _SPEAKER:
        return ObjectValue(entity=_mention(value, None, turn=turn, shown=shown))
    if not answer.predicate or not value or _AN_ID.fullmatch(value):
        return ObjectValue()
    kind = answer.value_type or _ENTITY_OF_SLOT.get(canonical_predicate(answer.predicate, more={}))
    is_name = _leading_name(value) == value and "name" not in answer.predicate
    if kind or is_name or answer.value_names_entity or answer.type is MemoryType.RELATION:
        return ObjectValue(entity=_mention(value, kind, turn=turn, shown=shown))
    return ObjectValue(literal=value)


def moment_of(text: str) -> tuple[datetime, Precision]:
    """Parse a year, month, day or ISO 8601 time, or an English date with a year, in UTC.

    Raises ValueError for anything else, and for implausible years.
    """
    text = text.strip()
    in_words = None if ":" in text or text[:4].isdigit() else date_with_year(text)
    if in_words is not None:
        return _checked(in_words.moment), in_words.precision
    if year := _YEAR.fullmatch(text):
        text = year[1]
    for shape, form, precision in _SHAPES:
        if shape.fullmatch(text):
            return _checked(datetime.strptime(text, form).replace(tzinfo=UTC)), precision
    precision = Precision.WEEK if _WEEK.fullmatch(text) else Precision.INSTANT
    return _checked(datetime.fromisoformat(text)), precision


def _checked(moment: datetime) -> datetime:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        checked = checked_moment(aware, at="event_at")
    except OverflowError as error:  # an offset beyond the range of dates
        raise ValueError(str(error)) from error
    return checked or aware
