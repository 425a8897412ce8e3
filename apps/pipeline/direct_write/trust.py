"""What requires the scope trust: binding agents, confirming, and changing what a user said or a person approved.

A caller without it may state facts and describe memories. Orders in the words of a statement, whatever its type, are
imperatives, duties, and wishes about what others do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import re2

from apps.pipeline.core.enums import BINDING_TAGS, Reason
from apps.pipeline.core.statement import Candidate
from apps.pipeline.lexicon.word_stems import PARTICIPLES
from apps.pipeline.provenance.orders import is_binding, looks_injected, orders_agent

_OBJECT = r"(?:the|an?|all|every|each|any|no|my|your|our|his|her|their|its|this|that|these|those|it|them|him|me|us)"
_PARTICLE = "(?:up|off|out|back|away|only|just|to|for|with)"
# A sentence without a subject: "Approve the refunds". Forms in -s, -ed and -ing tell of somebody: "Loves the sea".
_SUBJECTLESS = re2.compile(rf"(?:^|[.!?;:\n][ \t]*)(?P<verb>\p{{Lu}}\p{{Ll}}+) (?:{_PARTICLE} )?{_OBJECT}\b")
_TELLS = re2.compile(
    rf"(?i)(?:[^s]s|ed|ing)$|^(?:{_OBJECT}|i|he|she|we|you|they|there|here|in|on|at|by|of|for|from|with|after|before"
    r"|since|during|as|both|half|most|some|one|not|and|but|also|had|was|were|did|went|got|took|saw|said|user)$"
)
# What somebody must do, unless it is the user: "Refunds must be approved"; "User must not eat gluten" is a fact.
_OBLIGES = re2.compile(
    r"(?i)(?:^|[.!?;:\n])[ \t]*(?P<subject>[^.!?;:\n]{1,80}?) "
    r"(?:must|shall|should|ought to|(?:has|have|needs?|is|are) to|(?:is|are) (?:not )?(?:allowed|required|permitted))\b"
)
_THE_USER = re2.compile(r"(?i)^(?:the )?user(?:['’]s\b.*)?$")
# A wish about what others do: "wants every refund approved"; "wants to travel" is the own goal of who has it.
_WISH = re2.compile(
    r"(?i)\b(?:wants?|expects?|requires?|demands?|insists?(?: on)?|asks?|wishes|would like)"
    r" (?P<what>[^.!?\n]{1,200})"
)
_OTHERS_DO = re2.compile(r"(?i)\b(?:to \pL|without \pL+ing\b|that\b|\pL+ed\b)")
_OWN_GOAL = re2.compile(r"(?i)^to\b")
# Fields that describe a memory without changing what it says, how sure it is, or when it holds.
_DESCRIPTIVE = frozenset({"topic", "tags", "importance", "metadata"})


def doubts_about(candidate: Candidate, *, is_trusted: bool) -> tuple[str, ...]:
    """Return why a person has to review a statement before agents see it, whatever else is known."""
    if looks_injected(candidate.content):
        return (Reason.SUSPECTED_INJECTION,)
    return () if is_trusted or not is_order(candidate) else (Reason.LESS_TRUSTED,)


def is_order(candidate: Candidate) -> bool:
    """Return True if agents would follow a statement: by its tags or predicate, as an order, a duty or a wish."""
    return is_binding(candidate) or orders_others(candidate.content)


def orders_others(text: str) -> bool:
    """Return True for a sentence that tells others what to do."""
    is_imperative = any(not _TELLS.search(found["verb"]) for found in _SUBJECTLESS.finditer(text))
    is_duty = any(not _THE_USER.match(found["subject"]) for found in _OBLIGES.finditer(text))
    wishes = (found["what"] for found in _WISH.finditer(text))
    is_wish = any(
        not _OWN_GOAL.match(what) and (_OTHERS_DO.search(what) or not PARTICIPLES.isdisjoint(what.casefold().split()))
        for what in wishes
    )
    return is_imperative or is_duty or is_wish or orders_agent(text)


def binds_agents(tags: tuple[str, ...] | list[str]) -> bool:
    """Return True if one of a memory's tags binds agents."""
    return not BINDING_TAGS.isdisjoint(tags)


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """What the rules for revisions need to know about a memory."""

    confidence: float
    tags: tuple[str, ...]
    is_vouched_for: bool


def needs_trust(memory: MemoryFacts, changes: Mapping[str, Any], *, now: datetime) -> str:
    """Return the field of a revision that requires the scope trust, or "" if none does."""
    changes_binding = BINDING_TAGS & set(changes.get("tags", memory.tags)) != BINDING_TAGS & set(memory.tags)
    if changes_binding:
        return "tags"
    if orders_others(changes.get("content", "")):
        return "content"
    if changes.get("confidence", 0.0) > memory.confidence:
        return "confidence"
    if (expires_at := changes.get("expires_at")) is not None and expires_at <= now:
        return "expires_at"
    if memory.is_vouched_for or binds_agents(memory.tags):
        return next((name for name in changes if name not in _DESCRIPTIVE), "")
    return ""
