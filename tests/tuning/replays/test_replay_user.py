"""A replay under the own version is empty; under another one it is what a fresh run would write."""

import pytest

from apps.memories.models import Memory
from apps.pipeline.core.enums import Reason, Role
from apps.pipeline.core.policy import Policy, Rule
from apps.projects.services import configure, create_project
from apps.tenants.models import Project
from apps.traces.models import Trace
from apps.traces.policies import active_policy
from apps.tuning.replays.replaying import ReplayedRun
from tests.tuning.replays.replay_helper import differences, replay_of, replayed, stored
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db

TALK = (
    "I live in Lisbon and I work as a nurse.",
    "thanks!",
    "My sister Nora lives in Ghent.",
    "I love green tea.",
    "I moved to Porto last week.",
    "She likes chess.",
    "I really love green tea.",
    "I don't like coffee any more.",
)


def talk(person: Person) -> Person:
    for place, said in enumerate(TALK):
        person.says(said, session="monday" if place < 4 else "friday")
        while person.is_worked_for():
            pass
    return person


@pytest.fixture
def ana(project: Project) -> Person:
    return talk(Person(project))


def test_a_replay_under_the_own_version_is_empty(ana: Person) -> None:
    runs, replay = replay_of(ana.id)
    assert len(runs) == len(TALK)
    assert differences(runs) == []
    assert replayed(replay) == stored(ana.id) != []


def test_a_part_starts_from_the_state_before_it(ana: Person) -> None:
    last = Trace.objects.filter(end_user_id=ana.id).order_by("-created_at").values_list("id", flat=True)
    for chosen in (list(last[:1]), list(last[:4]), list(last[2:5])):
        runs, _ = replay_of(ana.id, traces=chosen)
        assert (len(runs), differences(runs)) == (len(chosen), [])


def test_isolated_traces_start_each_from_its_own_past(ana: Person) -> None:
    runs, _ = replay_of(ana.id, is_isolated=True)
    assert differences(runs) == []


def stricter(policy: Policy, pattern: str) -> Policy:
    rule = Rule(name="stricter", reason=Reason.PATTERN, pattern=pattern, roles=(Role.USER,), order=1)
    rules = policy.pre_filter.model_copy(update={"rules": (rule, *policy.pre_filter.rules)})
    return policy.model_copy(update={"pre_filter": rules})


MORE = [pytest.param(pattern, marks=pytest.mark.soak) for pattern in ("sister", "tea")]


@pytest.mark.parametrize("pattern", ["lisbon", "porto|chess", *MORE])
def test_under_a_stricter_pre_filter_it_writes_what_a_fresh_run_writes(ana: Person, pattern: str) -> None:
    policy = stricter(active_policy(project_id=ana.project.id), pattern)
    runs, replay = replay_of(ana.id, policy=policy)

    other = create_project(name="Fresh", slug="fresh")
    configure(project_id=other.id, policy=policy)
    fresh = talk(Person(other))

    def timeless(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
        return [(content, status, confidence, version) for content, status, _, confidence, version in rows]

    assert timeless(replayed(replay)) == timeless(stored(fresh.id))
    removed = contents(runs, "removed")
    added = contents(runs, "added")
    recorded, now = ({row.content for row in Memory.objects.filter(end_user_id=each.id)} for each in (ana, fresh))
    assert recorded - now <= removed
    assert now - recorded <= added
    assert differences(runs)


def contents(runs: list[ReplayedRun], kind: str) -> set[str]:
    """Return the memories that are added newly, or no longer."""
    changes = [change for run in runs for change in run.diff.get("operations", ()) if change["kind"] == kind]
    return {each["content"] or each["before_content"] for each in changes if each["operation"] == "AddMemory"}
