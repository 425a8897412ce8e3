"""The confidence formula, alone in one file, so that its sum can be shown part by part."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from apps.pipeline.core.enums import Grounding, SourceConfidence, SpeechAct
from apps.pipeline.core.policy import ConfidencePolicy


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure we are that a statement is true, with the weighted parts of the sum."""

    value: float  # 0 to 1
    source: float
    extractor: float
    recurrence: float
    grounding: float
    adjustment: float
    capped_at: float | None = None

    def parts(self) -> dict[str, float | None]:
        """Return the parts as they are stored beside the memory."""
        return {name: part for name, part in asdict(self).items() if name != "value"}


def adjustment_to(value: float, *, parts: Mapping[str, float | None]) -> float:
    """Return the adjustment with which stored parts sum up to a value that a person or a caller has set."""
    others = sum(parts.get(name) or 0.0 for name in ("source", "extractor", "recurrence", "grounding"))
    return round(value - others, 4)


def recurrence_of(*, origins: int) -> float:
    """Return 1 − 2^(1−n) for n distinct origins: 0 for one, 0.5 for two, never quite 1."""
    return 1.0 - 2.0 ** (1 - max(origins, 1))


def with_recurrence(*, parts: Mapping[str, float | None], weight: float, origins: int) -> Confidence:
    """Return a stored sum with its recurrence anew; what a person set in it stays. `weight` is the policy's."""
    cap = parts.get("capped_at")
    source, extractor, grounding, adjustment = (
        parts.get(name) or 0.0 for name in ("source", "extractor", "grounding", "adjustment")
    )
    recurrence = round(weight * recurrence_of(origins=origins), 4)
    total = source + extractor + recurrence + grounding + adjustment
    return Confidence(
        value=round(max(0.0, min(1.0 if cap is None else cap, total)), 4),
        source=source,
        extractor=extractor,
        recurrence=recurrence,
        grounding=grounding,
        adjustment=adjustment,
        capped_at=cap,
    )


def confidence_of(
    *,
    policy: ConfidencePolicy,
    source_confidence: SourceConfidence,
    reliability: float,
    origins: int = 1,
    grounding: Grounding = Grounding.SUPPORTED,
    adjustment: float = 0.0,
    speech_act: SpeechAct = SpeechAct.ASSERTED,
) -> Confidence:
    """Compute clamp(0.60·source + 0.25·extractor + 0.15·recurrence + grounding + adjustment).

    `reliability` is the extractor's, 0 to 1; `adjustment` is bounded to ±0.2. Speech acts other than
    asserted cap the value. Weights are the policy's; the formula is the product's own (see the decision
    page on confidence).
    """
    source = policy.source_weight * policy.source[source_confidence]
    extractor = policy.extractor_weight * reliability
    recurrence = policy.recurrence_weight * recurrence_of(origins=origins)
    penalty = policy.grounding[grounding]
    nudge = max(-0.2, min(0.2, adjustment))
    cap = None if speech_act is SpeechAct.ASSERTED else policy.not_asserted_cap
    value = max(0.0, min(cap if cap is not None else 1.0, source + extractor + recurrence + penalty + nudge))
    return Confidence(
        value=round(value, 4),
        source=round(source, 4),
        extractor=round(extractor, 4),
        recurrence=round(recurrence, 4),
        grounding=penalty,
        adjustment=nudge,
        capped_at=cap,
    )
