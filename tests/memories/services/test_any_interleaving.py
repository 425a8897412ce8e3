"""Turns, reviews and merges in any order keep the invariants of the store."""

import contextlib
from collections import Counter
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from apps.common.errors import Conflict, Refused
from apps.intake.accept import Submission, accept
from apps.memories.models import Entity, Memory, MemoryLink
from apps.memories.services.entities import merge_entities, split_entities
from apps.memories.services.revising import Revision, retract, revise
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import (
    LIVE_STATUSES,
    EntityType,
    LinkResolution,
    LinkStatus,
    MemoryType,
    Polarity,
    RejectionReason,
    Role,
    Status,
)
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.core.turn import NewTurn
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.review.services import (
    ReviewDecision,
    SeenVersion,
    approve,
    merge_memories,
    reject,
    settle_link,
)
from apps.review.undo import undo
from apps.tenants.models import Project
from tests.soak import few
from tests.worker.worker_helper import Person

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
    "I don't like green tea.",
)
WORDINGS = ("User likes green tea.", "User lives in Kiel.", "User naps.", "User naps at noon.")
BY_A_PERSON = {
    Status.ACTIVE: Status.ARCHIVED,
    Status.ARCHIVED: Status.ACTIVE,
    Status.REJECTED: Status.PENDING_REVIEW,
    Status.PENDING_REVIEW: Status.ACTIVE,
}
DAYS = st.integers(2, 20)
PLACES = st.integers(0, 30)
WHO = st.sampled_from(["User", "Nora"])


def on(day: int) -> datetime:
    return datetime(2026, 3, day, tzinfo=UTC)


def lives_in(who: str, value: str, day: int, status: Status) -> NewMemory:
    return NewMemory(
        type=MemoryType.FACT,
        content=f"{who} lives in {value}.",
        subject=Mention(who, EntityType.PERSON),
        predicate="lives_in",
        object=ObjectValue(entity=Mention(value, EntityType.PLACE)),
        stateful=True,
        said_at=on(day),
        status=status,
    )


