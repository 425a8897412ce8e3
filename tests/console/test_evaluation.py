"""Evaluation in the console: samples are drawn, labelled and undone, figures shown, missed turns remembered."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.memories.models import EvaluationItem, EvaluationLabel, EvaluationSample, Memory
from apps.pipeline.core.enums import LabelValue, SampleKind
from apps.pipeline.core.identifiers import new_id
from apps.projects.services import configure
from apps.tenants.enums import MemberRole
from apps.tenants.models import Membership, Project
from apps.traces.policies import active_policy
from tests.console.members import member
from tests.tuning.evaluation.evaluated import told
from tests.tuning.replays.test_replay_user import stricter

pytestmark = pytest.mark.django_db
HOME = "/console/test/evaluation/"
MISSED = "The weather is odd today."


@pytest.fixture
def tess(project: Project) -> Client:
    told(project)
    return member("tess", project, MemberRole.REVIEWER)


def text(answer: Any) -> str:
    return str(answer.content.decode())


def label(tess: Client, item: EvaluationItem, value: str, **given: str) -> str:
    return text(tess.post(f"{HOME}items/{item.pk}/label/", {"value": value, **given}))


def drawn(tess: Client) -> dict[str, EvaluationItem]:
    """Draw samples, and return their items by sentence."""
    page = text(tess.post(f"{HOME}draw/", follow=True))
    assert "5 left for you" in page
    return {item.content: item for item in EvaluationItem.objects.select_related("memory", "turn")}


def test_without_samples_the_page_offers_to_draw(tess: Client) -> None:
    page = text(tess.get(HOME))
    assert "No samples yet" in page
    assert "Draw a sample now" in page


def test_labels_become_figures(tess: Client, project: Project) -> None:
    items = drawn(tess)
    for content, item in items.items():
        value = {SampleKind.MEMORY: "good", SampleKind.TURN: "nothing"}[item.kind]
        following = label(tess, item, "something" if content == MISSED else value)
    assert "All labelled" in following
    page = text(tess.get(HOME))
    for shown in (
        "100%",
        "44% to 100%",
        "75%",
        "3 of 3 memories are good",
        "By version",
        "too little data",
    ):
        assert shown in page, shown
    assert "Kappa" not in page
    other = member("uma", project, MemberRole.REVIEWER)
    label(other, items[MISSED], "nothing")
    label(other, next(iter(items.values())), "good")
    assert "Kappa of tess and uma" in text(tess.get(HOME))


def test_an_item_is_shown_with_its_quote_and_neighbours(tess: Client) -> None:
    items = drawn(tess)
    page = text(tess.get(f"{HOME}label/?kind=memory"))
    assert "Is it true, is it still current" in page
    assert "<mark>" in page
    page = text(tess.get(f"{HOME}label/?kind=turn"))
    for shown in ("Does it contain anything", "Why nothing was stored", "Remember this", MISSED, "I like green tea."):
        assert shown in page, shown
    assert len(items) == 5


def test_a_label_is_undone_and_its_item_shown_again(tess: Client) -> None:
    item = drawn(tess)["User lives in Lisbon."]
    following = label(tess, item, "untrue", kind="memory")
    assert "Undo “untrue”" in following
    assert f'data-item="{item.pk}"' not in following
    again = text(tess.post(f"{HOME}items/{item.pk}/undo/", {"kind": "memory"}))
    assert f'data-item="{item.pk}"' in again
    assert not EvaluationLabel.objects.exists()
    assert tess.post(f"{HOME}items/{item.pk}/undo/").status_code == 404


def test_a_missed_turn_is_remembered(tess: Client) -> None:
    item = drawn(tess)[MISSED]
    url = f"{HOME}items/{item.pk}/remember/"
    tess.post(url, {"content": "User finds the weather odd.", "type": "fact"})
    memory = Memory.objects.get(content="User finds the weather odd.")
    assert (memory.status, EvaluationLabel.objects.get().value) == ("active", LabelValue.SOMETHING)
    assert tess.post(url, {"content": "Once more.", "type": "fact"}).status_code == 409
    tess.post(f"{HOME}items/{item.pk}/undo/")
    memory.refresh_from_db()
    assert memory.status == "retracted"


@pytest.mark.parametrize(
    ("what", "given"),
    [
        ("label", {}),
        ("label", {"value": "good"}),
        ("label", {"value": "odd"}),
        ("remember", {"content": "x"}),
        ("remember", {"type": "fact"}),
        ("remember", {"content": " ", "type": "fact"}),
        ("remember", {"content": "x", "type": "odd"}),
    ],
)
def test_what_does_not_fit_is_refused(tess: Client, what: str, given: dict[str, str]) -> None:
    item = drawn(tess)[MISSED]
    before = Memory.objects.count()
    answer = tess.post(f"{HOME}items/{item.pk}/{what}/", given)
    assert (answer.status_code, "Nothing was changed" in text(answer)) == (422, True)
    assert (EvaluationLabel.objects.count(), Memory.objects.count()) == (0, before)


def test_nothing_to_draw_is_told(tess: Client) -> None:
    drawn(tess)
    assert "Nothing was drawn" in text(tess.post(f"{HOME}draw/", follow=True))
    assert EvaluationSample.objects.count() == 2


def test_what_agents_were_told_is_shown_after_thirty_days(tess: Client) -> None:
    assert "Told to agents" not in text(tess.get(HOME))
    Memory.objects.update(first_accessed=timezone.now() - timedelta(days=31))
    page = text(tess.get(HOME))
    assert "Told to agents" in page
    assert "<dt>Told</dt><dd>3</dd>" in page


def test_versions_are_compared_on_labelled_items(tess: Client, project: Project) -> None:
    items = drawn(tess)
    for content, item in items.items():
        if item.memory:
            label(tess, item, "untrue" if "Lisbon" in content else "good")
    assert "Compare versions" not in text(tess.get(HOME))
    Membership.objects.update(role=MemberRole.ADMIN)
    assert "Compare versions" in text(tess.get(HOME))
    stricter_policy = stricter(active_policy(project_id=project.pk), "lisbon")
    version = configure(project_id=project.pk, policy=stricter_policy).number
    page = text(tess.post(f"{HOME}compare/", {"version": ["1", str(version)]}, follow=True))
    assert page.count("version 1<") == page.count(f"version {version}<") == 1
    for shown in ("Good memories kept", "2 of 2 (100%)", "0 of 1 (0%)", "1 of 1 (100%)", "done"):
        assert shown in page, shown
    assert "every 2s" not in page


@pytest.mark.parametrize("versions", [[], ["99"], ["x"]])
def test_versions_that_do_not_exist_are_refused(tess: Client, versions: list[str]) -> None:
    item = drawn(tess)["User lives in Lisbon."]
    label(tess, item, "good")
    Membership.objects.update(role=MemberRole.ADMIN)
    assert "Nothing was compared" in text(tess.post(f"{HOME}compare/", {"version": versions}, follow=True))


def test_a_comparison_of_nothing_is_empty(tess: Client) -> None:
    assert "Nothing to compare" in text(tess.get(f"{HOME}comparison/?replay=x&replay={new_id()}"))
