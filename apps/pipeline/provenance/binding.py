"""Statements that agents would follow: rules, recognised by tags, predicate or words."""

from apps.pipeline.core.enums import BINDING_TAGS, PROCEDURE
from apps.pipeline.core.statement import Candidate
from apps.pipeline.provenance.orders import orders_agent

_ACTED_ON_TAGS = BINDING_TAGS | {PROCEDURE}  # agents also act on descriptions of how something is done
_BINDING_PREDICATES = frozenset({"wants_assistant_to", "reply_language"})


def is_binding(candidate: Candidate) -> bool:
    """Return True if agents would have to follow a candidate."""
    if _ACTED_ON_TAGS & set(candidate.tags) or candidate.predicate in _BINDING_PREDICATES:
        return True
    return orders_agent(candidate.content) or orders_agent(candidate.evidence)