class Interleaving(RuleBasedStateMachine):
    """One end user of a project, whose work is processed after each request."""

    def __init__(self, project: Project) -> None:
        super().__init__()
        self.project = project
        self.person = Person(project, str(new_id()))
        self.decided: list[ReviewDecision] = []

    @property
    def kept(self) -> list[Memory]:
        return list(Memory.objects.filter(end_user_id=self.person.id).order_by("id"))

    def pick(self, place: int, *statuses: Status) -> Any:
        found = [memory for memory in self.kept if memory.status in statuses]
        return found[place % len(found)] if found else None

    @rule(saying=st.sampled_from(SAYINGS), session=st.sampled_from(["monday", "friday"]), day=DAYS)
    def say(self, saying: str, session: str, day: int) -> None:
        """Make a statement that may be older than the known ones."""
        turn = NewTurn(role=Role.USER, content=saying, occurred_at=on(day))
        accept(submission=Submission(self.project.id, None, self.person.name, session, (turn,)))
        self.person.is_worked_for()

    @precondition(lambda self: self.pick(0, Status.ACTIVE))
    @rule(place=PLACES, saying=st.sampled_from(SAYINGS), day=DAYS)
    def doubt_and_say(self, place: int, saying: str, day: int) -> None:
        """Make a known memory pending, and add another one before the review."""
        memory = self.pick(place, Status.ACTIVE)
        Memory.objects.filter(pk=memory.pk).update(status=Status.PENDING_REVIEW, review_reasons=["low_confidence"])
        self.say(saying, "sunday", day)

    @rule(who=WHO, value=st.sampled_from(["Kiel", "Bonn", "Ulm"]), day=DAYS)
    def store_a_value(self, who: str, value: str, day: int) -> None:
        self.store(lives_in(who, value, day, Status.ACTIVE))

    @rule(who=WHO, value=st.sampled_from(["Kiel", "Bonn", "Ulm"]), day=DAYS, rival=st.sampled_from(["Hamm", "Trier"]))
    def approve_a_value_after_another(self, who: str, value: str, day: int, rival: str) -> None:
        """Approve a pending value after another one has come into its slot."""
        (waiting,) = self.store(lives_in(who, value, day, Status.PENDING_REVIEW))
        self.store(lives_in(who, rival, day - 1, Status.ACTIVE))
        memory = Memory.objects.get(pk=waiting)
        if memory.status == Status.PENDING_REVIEW:
            self.decided.append(approve(project_id=self.project.id, seen=[SeenVersion(waiting, memory.version)]))

    @rule(place=PLACES, who=WHO, day=DAYS)
    def take_back_after_another(self, place: int, who: str, day: int) -> None:
        """Archive a value, let another one come into its slot, and restore the first."""
        held = [memory for memory in self.kept if memory.predicate == "lives_in" and memory.status == Status.ACTIVE]
        if held:
            self.revise(held[place % len(held)], {"status": Status.ARCHIVED})
            self.store(lives_in(who, "Ghent", day, Status.ACTIVE))
            self.undo()

    @rule(wording=st.sampled_from(WORDINGS), status=st.sampled_from([None, Status.ARCHIVED]))
    def store_a_sentence(self, wording: str, status: Status | None) -> None:
        self.store(NewMemory(type=MemoryType.FACT, content=wording, status=status))

    def store(self, memory: NewMemory) -> tuple[UUID, ...]:
        return store(request=StoreRequest(self.project.id, None, self.person.name, (memory,)))

    @rule(place=PLACES, wording=st.sampled_from(WORDINGS))
    def word_anew(self, place: int, wording: str) -> None:
        self.revise(self.pick(place, *LIVE_STATUSES), {"content": wording})

    @rule(place=PLACES)
    def change_where_it_stands(self, place: int) -> None:
        if memory := self.pick(place, *BY_A_PERSON):
            self.revise(memory, {"status": BY_A_PERSON[Status(memory.status)]})

    def revise(self, memory: Memory | None, changes: dict[str, Any]) -> None:
        """Revise as a person, unless another memory says the same already."""
        if memory is None:
            return
        asked = Revision(self.project.id, memory.pk, changes, may_review=True)
        with contextlib.suppress(Conflict):
            revise(revision=asked)
            self.decided.append(ReviewDecision(memories=(SeenVersion(memory.pk, memory.version + 1),)))

    @precondition(lambda self: self.pick(0, Status.PENDING_REVIEW))
    @rule(place=PLACES)
    def approve(self, place: int) -> None:
        memory = self.pick(place, Status.PENDING_REVIEW)
        self.decided.append(approve(project_id=self.project.id, seen=[SeenVersion(memory.pk, memory.version)]))

    @precondition(lambda self: self.pick(0, Status.PENDING_REVIEW))
    @rule(place=PLACES)
    def reject(self, place: int) -> None:
        memory = self.pick(place, Status.PENDING_REVIEW)
        seen = [SeenVersion(memory.pk, memory.version)]
        self.decided.append(reject(project_id=self.project.id, seen=seen, reason=RejectionReason.NOT_TRUE))

    @rule(place=PLACES)
    def retract(self, place: int) -> None:
        if memory := self.pick(place, *LIVE_STATUSES):
            retract(project_id=self.project.id, memory_id=memory.pk)

    @rule(one=PLACES, other=PLACES)
    def merge_two_memories(self, one: int, other: int) -> None:
        memory, into = self.pick(one, *LIVE_STATUSES), self.pick(other, *LIVE_STATUSES)
        if memory and into and memory != into:
            seen, successor = SeenVersion(memory.pk, memory.version), SeenVersion(into.pk, into.version)
            self.decided.append(merge_memories(project_id=self.project.id, seen=seen, into=successor))

    @rule(
        place=PLACES,
        resolution=st.sampled_from([LinkResolution.KEPT_FROM, LinkResolution.KEPT_TO, LinkResolution.MERGED]),
    )
    def settle(self, place: int, resolution: LinkResolution) -> None:
        """Settle a contradiction, except as "both are true", which overrides the rule of one value per slot."""
        links = list(MemoryLink.objects.filter(end_user_id=self.person.id, status=LinkStatus.OPEN).order_by("id"))
        if not links:
            return
        link = links[place % len(links)]
        both = [SeenVersion(each.pk, each.version) for each in (link.from_memory, link.to_memory)]
        with contextlib.suppress(Conflict):  # one of the two is not live any more
            settled = settle_link(project_id=self.project.id, link_id=link.pk, seen=both, resolution=resolution)
            self.decided.append(settled)

    @precondition(lambda self: self.decided)
    @rule()
    def take_back(self) -> None:
        self.undo()

    def undo(self) -> None:
        with contextlib.suppress(Refused):  # it was changed again since
            undo(project_id=self.project.id, decided=self.decided.pop())

    @rule(one=PLACES, other=PLACES)
    def merge_two_entities(self, one: int, other: int) -> None:
        known = Entity.objects.standing().filter(end_user_id=self.person.id).order_by("id")
        others = [entity.id for entity in known if not entity.is_user]
        if len(others) > 1 and one % len(others) != other % len(others):
            entity_id, into_id = others[one % len(others)], others[other % len(others)]
            merge_entities(project_id=self.project.id, entity_id=entity_id, into_id=into_id)

    @rule(place=PLACES)
    def split_two_entities(self, place: int) -> None:
        merged = list(Entity.objects.filter(end_user_id=self.person.id).exclude(merged_into=None).order_by("id"))
        if merged:
            split_entities(project_id=self.project.id, entity_id=merged[place % len(merged)].pk)

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
    def no_two_live_share_a_hash(self) -> None:
        hashes = Counter(memory.canonical_hash for memory in self.kept if memory.status in LIVE_STATUSES)
        assert not [each for each, count in hashes.items() if count > 1]

    @invariant()
    def heirs_end_somewhere(self) -> None:
        heirs: dict[UUID, UUID | None] = {memory.pk: memory.superseded_by_id for memory in self.kept}
        for memory in self.kept:
            if memory.status == Status.SUPERSEDED:
                assert memory.superseded_by_id in heirs
                assert memory.valid_until is not None
            seen, successor = {memory.pk}, memory.superseded_by_id
            while successor is not None:
                assert successor not in seen
                seen.add(successor)
                successor = heirs[successor]

    @invariant()
    def no_link_hangs_in_the_air(self) -> None:
        ids = {memory.pk for memory in self.kept}
        for link in MemoryLink.objects.filter(end_user_id=self.person.id):
            assert {link.from_memory_id, link.to_memory_id} <= ids
            assert link.from_memory_id != link.to_memory_id


def test_any_interleaving(project: Project) -> None:
    run_state_machine_as_test(
        lambda: Interleaving(project),
        settings=settings(
            max_examples=few(),
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
