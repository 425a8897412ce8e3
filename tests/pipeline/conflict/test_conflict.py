"""conflict: newer values close older ones, but not with weaker evidence; contradictions are linked."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from apps.pipeline.conflict import conflict
from apps.pipeline.core.draft import Draft, Ruling
from apps.pipeline.core.enums import MemoryType, Polarity, Reason, Role, SourceConfidence, SpeechAct, Status
from apps.pipeline.core.statement import Candidate, Mention, StoredMemory
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.lexicon.antonym_predicates import same_axis
from tests.pipeline.builders import candidate, draft_of, known, resolved, turn

ANA, LENA = UUID(int=50), UUID(int=51)
THEN, NOW, LATER = turn("then", position=0, day=0), turn("now", position=1, day=10), turn("later", position=2, day=20)
TURNS = (THEN, NOW, LATER)


def home(city: str, *, source: SourceTurn = NOW, **changes: object) -> Candidate:
    given = {"predicate": "lives_in", "value": city, "stateful": True, **changes}
    return resolved(candidate(f"Ana lives in {city}.", source=source, **given), subject_id=ANA)


def taste(predicate: str, thing: str, *, source: SourceTurn = NOW, **changes: object) -> Candidate:
    given = {"predicate": predicate, "value": thing, "type": MemoryType.PREFERENCE, **changes}
    return resolved(candidate(f"Ana {predicate} {thing}.", source=source, **given), subject_id=ANA)


def held(each: Candidate, *, number: int = 90, source: SourceTurn = THEN, **changes: object) -> StoredMemory:
    told = each.evolve(source_turn_ids=(source.id,))
    return known(told, memory_id=UUID(int=number), source=source, **changes)


def decide(candidates: Sequence[Candidate], *, holders: Sequence[StoredMemory] = (), **rulings: object) -> Draft:
    draft = draft_of(candidates, turns=TURNS)
    made = tuple(
        Ruling(candidate=each, memory_id=UUID(int=500 + each.index), rule="new", **rulings) for each in draft.candidates
    )
    return conflict.decide(draft.evolve(rulings=made), holders=holders)


def only(draft: Draft) -> Ruling:
    (ruling,) = draft.rulings
    return ruling


BERLIN = held(home("Berlin"))


def test_a_newer_value_closes_the_older_one() -> None:
    ruling = only(decide([home("Munich")], holders=[BERLIN]))
    assert (ruling.supersedes, ruling.rule, ruling.needs_review) == ((BERLIN,), "supersedes", False)


@pytest.mark.parametrize(
    ("then", "now", "supersedes"),
    [
        ("Ana works at Acme 3 days a week.", "Ana works at Acme 5 days a week.", True),
        ("Ana works at Acme 3 days a week.", "Ana works at Acme.", False),
    ],
)
def test_one_value_told_in_words_that_exclude_each_other_is_two(then: str, now: str, supersedes: bool) -> None:
    job = home("Acme", predicate="works_at")
    holder = held(job.evolve(content=then))
    ruling = only(decide([job.evolve(content=now)], holders=[holder]))
    assert ruling.supersedes == ((holder,) if supersedes else ())


def test_a_late_arrival_is_history_that_ends_where_its_heir_began() -> None:
    munich = held(home("Munich"), source=LATER)
    ruling = only(decide([home("Berlin")], holders=[munich]))
    assert (ruling.supersedes, ruling.superseded_by, ruling.rule) == ((), munich, "late_arrival")


def test_a_late_arrival_between_two_tellings_of_its_heir_ends_with_the_second() -> None:
    munich = replace(held(home("Munich"), source=LATER), valid_from=THEN.said_at)
    successor = only(decide([home("Berlin")], holders=[munich])).superseded_by
    assert successor is not None
    assert successor.valid_from == LATER.said_at


@pytest.mark.parametrize(
    ("changes", "holder", "reason"),
    [
        ({"source_confidence": SourceConfidence.INFERRED, "reliability": 0.6}, BERLIN, Reason.WEAKER_EVIDENCE),
        ({"source_confidence": SourceConfidence.SPECULATED}, BERLIN, Reason.LOW_CONFIDENCE),
        ({"speech_act": SpeechAct.HYPOTHETICAL}, BERLIN, Reason.NOT_ASSERTED),
        ({"speech_act": SpeechAct.SARCASM}, None, Reason.NOT_ASSERTED),
    ],
)
def test_weaker_evidence_replaces_nothing(
    changes: dict[str, object], holder: StoredMemory | None, reason: Reason
) -> None:
    ruling = only(decide([home("Munich", **changes)], holders=[holder] if holder else []))
    assert (ruling.supersedes, ruling.review_reasons) == ((), (reason,))


def test_a_less_trusted_role_replaces_nothing() -> None:
    said = turn("Ana lives in Munich.", position=3, day=10, role=Role.ASSISTANT)
    draft = draft_of([home("Munich", source=said)], turns=[*TURNS, said])
    made = (Ruling(candidate=draft.candidates[0], memory_id=UUID(int=500)),)
    ruling = only(conflict.decide(draft.evolve(rulings=made), holders=[BERLIN]))
    assert (ruling.supersedes, ruling.review_reasons) == ((), (Reason.LESS_TRUSTED,))


def test_a_slightly_less_sure_value_still_replaces() -> None:
    ruling = only(decide([home("Munich")], holders=[replace(BERLIN, confidence=0.9)]))
    assert ruling.supersedes != ()


def test_what_nobody_has_reviewed_blocks_nothing() -> None:
    doubtful = replace(held(home("Oslo"), number=91, source=LATER), status=Status.PENDING_REVIEW, confidence=0.99)
    ruling = only(decide([home("Munich")], holders=[BERLIN, doubtful]))
    assert (ruling.supersedes, ruling.superseded_by, ruling.review_reasons) == ((BERLIN,), None, ())


@pytest.mark.parametrize(
    ("told", "holder", "supersedes", "contradicts"),
    [
        (home("Berlin", polarity=Polarity.NEGATIVE), BERLIN, True, False),
        (home("Munich", polarity=Polarity.NEGATIVE), BERLIN, False, False),
        (home("Berlin"), held(home("Berlin", polarity=Polarity.NEGATIVE)), True, False),
        (home("Munich", stateful=False), BERLIN, False, False),
        (home("Munich", evidence="I also live in Munich."), BERLIN, False, False),
        (taste("likes", "tea", polarity=Polarity.NEGATIVE), held(taste("likes", "tea")), False, True),
        (taste("hates", "Tea"), held(taste("loves", "tea")), False, True),
        (taste("hates", "tea", polarity=Polarity.NEGATIVE), held(taste("loves", "tea")), False, False),
        (taste("loves", "tea"), held(taste("likes", "tea")), False, False),
        (taste("hates", "milk"), held(taste("loves", "tea")), False, False),
        (
            taste("eats", "meat", polarity=Polarity.NEGATIVE, evidence="I no longer eat meat."),
            held(taste("eats", "meat")), True, False,
        ),
        (taste("visited", "Rome", type=MemoryType.EVENT), held(taste("visited", "Oslo")), False, False),
        (
            taste("visited", "Rome", type=MemoryType.EVENT, stateful=True),
            held(taste("visited", "Oslo", type=MemoryType.EVENT, stateful=True)), False, False,
        ),
        (home("Munich"), replace(BERLIN, subject=Mention("", entity_id=LENA)), False, False),
    ],
)  # fmt: skip
def test_what_becomes_of_a_pair(told: Candidate, holder: StoredMemory, supersedes: bool, contradicts: bool) -> None:
    ruling = only(decide([told], holders=[holder]))
    assert ruling.supersedes == ((holder,) if supersedes else ())
    assert ruling.contradicts == ((holder,) if contradicts else ())
    assert (Reason.CONTRADICTION in ruling.flags) is contradicts
    assert not ruling.needs_review


@pytest.mark.parametrize("polarity", list(Polarity))
@pytest.mark.parametrize("stateful", [True, False])
def test_events_meet_without_conflict(polarity: Polarity, stateful: bool) -> None:
    event = taste("visited", "Rome", type=MemoryType.EVENT, stateful=stateful)
    ruling = only(decide([event.evolve(polarity=polarity)], holders=[held(event)]))
    assert (ruling.supersedes, ruling.contradicts, ruling.superseded_by) == ((), (), None)


def test_two_moves_in_one_request_follow_the_order_of_saying() -> None:
    later_first = [home("Munich", source=LATER), home("Hamburg", source=NOW)]
    draft = decide(later_first, holders=[BERLIN])
    closed = {
        ruling.candidate.object.text: [each.object_text for each in ruling.supersedes] for ruling in draft.rulings
    }
    assert closed == {"Hamburg": ["Berlin"], "Munich": ["Hamburg"]}
    assert [ruling.candidate.object.text for ruling in draft.rulings] == ["Hamburg", "Munich"]


def test_a_move_after_a_merge_closes_what_was_merged_into() -> None:
    draft = draft_of([home("Berlin"), home("Munich", source=LATER)], turns=TURNS)
    merged = Ruling(candidate=draft.candidates[0], memory_id=BERLIN.id, merge_into=BERLIN)
    fresh = Ruling(candidate=draft.candidates[1], memory_id=UUID(int=501))
    settled = conflict.decide(draft.evolve(rulings=(merged, fresh)), holders=[BERLIN])
    assert [each.id for each in settled.rulings[1].supersedes] == [BERLIN.id]
    assert settled.rulings[1].supersedes[0].version == BERLIN.version


def test_a_statement_said_between_a_merge_and_its_first_telling_is_late() -> None:
    draft = draft_of([home("Berlin", source=LATER), home("Munich", source=NOW)], turns=TURNS)
    merged = Ruling(candidate=draft.candidates[0], memory_id=BERLIN.id, merge_into=BERLIN)
    fresh = Ruling(candidate=draft.candidates[1], memory_id=UUID(int=501))
    settled = conflict.decide(draft.evolve(rulings=(merged, fresh)), holders=[BERLIN])
    assert {ruling.rule for ruling in settled.rulings if ruling.merge_into is None} == {"late_arrival"}


def test_no_question_is_asked_about_what_is_closed_anyway() -> None:
    ruling = only(
        decide([home("Munich")], holders=[BERLIN], possible_duplicates=(BERLIN,), flags=(Reason.UNSURE_DUPLICATE,))
    )
    assert (ruling.possible_duplicates, ruling.flags) == ((), ())


def test_an_axis_holds_both_of_its_sides() -> None:
    assert {"likes", "hates"} <= same_axis("loves")
    assert same_axis("lives_in") == {"lives_in"}
