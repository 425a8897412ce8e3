"""Statements, reviews and retractions in any order keep the invariants of the store."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.memories.reading.memory_state import StoredState
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.enums import LIVE_STATUSES, MemoryType, Polarity, SpeechAct, Status
from apps.pipeline.core.operations import ReviseMemory
from apps.pipeline.core.plan import WritePlan, plan_from
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import Ports, StalePlan
from apps.providers.fake import HashingEmbedder
from tests.pipeline.builders import MONDAY, CountedIds, FrozenClock, candidate, turn

ANA = UUID(int=2)
PREDICATES = {
    "lives_in": "lives in",
    "works_at": "works at",
    "likes": "likes",
    "dislikes": "dislikes",
    "knows": "knows",
}
VALUES = ("Kiel", "Bonn", "old Bonn", "3 cats", "4 cats")


class Interleaving(RuleBasedStateMachine):
    """The store of one end user with random statements and reviews."""

    def __init__(self) -> None:
        super().__init__()
        self.store, self.ids, self.turns = InMemoryStore(), CountedIds(), 0

    @property
    def kept(self) -> list[StoredState]:
        return list(self.store.state(end_user_id=ANA).memories.values())

    def settled(
        self, predicate: str, value: str, day: int, polarity: Polarity, act: SpeechAct, session: int, type: MemoryType
    ) -> Draft:
        self.turns += 1
        verb = PREDICATES[predicate]
        content = f"User {verb} {value}." if polarity is Polarity.POSITIVE else f"User no longer {verb} {value}."
        source = replace(turn(content, position=self.turns), received_at=MONDAY + timedelta(days=day))
        told = candidate(
            content, source=source, predicate=predicate, value=value, polarity=polarity, speech_act=act, type=type
        )
        origin = Origin(project_id=UUID(int=1), end_user_id=ANA, session_id=UUID(int=100 + session))
        request = Request(trace_id=self.ids.new(), origin=origin, turns=(source,))
        ports = Ports(
            clock=FrozenClock(), ids=self.ids, embedder=HashingEmbedder(), memories=self.store, writer=self.store
        )
        return flow.settle(Draft.start(request=request, policy=Policy()).evolve(candidates=(told,)), ports)

    def hear(self, draft: Draft) -> None:
        self.store.apply(draft=draft, plan=plan_from(draft))

    @rule(predicate=st.sampled_from(["lives_in", "works_at"]), value=st.sampled_from(VALUES), day=st.integers(0, 9))
    def move(self, predicate: str, value: str, day: int) -> None:
        self.hear(self.settled(predicate, value, day, Polarity.POSITIVE, SpeechAct.ASSERTED, day % 3, MemoryType.FACT))

    @rule(
        predicate=st.sampled_from(sorted(PREDICATES)),
        value=st.sampled_from(VALUES),
        day=st.integers(0, 9),
        polarity=st.sampled_from(Polarity),
        act=st.sampled_from([SpeechAct.ASSERTED, SpeechAct.ROLEPLAY]),
        session=st.integers(0, 2),
        type=st.sampled_from([MemoryType.FACT, MemoryType.EVENT]),
    )
    def say(
        self, predicate: str, value: str, day: int, polarity: Polarity, act: SpeechAct, session: int, type: MemoryType
    ) -> None:
        self.hear(self.settled(predicate, value, day, polarity, act, session, type))

    @rule(value=st.sampled_from(VALUES), day=st.integers(0, 9))
    def two_plans_from_one_state(self, value: str, day: int) -> None:
        """Let two plans change the same memory: the second one finds another version and writes nothing."""
        told = ("lives_in", value, day, Polarity.POSITIVE, SpeechAct.ASSERTED, 0, MemoryType.FACT)
        first, second = self.settled(*told), self.settled(*told)
        self.hear(first)
        if any(ruling.merge_into or ruling.supersedes for ruling in second.rulings):
            before = self.store.state(end_user_id=ANA)
            with pytest.raises(StalePlan):
                self.hear(second)
            assert self.store.state(end_user_id=ANA) == before

    @rule(place=st.integers(0, 30), status=st.sampled_from([Status.RETRACTED, Status.REJECTED, Status.ARCHIVED]))
    def take_away(self, place: int, status: Status) -> None:
        live = [kept.memory for kept in self.kept if kept.memory.status in LIVE_STATUSES]
        if live:
            memory = live[place % len(live)]
            change = ReviseMemory(memory.id, memory.version, verb=status.value, changes={"status": status})
            draft = self.settled("knows", "Kiel", 0, Polarity.POSITIVE, SpeechAct.ASSERTED, 0, MemoryType.FACT)
            self.store.apply(draft=draft, plan=WritePlan(operations=(change,)))

    @invariant()
    def one_live_value_a_slot(self) -> None:
        slots = Counter(
            (kept.memory.subject_id, kept.memory.predicate)
            for kept in self.kept
            if kept.memory.stateful
            and kept.memory.status is Status.ACTIVE
            and kept.memory.polarity is Polarity.POSITIVE
            and kept.memory.type is not MemoryType.EVENT
        )
        assert not [slot for slot, count in slots.items() if count > 1]

    @invariant()
    def no_two_live_share_a_hash(self) -> None:
        hashes = Counter(kept.memory.canonical_hash for kept in self.kept if kept.memory.status in LIVE_STATUSES)
        assert not [each for each, count in hashes.items() if count > 1]

    @invariant()
    def heirs_end_somewhere(self) -> None:
        heirs = {kept.memory.id: kept.superseded_by for kept in self.kept}
        for kept in self.kept:
            if kept.memory.status is Status.SUPERSEDED:
                assert kept.superseded_by in heirs
                assert kept.memory.valid_until is not None
            seen, successor = {kept.memory.id}, kept.superseded_by
            while successor is not None:
                assert successor not in seen
                seen.add(successor)
                successor = heirs[successor]

    @invariant()
    def no_link_hangs_in_the_air(self) -> None:
        ids = {kept.memory.id for kept in self.kept}
        links = self.store.state(end_user_id=ANA).links
        assert all({link.from_id, link.to_id} <= ids and link.from_id != link.to_id for link in links)


Interleaving.TestCase.settings = settings(stateful_step_count=25, phases=[Phase.explicit, Phase.generate])
TestInterleaving = Interleaving.TestCase
