"""The confidence formula: every row of its tables."""

import pytest

from apps.pipeline.core.confidence import Confidence, confidence_of, with_recurrence, with_value
from apps.pipeline.core.enums import Grounding, MemoryType, SourceConfidence, SpeechAct
from apps.pipeline.core.policy import ConfidencePolicy, Policy
from apps.pipeline.core.statement import Statement

POLICY = Policy()
MODEL = POLICY.extraction.model_reliability


def score(
    source: SourceConfidence = SourceConfidence.DIRECT,
    *,
    reliability: float = MODEL,
    origins: int = 1,
    grounding: Grounding = Grounding.SUPPORTED,
    adjustment: float = 0.0,
    speech_act: SpeechAct = SpeechAct.ASSERTED,
    policy: ConfidencePolicy = POLICY.confidence,
) -> Confidence:
    statement = Statement(
        type=MemoryType.FACT,
        content="Ana is tall.",
        source_confidence=source,
        reliability=reliability,
        grounding=grounding,
        adjustment=adjustment,
        speech_act=speech_act,
    )
    return confidence_of(statement, policy=policy, origins=origins)


@pytest.mark.parametrize(
    ("source", "strength"),
    [
        (SourceConfidence.DIRECT, 1.0),
        (SourceConfidence.CONFIRMED, 1.0),
        (SourceConfidence.INFERRED, 0.75),
        (SourceConfidence.SPECULATED, 0.30),
    ],
)
def test_how_it_was_said_counts_sixty_percent(source: SourceConfidence, strength: float) -> None:
    found = score(source)
    assert found.source == pytest.approx(0.60 * strength)
    assert found.value == pytest.approx(0.60 * strength + 0.25 * MODEL)


@pytest.mark.parametrize(("origins", "share"), [(0, 0.0), (1, 0.0), (2, 0.5), (3, 0.75), (4, 0.875), (1_000, 1.0)])
def test_other_origins_count_fifteen_percent(origins: int, share: float) -> None:
    assert score(origins=origins).recurrence == pytest.approx(0.15 * share, abs=1e-4)


@pytest.mark.parametrize(
    ("grounding", "penalty"), [(Grounding.SUPPORTED, 0.0), (Grounding.PARTIAL, -0.15), (Grounding.UNKNOWN, -0.10)]
)
def test_what_the_turns_do_not_say_costs(grounding: Grounding, penalty: float) -> None:
    assert score(grounding=grounding).value == pytest.approx(score().value + penalty)


def test_what_no_turn_says_is_worth_nothing() -> None:
    assert score(grounding=Grounding.NOT_SUPPORTED, origins=9, adjustment=0.2).value < 0.25


@pytest.mark.parametrize(("given", "taken"), [(-0.2, -0.2), (0.2, 0.2), (-5.0, -0.2), (9.0, 0.2), (0.05, 0.05)])
def test_the_extractors_own_correction_is_bounded(given: float, taken: float) -> None:
    assert score(adjustment=given).adjustment == taken


@pytest.mark.parametrize("value", [0.0, 0.3, 0.85, 1.0])
@pytest.mark.parametrize("speech_act", [SpeechAct.ASSERTED, SpeechAct.QUOTED])
def test_a_value_that_a_person_sets_is_the_sum_of_its_parts(value: float, speech_act: SpeechAct) -> None:
    found = with_value(score(origins=3, speech_act=speech_act).parts(), value=value)
    assert (found.value, found.capped_at) == (value, None)
    assert Confidence.from_parts(found.parts()).value == pytest.approx(value)


@pytest.mark.parametrize("origins", [1, 2, 5])
def test_stored_parts_with_another_recurrence_are_what_the_formula_says(origins: int) -> None:
    stored = score(SourceConfidence.INFERRED, grounding=Grounding.PARTIAL, adjustment=0.1)
    expected = score(SourceConfidence.INFERRED, grounding=Grounding.PARTIAL, adjustment=0.1, origins=origins)
    assert with_recurrence(stored.parts(), policy=POLICY.confidence, origins=origins) == expected


@pytest.mark.parametrize("speech_act", [each for each in SpeechAct if each is not SpeechAct.ASSERTED])
def test_what_is_not_asserted_is_never_believed(speech_act: SpeechAct) -> None:
    found = score(SourceConfidence.CONFIRMED, reliability=1.0, origins=50, adjustment=0.2, speech_act=speech_act)
    assert (found.value, found.capped_at) == (0.30, 0.30)
