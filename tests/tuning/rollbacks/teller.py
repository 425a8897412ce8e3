"""End users who say one thing a day, and what is held to be true of them."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from apps.intake.accept import Submission, accept
from apps.memories.models import Entity, Memory, Rollback
from apps.pipeline.core.enums import Role
from apps.pipeline.core.turn import NewTurn
from apps.tenants.models import Project
from apps.tuning.rollbacks.loading import named_selection
from apps.tuning.rollbacks.services import request_rollback, undo_rollback
from tests.worker.worker_helper import Person

FOREVER = timedelta(seconds=60)
Facts = set[tuple[Any, ...]]


class Teller(Person):
    """An end user who says one thing a day."""

    def tells(self, content: str, *, day: int, session: str = "monday") -> UUID:
        turn = NewTurn(role=Role.USER, content=content, occurred_at=datetime(2026, 3, day, tzinfo=UTC))
        accepted = accept(submission=Submission(self.project.id, None, self.name, session, (turn,)))
        self.is_worked_for()
        return accepted.trace_id


def roll_back(project: Project, *traces: UUID, forced: Collection[UUID] = (), rerun: bool = False) -> Rollback:
    selection = named_selection(project_id=project.id, trace_ids=traces)
    asked = Rollback(project=project, selection=selection, forced=[str(each) for each in forced], rerun=rerun)
    return request_rollback(asked, wait=FOREVER)


def undo(rollback: Rollback) -> Rollback:
    return undo_rollback(project_id=rollback.project_id, rollback_id=rollback.id, wait=FOREVER)


def state(person: Person) -> Facts:
    """Return what is held to be true, with everything that a run derives; identifiers and versions differ."""
    live = Memory.objects.filter(end_user_id=person.id).live().select_related("subject")
    return {
        (
            each.content,
            each.status,
            each.subject and each.subject.name,
            each.object_text,
            each.valid_from,
            each.valid_until,
            each.said_at,
            each.confidence,
            each.recurrence,
            each.evidence,
            tuple(each.review_reasons),
        )
        for each in live
    }


def closed(person: Person) -> Facts:
    """Return what was true once, and what has replaced it."""
    rows = Memory.objects.filter(end_user_id=person.id, status="superseded").select_related("superseded_by")
    return {(each.content, each.valid_until, each.superseded_by and each.superseded_by.content) for each in rows}


def names(person: Person) -> Facts:
    """Return the entities with their names."""
    rows = Entity.objects.standing().filter(end_user_id=person.id, is_user=False).prefetch_related("aliases")
    return {
        (each.name, each.type, each.mention_count, frozenset((a.alias, a.count) for a in each.standing_aliases))
        for each in rows
    }
