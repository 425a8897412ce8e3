"""A replay is estimated, started, cancelled and resumed; it writes nothing but its own result."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from apps.common.errors import Conflict, NotFound, Unfit
from apps.intake.sessions import delete_session
from apps.pipeline.core.enums import TraceStatus
from apps.pipeline.core.identifiers import new_id
from apps.privacy.users import erase_user
from apps.projects.services import configure
from apps.tenants.models import Project
from apps.traces.models import Replay, ReplayedState, ReplayedTrace, ReplayState, Trace
from apps.traces.policies import active_policy
from apps.tuning.replays import services as running
from apps.tuning.replays import services as starting
from apps.tuning.replays.services import (
    TraceChoice,
    cancel_replay,
    continue_replays,
    request_replay,
    run_replay,
    start_replay,
)
from tests.tuning.replays.replay_helper import stored
from tests.tuning.replays.test_replay_user import stricter
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(project: Project) -> list[Person]:
    made = [Person(project, name) for name in ("ana", "ben", "kim")]
    for person in made:
        person.says("I live in Lisbon.", "thanks!")
        person.says("I love green tea.")
        while person.is_worked_for():
            pass
    return made


def requested(project: Project, *, version: int | None = None, choice: TraceChoice | None = None) -> Replay:
    return request_replay(project_id=project.pk, choice=choice, version=version)


def strict_version(project: Project) -> int:
    return configure(project_id=project.pk, policy=stricter(active_policy(project_id=project.pk), "lisbon")).number


def test_the_sums_are_those_of_the_traces(project: Project, people: list[Person]) -> None:
    before = [stored(person.id) for person in people]
    replay = requested(project, version=strict_version(project))
    assert (replay.state, replay.traces_total, replay.estimate["new_calls_at_most"]) == ("estimated", 6, 0)

    replay = start_replay(project_id=project.pk, replay_id=replay.pk)

    assert (replay.state, replay.traces_done) == (ReplayState.DONE, 6)
    # The end user is first mentioned by the second trace of each, which becomes different, too.
    names = ("different", "turns_dropped", "memories_removed", "entities_added", "entities_removed")
    assert {name: replay.totals[name] for name in names} == {
        "different": 6,
        "turns_dropped": 3,
        "memories_removed": 3,
        "entities_added": 3,
        "entities_removed": 6,
    }
    first = ReplayedTrace.objects.filter(replay=replay, state=ReplayedState.DIFFERENT, position=0)
    assert {row.diff["turns"][0]["after"] for row in first} == {"pattern:stricter"}
    assert [stored(person.id) for person in people] == before


def test_under_the_own_versions_nothing_differs(project: Project, people: list[Person]) -> None:
    strict_version(project)  # active by now, which a replay of older traces does not see
    replay = requested(project)
    replay = start_replay(project_id=project.pk, replay_id=replay.pk)
    assert {name: replay.totals.get(name, 0) for name in ("same", "different", "missed")} == {
        "same": 6,
        "different": 0,
        "missed": 0,
    }


def test_traces_are_chosen(project: Project, people: list[Person]) -> None:
    trace = Trace.objects.filter(end_user_id=people[0].id).earliest("created_at")
    choices = (
        (TraceChoice(user_id="ana"), 2),
        (TraceChoice(user_id="ana", session_id="monday"), 2),
        (TraceChoice(trace_ids=(trace.id,)), 2),  # they were extracted together
        (TraceChoice(until=timezone.now()), 6),
    )
    for choice, traces in choices:
        assert requested(project, choice=choice).traces_total == traces
    assert requested(project, choice=TraceChoice(sample=1)).traces_total == 2


@pytest.mark.parametrize(
    "choice",
    [
        TraceChoice(user_id="nobody"),
        TraceChoice(since=timezone.now() + timedelta(days=1)),
        TraceChoice(session_id="monday"),
        TraceChoice(trace_ids=(new_id(),)),
    ],
)
def test_a_choice_that_fits_nothing_is_refused(project: Project, people: list[Person], choice: TraceChoice) -> None:
    with pytest.raises(Unfit):
        requested(project, choice=choice)
    assert not Replay.objects.exists()


def test_a_version_and_a_replay_of_another_project_are_not_found(project: Project, people: list[Person]) -> None:
    with pytest.raises(NotFound):
        requested(project, version=99)
    replay = requested(project)
    for act in (start_replay, cancel_replay):
        with pytest.raises(NotFound):
            act(project_id=new_id(), replay_id=replay.pk)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, OperationalError])
def test_what_is_done_is_not_done_again_after_a_kill_or_an_outage(
    project: Project, people: list[Person], monkeypatch: pytest.MonkeyPatch, interruption: type[BaseException]
) -> None:
    monkeypatch.setattr(running, "CHUNK_RUNS", 1)
    replay = requested(project, version=strict_version(project))
    Replay.objects.filter(id=replay.pk).update(state=ReplayState.WAITING, started_at=timezone.now())
    written: list[int] = []
    write = running._write

    def killed_later(replay: Replay, rows: list[ReplayedTrace]) -> None:
        write(replay, rows)
        written.append(len(rows))
        if len(written) == 3:
            raise interruption

    monkeypatch.setattr(running, "_write", killed_later)
    with pytest.raises(interruption):
        run_replay(replay_id=replay.pk)
    replay.refresh_from_db()
    assert (replay.state, replay.traces_done) == (ReplayState.RUNNING, 3)

    run_replay(replay_id=replay.pk)  # another process has its lease
    assert sum(written) == 3
    Replay.objects.filter(id=replay.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
    run_replay(replay_id=replay.pk)
    replay.refresh_from_db()
    assert (replay.state, replay.traces_done, sum(written)) == (ReplayState.DONE, 6, 6)
    assert (replay.totals["different"], replay.totals["turns_dropped"]) == (6, 3)


def test_it_is_cancelled_between_chunks_and_resumed(
    project: Project, people: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "CHUNK_RUNS", 1)
    replay = requested(project)
    write = running._write

    def cancelled_meanwhile(*given: Any) -> None:
        write(*given)
        cancel_replay(project_id=project.pk, replay_id=replay.pk)

    with monkeypatch.context() as patched:
        patched.setattr(running, "_write", cancelled_meanwhile)
        stopped = start_replay(project_id=project.pk, replay_id=replay.pk)
    assert (stopped.state, stopped.traces_done) == (ReplayState.CANCELLED, 1)

    resumed = start_replay(project_id=project.pk, replay_id=replay.pk)
    assert (resumed.state, resumed.traces_done, resumed.totals["same"]) == (ReplayState.DONE, 6, 6)
    for act in (start_replay, cancel_replay):
        with pytest.raises(Conflict):
            act(project_id=project.pk, replay_id=replay.pk)


def test_many_traces_are_left_to_a_worker_and_continued(
    project: Project, people: list[Person], monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    queued: list[object] = []
    monkeypatch.setattr(starting, "IMMEDIATE_TRACES", 1)
    monkeypatch.setattr(starting, "queue_task", lambda *given, **_: queued.append(given))
    replay = requested(project)
    with django_capture_on_commit_callbacks(execute=True):
        started = start_replay(project_id=project.pk, replay_id=replay.pk)
    assert (started.state, queued) == (ReplayState.WAITING, [("replay", str(replay.pk))])
    assert continue_replays() == 0
    Replay.objects.filter(id=replay.pk).update(started_at=timezone.now() - timedelta(minutes=5))
    assert (continue_replays(), len(queued)) == (1, 2)


def test_what_was_deleted_meanwhile_is_left_out(project: Project, people: list[Person]) -> None:
    replay = requested(project, choice=TraceChoice(user_id="ana"))
    delete_session(project_id=project.pk, user_id="ben", session_id="monday")
    requeued = Trace.objects.filter(end_user_id=people[0].id).latest("created_at")
    Trace.objects.filter(id=requeued.id).update(status=TraceStatus.QUEUED)
    replay = start_replay(project_id=project.pk, replay_id=replay.pk)
    assert (replay.state, replay.totals["same"], replay.totals["failed"]) == (ReplayState.DONE, 1, 1)


def test_an_erasure_leaves_nothing_of_the_user(project: Project, people: list[Person]) -> None:
    replay = requested(project, version=strict_version(project), choice=TraceChoice(user_id="ana"))
    start_replay(project_id=project.pk, replay_id=replay.pk)
    assert ReplayedTrace.objects.filter(end_user_id=people[0].id).exists()
    erase_user(project_id=project.pk, user_id="ana")
    replay.refresh_from_db()
    assert not ReplayedTrace.objects.filter(end_user_id=people[0].id).exists()
    assert replay.choice == {}
