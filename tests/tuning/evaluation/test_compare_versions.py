"""Versions are compared on labelled items by replays of their traces."""

import pytest

from apps.common.errors import NotFound, Unfit
from apps.memories.models import EvaluationItem, Memory
from apps.pipeline.core.enums import LabelValue
from apps.projects.services import configure
from apps.tenants.models import Project
from apps.traces.models import Replay, ReplayState
from apps.traces.policies import active_policy
from apps.tuning.evaluation.samples import label_item
from apps.tuning.evaluation.versions import JudgedCase, compare_versions, score_replay
from benchmarks.model_server import ModelServer
from tests.tuning.evaluation.evaluated import drawn, told
from tests.tuning.replays.test_replay_user import stricter
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db
GOOD_KEPT, BAD_DROPPED, MISSED_FOUND, NOTHING_ADDED = JudgedCase


@pytest.fixture
def versions(project: Project) -> list[int]:
    """Under the first version a rule drops what is said about tea, and a memory about Lisbon is stored."""
    usual = active_policy(project_id=project.pk)
    first = configure(project_id=project.pk, policy=stricter(usual, "tea"))
    told(project)
    Person(project, "ben").says("My dog is called Rex.")
    Person(project, "ben").is_worked_for()
    second = configure(project_id=project.pk, policy=stricter(usual, "lisbon|rex"))
    return [first.number, second.number]


def label_all(project: Project) -> None:
    drawn(project)
    for item in EvaluationItem.objects.select_related("memory", "turn"):
        is_bad = "Lisbon" in item.content or "tea" in item.content
        values = (LabelValue.GOOD, LabelValue.UNTRUE) if item.memory else (LabelValue.NOTHING, LabelValue.SOMETHING)
        label_item(project_id=project.pk, item_id=item.pk, value=values[is_bad])


def shares(replay: Replay) -> dict[JudgedCase, tuple[float, float]]:
    score = score_replay(replay=replay)
    assert score.not_replayed == 0
    return {case: (share.part, share.whole) for case, share in score.shares.items()}


def test_each_version_is_scored_on_the_same_items(project: Project, versions: list[int]) -> None:
    label_all(project)
    before = list(Memory.objects.order_by("id").values_list("content", "status", "version"))
    first, second = compare_versions(project_id=project.pk, versions=versions)
    assert (first.state, second.state, first.is_isolated) == (ReplayState.DONE, ReplayState.DONE, True)
    assert shares(first) == {GOOD_KEPT: (2, 2), BAD_DROPPED: (0, 1), MISSED_FOUND: (0, 1), NOTHING_ADDED: (2, 2)}
    assert shares(second) == {GOOD_KEPT: (1, 2), BAD_DROPPED: (1, 1), MISSED_FOUND: (1, 1), NOTHING_ADDED: (2, 2)}
    assert list(Memory.objects.order_by("id").values_list("content", "status", "version")) == before


def test_without_labels_there_is_nothing_to_compare(project: Project, versions: list[int]) -> None:
    drawn(project)
    with pytest.raises(Unfit):
        compare_versions(project_id=project.pk, versions=versions)


@pytest.mark.parametrize(("named", "raises"), [((), Unfit), ((1, 1, 1, 1, 1), Unfit), ((1, 99), NotFound)])
def test_versions_have_to_exist(
    project: Project, versions: list[int], named: tuple[int, ...], raises: type[Exception]
) -> None:
    label_all(project)
    with pytest.raises(raises):
        compare_versions(project_id=project.pk, versions=named)
    assert not Replay.objects.exists()


def test_what_costs_money_is_only_estimated(project: Project, versions: list[int], model_server: ModelServer) -> None:
    label_all(project)
    found = compare_versions(project_id=project.pk, versions=versions, allows_live_calls=True)
    assert [(each.state, each.allows_live_calls) for each in found] == [(ReplayState.ESTIMATED, True)] * 2
