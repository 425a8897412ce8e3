"""Precision, recall and zero-extraction rate from labelled samples."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeVar

from apps.actions.evaluation.agreement import Agreement, Labels, agreement_of
from apps.actions.evaluation.share import CONFIDENCE, Share, share_of
from apps.pipeline.core.enums import LabelValue, SampleKind

FAILURES = (LabelValue.UNTRUE, LabelValue.OUTDATED, LabelValue.USELESS)
_Group = TypeVar("_Group", str, int, date)


@dataclass(frozen=True, slots=True)
class LabelledItem:
    """A memory or turn of a sample with all its labels; a turn has neither model nor memory type."""

    kind: SampleKind
    week: date  # its Monday
    labels: Labels
    version: int | None = None  # number of the configuration version; None: stored directly
    model: str = ""
    memory_type: str = ""

    @property
    def is_good(self) -> bool | None:
        """Return whether most labellers say that the product did right; None if nobody could tell.

        A memory is good if it is true, current and useful, a turn with nothing stored if it contains nothing. A tie
        counts against the product.
        """
        told = [value for _, value in self.labels if value is not LabelValue.SKIPPED]
        right = sum(value in (LabelValue.GOOD, LabelValue.NOTHING) for value in told)
        return 2 * right > len(told) if told else None


@dataclass(frozen=True, slots=True)
class TurnCounts:
    """The turns of users in a week under one configuration version, which all are known: nothing is estimated."""

    week: date
    version: int
    turns: int
    passed: int  # the pre-filter
    stored: int  # of which at least one memory was stored


@dataclass(frozen=True, slots=True)
class RecallEstimate:
    """An estimated recall with its limits, and what it was computed from; None where a sample has no labels."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    found: float = 0.0  # turns that gave a good memory, estimated
    missed: float = 0.0  # turns with something worth remembering of which nothing was stored, estimated


@dataclass(frozen=True, slots=True)
class EvaluationFigures:
    """The figures of a set of labelled items and the turns that they were drawn from."""

    precision: Share
    recall: RecallEstimate
    missed: Share  # of the turns with nothing stored, those with something worth remembering
    zero_extraction: Share  # of the turns that passed the pre-filter, those with nothing stored; counted
    agreement: Mapping[SampleKind, Agreement] = field(default_factory=dict)
    failures: Mapping[LabelValue, int] = field(default_factory=dict)  # labels of memories that are not good


def figures_of(*, items: Sequence[LabelledItem], counts: Sequence[TurnCounts] = ()) -> EvaluationFigures:
    """Compute all figures of items and of the turns of the same weeks and versions."""
    memories = [item for item in items if item.kind is SampleKind.MEMORY]
    turns = [item for item in items if item.kind is SampleKind.TURN]
    agreements = {SampleKind.MEMORY: agreement_of(each.labels for each in memories)}
    agreements[SampleKind.TURN] = agreement_of(each.labels for each in turns)
    passed, stored = sum(each.passed for each in counts), sum(each.stored for each in counts)
    return EvaluationFigures(
        precision=_good(memories),
        recall=recall_of(memories=memories, turns=turns, counts=counts),
        missed=_missed(turns),
        zero_extraction=Share(passed - stored, passed, (passed - stored) / passed if passed else None),
        agreement={kind: found for kind, found in agreements.items() if found is not None},
        failures=_failures(memories),
    )


def recall_of(
    *, memories: Sequence[LabelledItem], turns: Sequence[LabelledItem], counts: Sequence[TurnCounts]
) -> RecallEstimate:
    """Estimate which fraction of the turns with something worth storing produced at least one memory.

    recall = S·p / (S·p + Z·m), where of the turns of users S gave a memory and Z gave none (both counted), p is the
    precision of the labelled memories and m the labelled share of the turns with nothing stored that contain something.
    It rises with p and falls with m, so its limits come from the opposite limits of the two Wilson intervals. Each of
    these has a confidence of 97.5 %, so that both hold together with at least 95 % (Bonferroni's inequality).
    """
    with_memory = sum(each.stored for each in counts)
    without = sum(each.turns for each in counts) - with_memory
    each_confidence = (1 + CONFIDENCE) / 2
    good, missed = _good(memories, confidence=each_confidence), _missed(turns, confidence=each_confidence)
    if good.value is None or good.low is None or good.high is None:
        return RecallEstimate()
    if missed.value is None or missed.low is None or missed.high is None:
        return RecallEstimate()
    return RecallEstimate(
        value=_ratio(with_memory * good.value, without * missed.value),
        low=_ratio(with_memory * good.low, without * missed.high),
        high=_ratio(with_memory * good.high, without * missed.low),
        found=with_memory * good.value,
        missed=without * missed.value,
    )


def figures_by(
    group_of: Callable[[LabelledItem | TurnCounts], _Group | None],
    *,
    items: Sequence[LabelledItem],
    counts: Sequence[TurnCounts] = (),
) -> dict[_Group, EvaluationFigures]:
    """Compute the figures of each group, in the order of the groups; what is of no group (None) is left out."""
    everything: list[LabelledItem | TurnCounts] = [*items, *counts]
    groups = {group for each in everything if (group := group_of(each)) is not None}
    return {
        group: figures_of(
            items=[each for each in items if group_of(each) == group],
            counts=[each for each in counts if group_of(each) == group],
        )
        for group in sorted(groups)
    }


def _good(memories: Sequence[LabelledItem], *, confidence: float = CONFIDENCE) -> Share:
    told = [each.is_good for each in memories if each.is_good is not None]
    return share_of(part=sum(told), whole=len(told), confidence=confidence)


def _missed(turns: Sequence[LabelledItem], *, confidence: float = CONFIDENCE) -> Share:
    told = [each.is_good for each in turns if each.is_good is not None]
    return share_of(part=len(told) - sum(told), whole=len(told), confidence=confidence)


def _ratio(found: float, missed: float) -> float | None:
    return found / (found + missed) if found + missed else None


def _failures(memories: Sequence[LabelledItem]) -> dict[LabelValue, int]:
    """Count what is wrong with memories that are not good: of several labels the most frequent, else the first."""
    counts: Counter[LabelValue] = Counter()
    for each in memories:
        if each.is_good is False:
            told = Counter(value for _, value in each.labels if value in FAILURES)
            counts[max(FAILURES, key=lambda value: told[value])] += 1
    return {value: counts[value] for value in FAILURES if counts[value]}
