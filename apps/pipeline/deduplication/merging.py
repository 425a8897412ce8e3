"""Merging: which fields of a known memory change when it is repeated, so that the better statement wins."""

from typing import Any

from apps.pipeline.core.canonical import canonical_hash
from apps.pipeline.core.enums import CONSTRAINT, CONVENTION, SpeechAct
from apps.pipeline.core.memory_conversion import stored_fields
from apps.pipeline.core.policy import ConfidencePolicy
from apps.pipeline.core.statement import Candidate, Statement, StoredMemory
from apps.pipeline.deduplication.guard import tells_more

# Fields that change together with the wording, so that a sentence and its triple never disagree; its time as well.
_WORDING = ("content", "predicate", "object", "stateful", "evidence", "language")


def merged_fields(known: StoredMemory, candidate: Candidate, *, policy: ConfidencePolicy) -> dict[str, Any]:
    """Return the fields of a known memory that change when a candidate repeats it, with their new values.

    A firm statement replaces a hedged one, never the reverse; of two equally firm ones, the more precise wording wins.
    Tags are joined, the greater importance stays. A statement that is stored directly changes the wording alone.
    """
    if candidate.given is not None:
        rewords = candidate.given.may_change(known) and tells_more(candidate.content, than=known.content)
        return {"content": candidate.content} if rewords else {}
    gain = _firmness(candidate, policy) - _firmness(known, policy)
    fields: dict[str, Any] = {
        "importance": max(known.importance, candidate.importance),
        "tags": tuple(dict.fromkeys((*known.tags, *candidate.tags))),
        "topic": candidate.topic if candidate.topic and (gain > 0 or not known.topic) else known.topic,
    }
    if {CONVENTION, CONSTRAINT} & set(candidate.tags):
        fields["type"] = candidate.type
    if gain >= 0:
        grounded = max(known, candidate, key=lambda each: policy.grounding[each.grounding])
        sure = max(known, candidate, key=lambda each: policy.source[each.source_confidence])
        fields |= {
            "speech_act": candidate.speech_act,
            "grounding": grounded.grounding,
            "source_confidence": sure.source_confidence,
            "reliability": max(known.reliability, candidate.reliability),
            "adjustment": max(known.adjustment, candidate.adjustment),
        }
    if gain > 0 or (gain == 0 and tells_more(candidate.content, than=known.content)):
        said = stored_fields(candidate)
        fields |= {name: said[name] for name in _WORDING}
        if candidate.event_at is not None:
            fields |= {name: said[name] for name in ("event_at", "event_precision")}
        triples = ((each.predicate, each.object_text, each.polarity) for each in (candidate, known))
        if len(set(triples)) > 1:
            fields["canonical_hash"] = canonical_hash(candidate)
    return {name: value for name, value in fields.items() if value != getattr(known, name)}


def _firmness(statement: Statement, policy: ConfidencePolicy) -> float:
    asserted = statement.speech_act is SpeechAct.ASSERTED
    return (1.0 if asserted else 0.0) + policy.source[statement.source_confidence]
