"""Objects of an answer: which become candidates, which are refused with a reason, and which are invalid."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import (
    EntityType,
    Grounding,
    MemoryType,
    Polarity,
    Precision,
    Reason,
    Role,
    SourceConfidence,
    SpeechAct,
)
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue
from apps.pipeline.extraction.llm.candidates import Judge, Shown, propose
from apps.pipeline.extraction.windows import CandidateRefusal
from apps.pipeline.prompts.sections import ShownTurn, numbered
from tests.pipeline.answers import memory
from tests.pipeline.builders import candidate, known, turn

ASKED = turn("Do you live in Rome?", position=0, role=Role.ASSISTANT)
TOLD = turn("I live in “Porto” now, since ＭＡＹ.  My sister’s dog & <I> get along.", position=1, speaker="Oda")
LATER = turn("What if I were a baker? I never eat meat.", position=2, speaker="Oda")
OLD = turn("I used to live in Rome.", position=3)
NOOR = KnownEntity(id=UUID(int=7), name="Noor", type=EntityType.PERSON)
SHOWN = Shown(
    turns=[ShownTurn("t1", ASKED, False), ShownTurn("t2", TOLD), ShownTurn("t3", LATER), ShownTurn("t4", OLD, False)],
    entities={"e1": NOOR},
    memories=numbered(
        "m",
        (
            known(candidate(text, source=TOLD), memory_id=UUID(int=number), source=TOLD)
            for number, text in enumerate(("Oda lives in Rome.", "Oda has a dog.", "Oda eats meat."), start=91)
        ),
    ),
)
JUDGE = Judge(model="scripted", policy=ExtractionPolicy())


def proposed(**changes: Any) -> Candidate | CandidateRefusal:
    given = memory("Oda lives in Porto.", evidence="I live in", turn="t2", predicate="lives_in")
    return propose({**given, **changes}, shown=SHOWN, judge=JUDGE).outcome


def taken(**changes: Any) -> Candidate:
    found = proposed(**changes)
    assert isinstance(found, Candidate)
    return found


@pytest.mark.parametrize("quote", ["", " ", "I", "…", "I live in Rome", "live in Rome?", "I used to live in Rome"])
def test_what_nobody_trusted_has_said_in_a_new_turn_is_not_supported(quote: str) -> None:
    found = proposed(evidence=quote)
    assert isinstance(found, CandidateRefusal)
    assert (found.reason, found.candidate.grounding) == (Reason.NOT_SUPPORTED, Grounding.NOT_SUPPORTED)


def test_the_quote_decides_which_turn_says_it() -> None:
    assert taken(evidence="I never eat meat", source_turn_ids=["t2"]).source_turn_ids == (LATER.id,)
    assert taken(source_turn_ids=[]).source_turn_ids == (TOLD.id,)


@pytest.mark.parametrize(
    "broken",
    [
        {"content": ""},
        {"content": "x" * 1_001},
        {"content": 5},
        {"content": "User \x00 lives."},
        {"content": "User \ud800 lives."},
        {"content": "she lives in Porto.", "subject": "e9"},
    ],
)
def test_bad_content_or_an_unnamed_subject_spoils_its_object(broken: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (which one it is says the message, for the span)
        proposed(**broken)


@pytest.mark.parametrize(
    ("answered", "field", "taken_as"),
    [
        ({"type": "Fact"}, "type", MemoryType.FACT),
        ({"type": "decision"}, "type", MemoryType.EVENT),
        ({"type": "procedural"}, "tags", ("procedure",)),
        ({"predicate": "livesIn"}, "predicate", "lives_in"),
        ({"predicate": "p" * 65}, "predicate", "p" * 64),
        ({"subject": None}, "subject", Mention("Oda", EntityType.PERSON, is_speaker=True)),
        ({"subject": "Arrive", "subject_type": "organization"}, "subject", Mention("Arrive", EntityType.ORGANISATION)),
        ({"value": "Porto"}, "object", ObjectValue(entity=Mention("Porto", EntityType.PLACE))),
        ({"predicate": "age", "object": 41}, "object", ObjectValue(literal="41")),
        ({"predicate": "likes", "object": ["tea", "jam"]}, "object", ObjectValue(literal="tea, jam")),
        ({"object": {"entity": "Porto", "entity_type": "City"}}, "object",
         ObjectValue(entity=Mention("Porto", EntityType.PLACE))),
        ({"value": "x" * 1_001}, "object", ObjectValue()),
        ({"predicate": "says", "value": "Porto", "predicate_is_stateful": None}, "stateful", True),
        ({"type": "relation", "value": "Porto", "predicate_is_stateful": None}, "stateful", False),
        ({"importance": 85}, "importance", 0.85),
        ({"importance": "high"}, "importance", 0.5),
        ({"importance": float("inf")}, "importance", 0.5),
        ({"speech_act": "Role-play"}, "speech_act", SpeechAct.ROLEPLAY),
        ({"speech_act": "ironic"}, "speech_act", SpeechAct.HYPOTHETICAL),
        ({"source_confidence": "Confirmed"}, "source_confidence", SourceConfidence.CONFIRMED),
        ({"source_confidence": "so so"}, "source_confidence", SourceConfidence.INFERRED),
        ({"polarity": "Negative"}, "polarity", Polarity.NEGATIVE),
        ({"predicate_is_stateful": "yes"}, "stateful", True),
        ({"event_at": "late 2026"}, "event_precision", Precision.YEAR),
        ({"event_at": "2026-W12"}, "event_precision", Precision.WEEK),
        ({"event_at": "yesterday"}, "event_at", None),
        ({"event_at": "2024-02-30"}, "event_at", None),
        ({"event_at": "0001-01-01T00:00:00+14:00"}, "event_at", None),
        ({"valid_from": "soon"}, "valid_from", None),
        ({"source_turn_ids": "t2"}, "source_turn_ids", (TOLD.id,)),
        ({"source_turn_ids": ["t9"]}, "source_turn_ids", (TOLD.id,)),
        ({"tags": "Travel, Home"}, "tags", ("travel", "home")),
        ({"tags": ["x" * 65]}, "tags", ()),
        ({"topic": ["home"]}, "topic", "home"),
        ({"type": None}, "type", MemoryType.FACT),
        ({"type": None, "event_at": "2024"}, "type", MemoryType.EVENT),
        ({"predicate": "—"}, "predicate", ""),
        ({"predicate": "allergic_to"}, "topic", "health"),
        ({"replaces": "m1, m2"}, "replaces", (UUID(int=91), UUID(int=92))),
        ({"same_as": ["m3"]}, "same_as", UUID(int=93)),
        ({"evidence": ["I live in", "since May"]}, "evidence", "I live in … since May"),
    ],
)  # fmt: skip
def test_an_optional_field_never_costs_its_memory(answered: dict[str, Any], field: str, taken_as: Any) -> None:
    assert getattr(taken(**answered), field) == taken_as


@pytest.mark.parametrize(
    ("answered", "named"),
    [
        ({"event_at": "soon"}, "event_at: soon"),
        ({"polarity": 5}, "polarity: Input should be 'positive' or 'negative'"),
        ({"replaces": ["m" * 17]}, "replaces: String should have at most 16 characters"),
        ({"importance": float("inf")}, "importance: must be a finite number"),
    ],
)
def test_what_is_ignored_is_named(answered: dict[str, Any], named: str) -> None:
    given = memory("Oda lives in Porto.", evidence="I live in", turn="t2", predicate="lives_in")
    assert propose({**given, **answered}, shown=SHOWN, judge=JUDGE).ignored == (named,)


@pytest.mark.parametrize("subject", ["e9", "ent_0192aa", "0192f0c1-8f3e-7c3a-9b1e-2f6d0c9a1b2c"])
def test_the_name_in_the_sentence_stands_for_an_unknown_id(subject: str) -> None:
    assert taken(subject=subject).subject.is_speaker
    named = taken(content="Lio Marin lives in Porto.", subject=subject).subject
    assert (named.text, named.entity_id) == ("Lio Marin", None)


@pytest.mark.parametrize("thing", [None, 1, "x", [], {}, {"type": "fact"}, {"memories": []}])
def test_what_is_no_memory_at_all(thing: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        propose(thing, shown=SHOWN, judge=JUDGE)


def test_whom_it_is_about() -> None:
    assert taken().subject.is_speaker
    assert (taken().subject.text, taken(subject="e1").subject.entity_id) == ("Oda", NOOR.id)
    named = taken(subject="Lio", subject_type="person").subject
    assert (named.text, named.type, named.entity_id) == ("Lio", EntityType.PERSON, None)
    assert taken(object={"entity": "e1"}).object.text == "Noor"
    assert taken(object={"entity": "user"}).object.text == "Oda"
    assert taken(value=["Java", "React"], predicate="knows").object.literal == "Java, React"


@pytest.mark.parametrize(
    ("told", "day", "precision"),
    [
        ("2019", "2019-01-01", Precision.YEAR),
        ("2024-02", "2024-02-01", Precision.MONTH),
        ("2024-06-11", "2024-06-11", Precision.DAY),
        ("2024-06-11T23:30:00-02:00", "2024-06-12", Precision.INSTANT),
    ],
)
def test_when_it_happened_is_as_exact_as_it_was_told(told: str, day: str, precision: Precision) -> None:
    found = taken(type="event", event_at=told)
    assert found.event_at is not None
    assert (found.event_at.date().isoformat(), found.event_precision) == (day, precision)


def test_memories_that_were_not_shown_are_ignored_and_named() -> None:
    given = memory("Oda lives in Porto.", evidence="I live in", turn="t2", predicate="lives_in")
    named = {"replaces": ["m9", "m1"], "same_as": "m4", "contradicts": ["t1"]}
    found = propose({**given, **named}, shown=SHOWN, judge=JUDGE)
    assert isinstance(found.outcome, Candidate)
    assert (found.outcome.replaces, found.outcome.same_as, found.outcome.contradicts) == ((UUID(int=91),), None, ())
    assert found.ignored == ("replaces: m9", "same_as: m4", "contradicts: t1")


def test_it_may_say_from_when_and_until_when_it_holds() -> None:
    found = taken(valid_from="2026-10-30", valid_until="2027-02")
    assert (found.valid_from, found.valid_from_precision) == (datetime(2026, 10, 30, tzinfo=UTC), Precision.DAY)
    assert (found.valid_until, found.valid_until_precision) == (datetime(2027, 2, 1, tzinfo=UTC), Precision.MONTH)
    assert (taken().valid_from, taken().valid_until) == (None, None)


@pytest.mark.parametrize("said", ["asserted", "hypothetical"])
def test_what_a_rule_reads_as_imagined_is_not_asserted(said: str) -> None:
    found = taken(content="Oda is a baker.", evidence="I were a baker", speech_act=said)
    assert found.speech_act is SpeechAct.HYPOTHETICAL


def test_a_standing_rule_has_its_tag_by_its_words() -> None:
    source = turn("Always answer in metric units.")
    shown = Shown(turns=[ShownTurn("t1", source)], entities={})
    wish = memory(
        "User wants metric units.", evidence="Always answer in metric units", type="preference", tags=["Tech"]
    )
    found = propose(wish, shown=shown, judge=JUDGE).outcome
    assert isinstance(found, Candidate)
    assert found.tags[:2] == ("tech", "convention")


@pytest.mark.parametrize(
    ("content", "kept"),
    [("Oda lives.", "Oda lives."), ("Oda\n lives", "Oda lives."), ('Oda says "x."', 'Oda says "x."')],
)
def test_contents_are_one_line_with_an_end(content: str, kept: str) -> None:
    assert taken(content=content).content == kept


def test_the_escaping_of_a_prompt_never_becomes_a_memory() -> None:
    said = turn("I work at AT&T's R&D lab.", position=1, speaker="Oda")
    answer = memory(
        "Oda works at AT&amp;T&#x27;s R&amp;D lab.",
        evidence="I work at AT&amp;T's R&amp;D lab",
        turn="t1",
        predicate="works_at",
        value="AT&amp;T",
    )
    given = {**answer, "topic": "r&amp;d", "tags": ["r&amp;d"]}
    found = propose(given, shown=Shown(turns=[ShownTurn("t1", said)], entities={}, memories={}), judge=JUDGE).outcome
    assert isinstance(found, Candidate)
    assert (found.content, found.evidence) == ("Oda works at AT&T's R&D lab.", "I work at AT&T's R&D lab")
    assert (found.object.text, found.topic, found.tags, found.grounding) == (
        "AT&T", "r&d", ("r&d",), Grounding.SUPPORTED
    )  # fmt: skip


def test_what_a_user_wrote_escaped_is_quoted_as_it_is() -> None:
    said = turn("I write &amp; for an ampersand.", position=1)
    given = memory("User writes &amp;amp; for an ampersand.", evidence="I write &amp; for an ampersand", turn="t1")
    found = propose(given, shown=Shown(turns=[ShownTurn("t1", said)], entities={}, memories={}), judge=JUDGE).outcome
    assert isinstance(found, Candidate)
    assert found.content == "User writes &amp; for an ampersand."
