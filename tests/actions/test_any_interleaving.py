"""Whatever people say, review and merge, in whatever order: the tables keep what the store promises."""

import contextlib
from collections import Counter
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from apps.actions.accept import NewTurn, Submission, accept
from apps.actions.approve import approve
from apps.actions.decisions import Decided, Seen
from apps.actions.decisions import Person as Reviewer
from apps.actions.errors import Refused
from apps.actions.merge_entities import EntityMerge, merge_entities
from apps.actions.merge_memories import merge_memories
from apps.actions.reject import reject
from apps.actions.retract import retract
from apps.actions.undo import undo
from apps.memories.models import Entity, Memory, MemoryLink
from apps.pipeline.identifiers import new_id
from apps.pipeline.vocabulary import LIVE_STATUSES, MemoryType, Polarity, Rejection, Role, Status
from apps.tenants.models import Project
from tests.actions.working import Person

pytestmark = pytest.mark.django_db
SAYINGS = (
    "I live in Kiel.",
    "I live in Bonn.",
    "I moved to Kiel.",
    "I no longer live in Bonn.",
    "I work at Acme.",
    "Nora lives in Ghent.",
    "Nora Peeters lives in Bruges.",
    "My sister Nora works at Acme.",
    "I like green tea.",
)


class Interleaving(RuleBasedStateMachine):
    """One end user of a project, who is worked for after each saying."""

    def __init__(self, project: Project, reviewer: Reviewer) -> None:
        super().__init__()
        self.project, self.reviewer = project, reviewer
        self.person = Person(project, str(new_id()))
        self.decided: list[Decided] = []

    @property
    def kept(self) -> list[Memory]:
        return list(Memory.objects.filter(end_user_id=self.person.id).order_by("id"))

    def pick(self, place: int, *statuses: Status) -> Any:
        found = [memory for memory in self.kept if memory.status in statuses]
        return found[place % len(found)] if found else None

    @rule(saying=st.sampled_from(SAYINGS), session=st.sampled_from(["monday", "friday"]), day=st.integers(1, 20))
    def say(self, saying: str, session: str, day: int) -> None:
        """Say something that may be older than what is known."""
        turn = NewTurn(role=Role.USER, content=saying, occurred_at=datetime(2026, 3, day, tzinfo=UTC))
        accept(submission=Submission(self.project.id, None, self.person.name, session, (turn,)))
        self.person.is_worked_for()

    @precondition(lambda self: self.pick(0, Status.ACTIVE))
    @rule(place=st.integers(0, 30), saying=st.sampled_from(SAYINGS), day=st.integers(1, 20))
    def doubt_and_say(self, place: int, saying: str, day: int) -> None:
        """Let something known wait for a person, and something else be said meanwhile."""
        memory = self.pick(place, Status.ACTIVE)
        Memory.objects.filter(pk=memory.pk).update(status=Status.PENDING_REVIEW, review_reasons=["low_confidence"])
        self.say(saying, "sunday", day)

    @precondition(lambda self: self.pick(0, Status.PENDING_REVIEW))
    @rule(place=st.integers(0, 30))
    def approve(self, place: int) -> None:
        memory = self.pick(place, Status.PENDING_REVIEW)
        self.decided.append(approve(by=self.reviewer, seen=[Seen(memory.pk, memory.version)]))

    @precondition(lambda self: self.pick(0, Status.PENDING_REVIEW))
    @rule(place=st.integers(0, 30))
    def reject(self, place: int) -> None:
        memory = self.pick(place, Status.PENDING_REVIEW)
        seen = [Seen(memory.pk, memory.version)]
        self.decided.append(reject(by=self.reviewer, seen=seen, reason=Rejection.NOT_TRUE))

    @rule(place=st.integers(0, 30))
    def retract(self, place: int) -> None:
        if memory := self.pick(place, *LIVE_STATUSES):
            retract(project_id=self.project.id, memory_id=memory.pk)

    @rule(one=st.integers(0, 30), other=st.integers(0, 30))
    def merge_two_memories(self, one: int, other: int) -> None:
        memory, into = self.pick(one, *LIVE_STATUSES), self.pick(other, *LIVE_STATUSES)
        if memory and into and memory != into:
            seen, heir = Seen(memory.pk, memory.version), Seen(into.pk, into.version)
            self.decided.append(merge_memories(by=self.reviewer, seen=seen, into=heir))

    @precondition(lambda self: self.decided)
    @rule()
    def undo(self) -> None:
        with contextlib.suppress(Refused):  # it was changed again since
            undo(by=self.reviewer, decided=self.decided.pop())

    @rule(one=st.integers(0, 30), other=st.integers(0, 30))
    def merge_two_entities(self, one: int, other: int) -> None:
        known = Entity.objects.filter(end_user_id=self.person.id, merged_into=None).order_by("id")
        others = [entity.id for entity in known if not entity.is_user]
        if len(others) > 1 and one % len(others) != other % len(others):
            merge_entities(merge=EntityMerge(self.project.id, others[one % len(others)], others[other % len(others)]))

    @invariant()
    def one_live_value_a_slot(self) -> None:
        slots = Counter(
            (memory.subject_id, memory.predicate)
            for memory in self.kept
            if memory.stateful
            and memory.subject_id
            and memory.status == Status.ACTIVE
            and memory.polarity == Polarity.POSITIVE
            and memory.type != MemoryType.EVENT
        )
        assert not [slot for slot, count in slots.items() if count > 1]

    @invariant()
    def heirs_end_somewhere(self) -> None:
        heirs: dict[UUID, UUID | None] = {memory.pk: memory.superseded_by_id for memory in self.kept}
        for memory in self.kept:
            if memory.status == Status.SUPERSEDED:
                assert memory.superseded_by_id in heirs
                assert memory.valid_until is not None
            seen, heir = {memory.pk}, memory.superseded_by_id
            while heir is not None:
                assert heir not in seen
                seen.add(heir)
                heir = heirs[heir]

    @invariant()
    def no_link_hangs_in_the_air(self) -> None:
        ids = {memory.pk for memory in self.kept}
        for link in MemoryLink.objects.filter(end_user_id=self.person.id):
            assert {link.from_memory_id, link.to_memory_id} <= ids
            assert link.from_memory_id != link.to_memory_id


def test_any_interleaving(project: Project) -> None:
    reviewer = Reviewer(project_id=project.id, person_id=User.objects.create_user("ana").pk)
    run_state_machine_as_test(
        lambda: Interleaving(project, reviewer),
        settings=settings(
            max_examples=30,
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
