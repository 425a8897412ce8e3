"""How far two labellers agree beyond chance."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from apps.pipeline.core.enums import LabelValue

Labels = Sequence[tuple[str, LabelValue]]  # labeller and label


@dataclass(frozen=True, slots=True)
class Agreement:
    """Cohen's kappa of the two labellers who share the most items; None if all labels are the same."""

    labellers: tuple[str, str]
    items: int
    kappa: float | None


def cohens_kappa(pairs: Sequence[tuple[LabelValue, LabelValue]]) -> float | None:
    """Return (po − pe) / (1 − pe): observed agreement po, agreement pe that the labellers' own frequencies give.

    Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20
    (1960). 1 is perfect, 0 is chance. None where chance alone gives perfect agreement, or without pairs.
    """
    if not pairs:
        return None
    total = len(pairs)
    observed = sum(one is other for one, other in pairs) / total
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    by_chance = sum(count * second[value] for value, count in first.items()) / total**2
    return None if by_chance == 1 else (observed - by_chance) / (1 - by_chance)


def agreement_of(items: Iterable[Labels]) -> Agreement | None:
    """Return the agreement of the two labellers who share the most items; None if no item has two labels.

    Labels that were skipped don't count.
    """
    shared: dict[tuple[str, str], list[tuple[LabelValue, LabelValue]]] = {}
    for labels in items:
        told = sorted((who, value) for who, value in labels if value is not LabelValue.SKIPPED)
        for (one, first), (other, second) in combinations(told, 2):
            shared.setdefault((one, other), []).append((first, second))
    if not shared:
        return None
    labellers = min(shared, key=lambda pair: (-len(shared[pair]), pair))
    return Agreement(labellers, len(shared[labellers]), cohens_kappa(shared[labellers]))
