"""Rollbacks and their undo among turns, reviews, edits, merges, replays and erasures keep the invariants."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule, run_state_machine_as_test

from apps.memories.ledger.chain import seal_ledger, verify_ledger
from apps.memories.models import Memory, MemoryOrigin, Rollback, RollbackItem
from apps.pipeline.core.enums import LIVE_STATUSES, RollbackState, TraceStatus
from apps.privacy.users import erase_user
from apps.tenants.models import Project
from apps.traces.models import ReplayedState, Trace
from apps.traces.runs import run_heads
from tests.memories.services.test_any_interleaving import PLACES, Interleaving
from tests.soak import few
from tests.tuning.replays.replay_helper import replay_of
from tests.tuning.rollbacks.teller import FOREVER, roll_back, undo

pytestmark = [pytest.mark.django_db, pytest.mark.soak]
FEW = st.lists(PLACES, min_size=1, max_size=3)


class WithRollbacks(Interleaving):
    """One end user whose traces are rolled back now and then."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.done: list[Rollback] = []
        self.versions: dict[UUID, int] = {}
        self.traces: set[UUID] = set()

    @initialize()
    def begin(self) -> None:
        for day, saying in enumerate(("I live in Kiel.", "My sister Nora lives in Ghent.", "I live in Bonn."), start=3):
            self.say(saying, str(day), day)

    def choose(self, places: list[int]) -> list[UUID]:
        rows = Trace.objects.filter(end_user_id=self.person.id).exclude(status=TraceStatus.ROLLED_BACK)
        known = list(rows.order_by("created_at", "id").values_list("id", flat=True))
        return sorted({known[place % len(known)] for place in places}) if known else []

    @rule(places=FEW, is_forced=st.booleans(), rerun=st.booleans())
    def roll_traces_back(self, places: list[int], is_forced: bool, rerun: bool) -> None:
        traces = self.choose(places)
        forced = [memory.id for memory in self.kept if memory.status in LIVE_STATUSES] if is_forced else []
        if traces:
            rollback = roll_back(self.project, *traces, forced=forced, rerun=rerun)
            assert rollback.state == RollbackState.DONE, errors(rollback)
            self.done.append(rollback)
            self.person.is_worked_for()

    @rule(place=PLACES)
    def roll_one_back(self, place: int) -> None:
        self.roll_traces_back([place], is_forced=False, rerun=False)

    @rule(place=PLACES, other=PLACES)
    def roll_back_and_undo(self, place: int, other: int) -> None:
        """Roll back two traces one after the other, and undo the first of the two rollbacks."""
        self.roll_one_back(place)
        self.roll_one_back(other)
        if self.done:
            self.undo_a_rollback(-2 % len(self.done))

    @precondition(lambda self: self.done)
    @rule(place=PLACES)
    def undo_a_rollback(self, place: int) -> None:
        rollback = undo(self.done.pop(place % len(self.done)))
        assert rollback.state == RollbackState.UNDONE, errors(rollback)
        self.person.is_worked_for()

    @rule()
    def replay(self) -> None:
        """Replay everything under its own versions: no trace fails, and nothing is written."""
        before = {memory.pk: memory.version for memory in self.kept}
        runs, _ = replay_of(self.person.id) if run_heads(end_user_id=self.person.id) else ([], None)
        assert not [run for run in runs if run.state is ReplayedState.FAILED]
        assert {memory.pk: memory.version for memory in self.kept} == before

    @rule(place=PLACES)
    def erase(self, place: int) -> None:
        """Erase the user, seldom: everything starts again then."""
        if place == 0:
            erase_user(project_id=self.project.id, user_id=self.person.name, wait=FOREVER)
            assert not RollbackItem.objects.filter(end_user_id=self.person.id).exists()
            self.versions, self.traces, self.done, self.decided = {}, set(), [], []
            self.begin()

    @invariant()
    def nothing_is_destroyed(self) -> None:
        now = {memory.pk: memory.version for memory in self.kept}
        for memory_id, version in self.versions.items():
            assert now.get(memory_id, 0) >= version
        traces = set(Trace.objects.filter(end_user_id=self.person.id).values_list("id", flat=True))
        assert self.traces <= traces
        self.versions, self.traces = now, traces

    @invariant()
    def what_nobody_says_any_more_is_not_told(self) -> None:
        for memory in self.kept:
            origins = list(MemoryOrigin.objects.filter(memory=memory))
            if memory.status in LIVE_STATUSES and origins:
                stands = any(not each.withdrawn for each in origins)
                assert stands or was_edited(memory), memory

    @invariant()
    def what_stands_is_not_withdrawn(self) -> None:
        """A trace that is not rolled back has all its sources, and one that is has none but of what is left alone."""
        withdrawn = MemoryOrigin.objects.filter(end_user_id=self.person.id, withdrawn=True).select_related("trace")
        assert not [each for each in withdrawn if each.trace.status == TraceStatus.DONE and not self.was_kept(each)]

    def was_kept(self, origin: MemoryOrigin) -> bool:
        """Return True if the undo of a rollback left the memory alone, or the trace ran again without saying it."""
        return Memory.objects.filter(pk=origin.memory_id).exclude(status__in=LIVE_STATUSES).exists() or any(
            item.left_alone for item in RollbackItem.objects.filter(end_user_id=self.person.id)
        )


def was_edited(memory: Memory) -> bool:
    actors = memory.versions.values_list("actor", flat=True)
    return any(actor.startswith(("person:", "key:", "system")) for actor in actors)


def errors(rollback: Rollback) -> Any:
    return list(rollback.items.values_list("error", flat=True))


def test_any_rollback(project: Project) -> None:
    run_state_machine_as_test(
        lambda: WithRollbacks(project),
        settings=settings(
            max_examples=few(),
            stateful_step_count=12,
            deadline=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
    seal_ledger()
    assert verify_ledger(project_id=project.id).is_intact
