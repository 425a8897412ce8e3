"""A project's policy applies to all writers of memories: the funnel, direct store and the index."""

from datetime import UTC, datetime
from typing import Any

import pytest

from apps.memories.models import Memory, MemoryVector
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import MemoryType, Reason, Role, Status
from apps.pipeline.core.policy import ConfidencePolicy, ConflictPolicy, ExtractionPolicy, IndexPolicy, Policy, Rule
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.projects.services import configure
from apps.tenants.models import Project
from apps.traces.models import PreFilterRule
from apps.tuning.rules import save_rule
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db


def stored(project: Project, new: NewMemory) -> Memory:
    (memory_id,) = store(request=StoreRequest(project.id, None, "ana", (new,)))
    return Memory.objects.get(id=memory_id)


def lives_in(place: str, *, day: int, confidence: float) -> NewMemory:
    return NewMemory(
        type=MemoryType.FACT,
        content=f"Ana lives in {place}.",
        subject=Mention("User"),
        predicate="lives_in",
        object=ObjectValue(literal=place),
        stateful=True,
        said_at=datetime(2025, 1, day, tzinfo=UTC),
        confidence=confidence,
    )


@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_index_holds_as_many_questions_as_the_project_wants(project: Project, count: int) -> None:
    configure(project_id=project.id, policy=Policy(index=IndexPolicy(questions=count)))
    person = Person(project, "ana")
    person.says("I live in Lisbon.")
    person.is_worked_for()
    assert [len(row.questions) for row in MemoryVector.objects.all()] == [count]


@pytest.mark.parametrize(
    ("policy", "confidence", "status"),
    [
        (Policy(), 0.8125, Status.ACTIVE),
        (Policy(confidence=ConfidencePolicy(review_below=0.9)), 0.8125, Status.PENDING_REVIEW),
        (Policy(confidence=ConfidencePolicy(source_weight=0.3)), 0.5125, Status.ACTIVE),
        (Policy(extraction=ExtractionPolicy(model_reliability=0.2)), 0.65, Status.ACTIVE),
    ],
)
def test_direct_store_scores_and_judges_by_the_projects_policy(
    project: Project, policy: Policy, confidence: float, status: Status
) -> None:
    configure(project_id=project.id, policy=policy)
    memory = stored(project, NewMemory(type=MemoryType.FACT, content="Ana is tall."))
    assert (memory.confidence, memory.status) == (pytest.approx(confidence), status)


@pytest.mark.parametrize(("slack", "status"), [(0.0, Status.PENDING_REVIEW), (0.3, Status.ACTIVE)])
def test_direct_store_supersedes_within_the_projects_slack(project: Project, slack: float, status: Status) -> None:
    configure(project_id=project.id, policy=Policy(conflict=ConflictPolicy(confidence_slack=slack)))
    stored(project, lives_in("Porto", day=1, confidence=0.9))
    assert stored(project, lives_in("Lisbon", day=2, confidence=0.7)).status == status


def test_every_field_of_a_rule_is_saved_again(project: Project) -> None:
    first = Rule(name="ahoy", reason=Reason.GREETING, pattern="ahoy")
    changed: dict[str, Any] = {
        "reason": Reason.FAREWELL,
        "pattern": "ahoy there",
        "phrase": True,
        "roles": (Role.USER, Role.ASSISTANT),
        "languages": ("en",),
        "enabled": False,
        "order": 7,
        "unless_answering": True,
    }
    assert {"name", *changed} == set(Rule.model_fields)
    save_rule(project_id=project.id, rule=first)
    save_rule(project_id=project.id, rule=first.model_copy(update=changed))
    assert PreFilterRule.objects.get(project=project, name="ahoy").as_rule() == first.model_copy(update=changed)
