"""The contract of stores: what a plan writes comes back."""

from dataclasses import replace

import pytest

from apps.pipeline.core.enums import (
    EntityType,
    Status,
)
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.operations import (
    ReviseMemory,
)
from apps.pipeline.core.ports import StalePlan
from apps.pipeline.core.statement import Mention, ObjectValue
from tests.contracts.store_world import (
    BERLIN,
    LATER,
    World,
    add,
    entity,
    full_statement,
    merge,
    start,
    supersede,
    told,
)
from tests.pipeline.builders import MONDAY


class WritingContract:
    """What operations change; subclasses give the fixture `world`."""

    def test_a_memory_comes_back_as_it_was_written(self, world: World) -> None:
        started = start(world)
        (known,) = world.holders(*started.slot)
        written = started.home
        assert (known.id, known.version, known.status) == (written.memory_id, 1, Status.ACTIVE)
        assert (known.content, known.object_text, known.canonical_hash) == (
            "User lives in Berlin.", "Berlin", written.canonical_hash,
        )  # fmt: skip
        assert (known.said_at, known.valid_from, known.valid_until) == (MONDAY, MONDAY, None)
        assert known.confidence == pytest.approx(written.confidence.value)
        assert known.origins == ((str(started.request.origin.session_id), "2025-06-02"),)

    @pytest.mark.parametrize(
        "value",
        [
            ObjectValue(),
            ObjectValue(literal="Berlin"),
            ObjectValue(items=("Berlin", "Kiel")),
            ObjectValue(entity=Mention(text="Berlin", entity_id=BERLIN)),
        ],
    )
    def test_every_field_of_a_statement_comes_back(self, world: World, value: ObjectValue) -> None:
        request, user = world.request("I live in Berlin."), entity("User", is_user=True)
        each = full_statement(told(request, "User lives in Berlin.", subject=user, object=value))
        berlin = entity("Berlin", kind=EntityType.PLACE, id=BERLIN)
        world.write(request, user, berlin, add(request, each))
        (known,) = world.holders(user.entity.id, each.predicate)
        subject = Mention(text="", entity_id=user.entity.id)
        assert known.statement_fields() == {**each.statement_fields(), "subject": subject}

    def test_a_newer_value_closes_the_older_one(self, world: World) -> None:
        started = start(world)
        request = world.request("I moved to Munich.", day=5)
        each = told(request, "User lives in Munich.", subject=started.user, predicate="lives_in", value="Munich")
        munich = add(request, each)
        world.write(request, munich, supersede(started.home.memory_id, by=munich.memory_id))
        assert [each.object_text for each in world.holders(*started.slot)] == ["Munich"]
        closed = world.row(started.home.memory_id)
        assert (closed.status, closed.version, closed.valid_until) == (Status.SUPERSEDED, 2, LATER)

    def test_a_merge_adds_a_source_and_takes_the_better_wording(self, world: World) -> None:
        started = start(world)
        request = world.request("I live in Berlin-Mitte.", day=1)
        each = told(request, "User lives in Berlin-Mitte.", subject=started.user, predicate="lives_in", value="Berlin")
        world.write(request, merge(request, each, into=started.home.memory_id, content=each.content))
        (known,) = world.holders(*started.slot)
        assert (known.version, known.content) == (2, "User lives in Berlin-Mitte.")
        assert {day for _, day in known.origins} == {"2025-06-02", "2025-06-03"}

    def test_one_plan_may_merge_into_a_memory_and_close_it(self, world: World) -> None:
        started = start(world)
        request = world.request("I lived in Berlin, now in Munich.", day=5)
        again = told(request, "User lives in Berlin.", subject=started.user, predicate="lives_in", value="Berlin")
        munich = add(
            request, told(request, "User lives in Munich.", subject=started.user, predicate="lives_in", index=1)
        )
        world.write(
            request,
            merge(request, again, into=started.home.memory_id),
            munich,
            supersede(started.home.memory_id, by=munich.memory_id),
        )
        closed = world.row(started.home.memory_id)
        assert (closed.status, closed.version) == (Status.SUPERSEDED, 3)

    def test_one_plan_may_close_what_it_adds(self, world: World) -> None:
        started = start(world)
        request = world.request("I moved to Kiel, then to Munich.", day=5)
        kiel = add(request, told(request, "User lives in Kiel.", subject=started.user, predicate="lives_in"))
        munich = add(
            request, told(request, "User lives in Munich.", subject=started.user, predicate="lives_in", index=1)
        )
        world.write(request, kiel, munich, supersede(kiel.memory_id, by=munich.memory_id))
        closed = world.row(kiel.memory_id)
        assert closed.status is Status.SUPERSEDED

    @pytest.mark.parametrize("change", ["supersede", "merge", "revise"])
    @pytest.mark.parametrize("absent", [False, True])
    def test_a_stale_plan_writes_nothing(self, world: World, change: str, absent: bool) -> None:
        started = start(world)
        request = world.request("I moved to Munich.", day=5)
        each = told(request, "User lives in Munich.", subject=started.user, predicate="lives_in")
        munich, friend = add(request, each), entity("Lena")
        target, version = (new_id(), 1) if absent else (started.home.memory_id, 7)
        stale = {
            "supersede": supersede(target, by=munich.memory_id, version=version),
            "merge": merge(request, each, into=target, version=version),
            "revise": ReviseMemory(
                memory_id=target, expected_version=version, verb="revised", changes={"content": "User naps."}
            ),
        }[change]
        operations = [friend, stale] if change == "merge" else [friend, munich, stale]
        with pytest.raises(StalePlan):
            world.write(request, *operations)
        with pytest.raises(LookupError):
            world.row(munich.memory_id)
        assert set(world.entities()) == {"User"}
        assert [known.version for known in world.holders(*started.slot)] == [1]

    def test_what_is_live_is_not_written_again(self, world: World) -> None:
        started = start(world)
        request = world.request("I live in Berlin.", day=1)
        each = told(request, "User lives in Berlin.", subject=started.user, predicate="lives_in", value="Berlin")
        again, friend = add(request, each), entity("Lena")
        with pytest.raises(StalePlan):
            world.write(request, friend, again)
        with pytest.raises(LookupError):
            world.row(again.memory_id)
        assert set(world.entities()) == {"User"}

    def test_two_may_swap_their_hashes(self, world: World) -> None:
        started = start(world)
        request = world.request("I work at Acme.", day=1)
        work = add(request, told(request, "User works at Acme.", subject=started.user, predicate="works_at"))
        world.write(request, work)
        swapped = {started.home.memory_id: work.canonical_hash, work.memory_id: started.home.canonical_hash}
        revisions = [
            ReviseMemory(memory_id, 1, verb="revised", changes={"canonical_hash": found})
            for memory_id, found in swapped.items()
        ]
        world.write(request, *revisions)
        (home,), (job,) = world.holders(*started.slot), world.holders(started.user.entity.id, "works_at")
        assert {home.id: home.canonical_hash, job.id: job.canonical_hash} == swapped

    def test_a_revision_changes_named_fields(self, world: World) -> None:
        started = start(world)
        request = world.request("Forget that.", day=2)
        revision = ReviseMemory(
            memory_id=started.home.memory_id,
            expected_version=1,
            verb="retracted",
            changes={"status": Status.RETRACTED, "valid_until": LATER},
        )
        world.write(request, revision)
        row = world.row(started.home.memory_id)
        assert (row.status, row.version, row.valid_until, row.content) == (
            Status.RETRACTED, 2, LATER, "User lives in Berlin.",
        )  # fmt: skip
        assert world.holders(*started.slot) == ()

    def test_a_memory_takes_topic_and_metadata_of_its_request(self, world: World) -> None:
        started = start(world)
        request = replace(world.request("I like tea."), topic="food", metadata={"agent": "cook"})
        tea = add(request, told(request, "User likes tea.", subject=started.user))
        world.write(request, tea)
        stored = world.row(tea.memory_id)
        assert (stored.topic, stored.metadata) == ("food", {"agent": "cook"})
