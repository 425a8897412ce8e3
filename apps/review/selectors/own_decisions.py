"""What a person has decided in the last days, and whether it can still be undone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from apps.common.errors import Refused
from apps.console.labels import label, names_of, time_since
from apps.memories.models import Memory, MemoryLink, MemoryVersion
from apps.pipeline.core.enums import LinkStatus
from apps.review.selectors.comparisons import settlement_text
from apps.review.services import ReviewDecision, Reviewer, SeenVersion
from apps.review.undo import UNDONE, check_undo

SHOWN_FOR = timedelta(days=14)
_DECISIONS = frozenset({"approved", "rejected", "kept", "merged", "took_over"})  # operations that a person decides

Moment = dict[str, Any]  # the end user and time of the changes that one decision made


@dataclass(frozen=True, slots=True)
class OwnDecision:
    """One decision about one or two memories of an end user; `refusal` says why it can't be undone."""

    what: str
    memories: tuple[Memory, ...]
    at: datetime
    decided: ReviewDecision
    refusal: str = ""
    is_undone: bool = False

    @property
    def versions(self) -> str:
        """Return the decided memories as a form sends them."""
        return " ".join(f"{each.memory_id}:{each.version}" for each in self.decided.memories)


def own_decisions(*, by: Reviewer, now: datetime) -> QuerySet[Any, Any]:
    """Return when a person has decided something, latest first; load_decisions() makes rows of it.

    All changes of one decision have the same time.
    """
    own = MemoryVersion.objects.filter(actor=by.actor, trace=None, operation__in=_DECISIONS)
    recent = own.filter(known_until__gte=now - SHOWN_FOR, memory__project_id=by.project_id)
    return recent.order_by("-known_until", "end_user_id").values("end_user_id", "known_until").distinct()


def decided_today(*, by: Reviewer, now: datetime) -> int:
    """Count the memories that a person has decided about since midnight UTC."""
    own = MemoryVersion.objects.filter(actor=by.actor, trace=None, operation__in=_DECISIONS)
    today = own.filter(known_until__gte=now.replace(hour=0, minute=0, second=0, microsecond=0))
    return today.filter(memory__project_id=by.project_id).count()


def load_decisions(moments: Sequence[Moment], *, by: Reviewer) -> list[OwnDecision]:
    """Return the decisions made at some moments, in their order (five queries)."""
    own = MemoryVersion.objects.filter(actor=by.actor, trace=None, operation__in=_DECISIONS)
    made = own.filter(
        known_until__in=[each["known_until"] for each in moments],
        end_user_id__in={each["end_user_id"] for each in moments},
        memory__project_id=by.project_id,
    ).order_by("memory_id")
    by_moment: dict[tuple[UUID, datetime], list[MemoryVersion]] = {}
    for each in made:
        by_moment.setdefault((each.end_user_id, each.known_until), []).append(each)
    history = _History.of(by, made)
    keys = [(each["end_user_id"], each["known_until"]) for each in moments]
    return [history.decision(by_moment[key]) for key in keys if key in by_moment]


@dataclass(frozen=True, slots=True)
class _History:
    """The memories of some decisions, all their changes, and the pairs that were settled with them."""

    by: Reviewer
    memories: dict[UUID, Memory]
    changes: dict[UUID, list[MemoryVersion]]  # oldest first
    links: dict[tuple[UUID, datetime], MemoryLink]  # by end user and time
    names: dict[str, str]

    @classmethod
    def of(cls, by: Reviewer, made: Iterable[MemoryVersion]) -> "_History":
        rows = list(made)
        ids = {each.memory_id for each in rows}
        memories = Memory.objects.for_project(by.project_id).filter(pk__in=ids).to_show()
        changes: dict[UUID, list[MemoryVersion]] = {}
        for each in MemoryVersion.objects.filter(memory__in=ids).order_by("memory_id", "version"):
            changes.setdefault(each.memory_id, []).append(each)
        settled = MemoryLink.objects.for_project(by.project_id).select_related("from_memory", "to_memory")
        links = settled.filter(status=LinkStatus.SETTLED, settled_at__in={each.known_until for each in rows})
        return cls(
            by=by,
            memories={each.pk: each for each in memories},
            changes=changes,
            links={(each.end_user_id, each.settled_at): each for each in links if each.settled_at},
            names=names_of(each.actor for several in changes.values() for each in several),
        )

    def decision(self, made: Sequence[MemoryVersion]) -> OwnDecision:
        link = self.links.get((made[0].end_user_id, made[0].known_until))
        seen = tuple(SeenVersion(each.memory_id, each.version + 1) for each in made)
        refusals = [text for each in seen if (text := self._refusal(each))]
        later = [self._later(each) for each in seen]
        return OwnDecision(
            what=settlement_text(link) if link else " and ".join(label(each.operation) for each in made),
            memories=tuple(self.memories[each.memory_id] for each in made),
            at=made[0].known_until,
            decided=ReviewDecision(memories=seen, link_id=link.pk if link else None),
            refusal=refusals[0] if refusals else "",
            is_undone=all(each and each[0].operation == UNDONE and each[0].actor == self.by.actor for each in later),
        )

    def _later(self, seen: SeenVersion) -> list[MemoryVersion]:
        return [each for each in self.changes[seen.memory_id] if each.version >= seen.version]

    def _refusal(self, seen: SeenVersion) -> str:
        """Return why a change can't be undone; empty if it can."""
        changes = [each for each in self.changes[seen.memory_id] if each.version >= seen.version - 1]
        try:
            check_undo(actor=self.by.actor, memory=self.memories[seen.memory_id], seen=seen, changes=changes)
        except Refused as refused:
            if len(changes) == 1:
                return str(refused)
            next_ = changes[1]
            return f"{self.names[next_.actor]} {label(next_.operation)} it ({time_since(next_.known_until)})"
        return ""
