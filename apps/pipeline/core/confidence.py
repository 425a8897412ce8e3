"""The confidence formula, and the parts of its sum."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace

from apps.pipeline.core.enums import SpeechAct
from apps.pipeline.core.policy import ConfidencePolicy
from apps.pipeline.core.statement import Statement


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure we are that a statement is true, with the weighted parts of the sum."""

    value: float  # 0 to 1
    source: float
    extractor: float
    recurrence: float
    grounding: float
    adjustment: float
    review: float = 0.0  # a person has approved it
    capped_at: float | None = None

    @classmethod
    def from_parts(cls, parts: Mapping[str, float | None]) -> "Confidence":
        """Return the sum of weighted parts, limited to 0 and the cap; missing parts count as 0."""
        summands = {name: parts.get(name) or 0.0 for name in _SUMMANDS}
        cap = parts.get("capped_at")
        value = max(0.0, min(1.0 if cap is None else cap, sum(summands.values())))
        return cls(value=_rounded(value), capped_at=cap, **{name: _rounded(part) for name, part in summands.items()})

    def parts(self) -> dict[str, float | None]:
        """Return the parts in the form in which they are stored with the memory."""
        return {name: part for name, part in asdict(self).items() if name != "value"}


_SUMMANDS = tuple(each.name for each in fields(Confidence) if each.name not in {"value", "capped_at"})


def _rounded(value: float) -> float:
    return round(value, 4)


def confidence_of(statement: Statement, *, policy: ConfidencePolicy, origins: int = 1) -> Confidence:
    """Compute clamp(0.60·source + 0.25·extractor + 0.15·recurrence + grounding + adjustment).

    `origins` is the number of distinct sessions and days in which it was stated. The policy limits the adjustment and
    gives the weights; speech acts other than asserted cap the value. docs/decisions/confidence.md explains the formula.
    """
    bound = policy.max_adjustment
    return Confidence.from_parts(
        {
            "source": policy.source_weight * policy.source[statement.source_confidence],
            "extractor": policy.extractor_weight * statement.reliability,
            "recurrence": policy.recurrence_weight * recurrence_of(origins=origins),
            "grounding": policy.grounding[statement.grounding],
            "adjustment": max(-bound, min(bound, statement.adjustment)),
            "capped_at": None if statement.speech_act is SpeechAct.ASSERTED else policy.not_asserted_cap,
        }
    )


def approved(
    parts: Mapping[str, float | None], *, policy: ConfidencePolicy, is_asserted: bool, as_uncertain: bool = False
) -> Confidence:
    """Return stored parts with the approval of a person, whose weight is enough for every threshold of retrieval.

    What the user did not assert, but a person confirms, stays below the user's own words; what a person keeps as
    uncertain stays below high stakes.
    """
    confirmed = None if is_asserted else policy.confirmed_cap
    return Confidence.from_parts(
        {**parts, "review": policy.review_weight, "capped_at": policy.uncertain_cap if as_uncertain else confirmed}
    )


def recurrence_of(*, origins: int) -> float:
    """Return 1 − 2^(1−n) for n distinct origins: 0 for one, 0.5 for two, always below 1."""
    return 1.0 - 2.0 ** (1 - max(origins, 1))


def with_recurrence(parts: Mapping[str, float | None], *, policy: ConfidencePolicy, origins: int) -> Confidence:
    """Return stored parts with a new recurrence; a person's adjustment and approval stay."""
    return Confidence.from_parts({**parts, "recurrence": policy.recurrence_weight * recurrence_of(origins=origins)})


def with_value(parts: Mapping[str, float | None], *, value: float) -> Confidence:
    """Return stored parts with the adjustment that makes their sum equal a value set by a person or a caller."""
    others = sum(parts.get(name) or 0.0 for name in _SUMMANDS if name != "adjustment")
    changed = Confidence.from_parts({**parts, "adjustment": value - others, "capped_at": None})
    return replace(changed, value=value)
