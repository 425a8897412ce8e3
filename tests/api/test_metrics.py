"""/readyz and /metrics report the same queued work and workers."""

import pytest
from django.test import Client as DjangoClient
from django.utils import timezone

from apps.intake.accept import Submission, accept
from apps.memories.models import EvaluationLabel
from apps.outbox.models import ModelPause, OutboxRow, WorkerHeartbeat
from apps.pipeline.core.enums import Role, WorkState
from apps.pipeline.core.identifiers import Prefix, new_id, show
from apps.pipeline.core.turn import NewTurn
from apps.tenants.models import Project
from tests.tuning.evaluation.evaluated import drawn, told

pytestmark = pytest.mark.django_db


def _ready() -> dict[str, object]:
    return DjangoClient().get("/readyz").json()


def _metrics() -> dict[str, float]:
    text = DjangoClient().get("/metrics", headers={"Accept": "text/plain"}).content.decode()
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def _beat(*, ago: float = 0.0) -> None:
    seen = timezone.now() - timezone.timedelta(seconds=ago)
    WorkerHeartbeat.objects.create(worker=new_id(), host="here", pid=1, seen_at=seen)


def _owe(project: Project) -> None:
    turns = (NewTurn(role=Role.USER, content="I live in Oslo."),)
    accept(submission=Submission(project_id=project.id, api_key_id=None, user_id="ana", session_id="one", turns=turns))


@pytest.mark.parametrize(("ago", "status", "alive"), [(0.0, "ok", 1), (160.0, "degraded", 0)])
def test_a_worker_that_was_not_seen_for_two_looks_is_not_alive(ago: float, status: str, alive: int) -> None:
    _beat(ago=ago)
    assert (_ready()["status"], _ready()["workers_alive"]) == (status, alive)
    metrics = _metrics()
    assert metrics["memplatform_workers_alive"] == alive
    assert metrics["memplatform_degraded"] == (status != "ok")


def test_queued_work_is_counted_by_kind(project: Project) -> None:
    _owe(project)
    assert _metrics()['memplatform_queued_rows{kind="run_pipeline"}'] == 1


def test_dead_work_degrades(project: Project) -> None:
    _beat()
    _owe(project)
    OutboxRow.objects.update(state=WorkState.DEAD)
    assert _ready()["status"] == "degraded"
    assert _metrics()["memplatform_dead_rows"] == 1


def test_a_model_that_does_not_answer_degrades_and_is_named(project: Project, other_project: Project) -> None:
    _beat()
    since = timezone.now() - timezone.timedelta(seconds=90)
    for each in (project, other_project):
        ModelPause.objects.create(
            project=each, model="openai:down", kind="model", since=since, until=since, error="sk-not-for-everybody"
        )
    ready = _ready()
    (paused,) = ready["paused_models"]
    assert (ready["status"], paused["model"], paused["projects"]) == ("degraded", "openai:down", 2)
    assert paused["since"].startswith(f"{since:%Y-%m-%dT%H:%M}")
    assert "sk-not" not in str(ready)
    labels = f'{{model="openai:down",project="{show(Prefix.PROJECT, project.id)}"}}'
    metrics = _metrics()
    assert metrics[f"memplatform_model_paused{labels}"] == 1
    assert metrics[f"memplatform_model_paused_seconds{labels}"] >= 90
    assert metrics["memplatform_degraded"] == 1


def test_the_figures_of_the_latest_labelled_week_are_told(project: Project, other_project: Project) -> None:
    told(project)
    names = {"memory": ("good", "good"), "turn": ("nothing", "something")}
    for kind, sample in drawn(project).items():
        for item in sample.items.order_by("position")[:2]:
            for who, value in zip(("person:1", "person:2"), names[kind], strict=True):
                EvaluationLabel.objects.create(end_user=item.end_user, item=item, labeller=who, value=value)
    memory = EvaluationLabel.objects.filter(item__memory__isnull=False)
    memory.filter(labeller="person:2").update(value="untrue")
    told_of = f'{{project="{show(Prefix.PROJECT, project.id)}"}}'
    metrics = _metrics()
    assert metrics[f"memplatform_evaluation_precision{told_of}"] == 0
    assert metrics[f"memplatform_evaluation_recall{told_of}"] == 0
    assert metrics[f"memplatform_evaluation_zero_extraction{told_of}"] == 0.25
    assert metrics[f'memplatform_evaluation_kappa{{kind="turn",project="{show(Prefix.PROJECT, project.id)}"}}'] == 0
    assert not [name for name in metrics if show(Prefix.PROJECT, other_project.id) in name]
