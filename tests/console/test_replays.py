"""Replays in the console: a draft is replayed, its differences are read, and it is activated."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion, Replay, ReplayState, Trace
from apps.traces.policies import active_policy
from tests.console.members import member
from tests.console.operation_rows import HOSTILE

pytestmark = pytest.mark.django_db
HOME = "/console/test/"
RULE = {"name": "porto", "reason": "pattern", "pattern": "porto", "order": "1", "roles": ["user"], "enabled": "on"}


@pytest.fixture
def tess(full_project: Project) -> Client:
    Replay.objects.all().delete()
    return member("tess", full_project, MemberRole.ADMIN)


def drafted(tess: Client) -> str:
    """Save the rule as a draft, and return the page of its version."""
    return tess.post(f"{HOME}patterns/new/", {**RULE, "draft": ""}, follow=True).content.decode()


def replayed(tess: Client, version: int | str = "") -> tuple[str, Replay]:
    """Replay everything, and return the page of the result."""
    estimated = tess.post(f"{HOME}replays/new/", {"version": version}, follow=True).content.decode()
    assert "Start" in estimated
    replay = Replay.objects.latest("created_at")
    return tess.post(f"{HOME}replays/{replay.pk}/start/", follow=True).content.decode(), replay


def test_a_draft_is_replayed_and_activated(tess: Client, full_project: Project) -> None:
    assert "decides nothing until it is activated" in drafted(tess)
    page, replay = replayed(tess, 2)
    for shown in ("newly dropped: pattern:porto", "no longer", "Marta lives in Porto.", "Activate version 2"):
        assert shown in page, shown
    assert HOSTILE not in page
    assert ConfigurationVersion.objects.get(is_active=True).number == 1

    tess.post(f"{HOME}configuration/2/activate/", {"seen": 1})
    assert "porto" in {rule.name for rule in active_policy(project_id=full_project.pk).pre_filter.rules}
    version = ConfigurationVersion.objects.get(number=2)
    assert (version.is_active, version.author) == (True, User.objects.get(username="tess"))
    ConfigurationVersion.objects.filter(number=2).update(created_at=timezone.now() - timedelta(days=3))
    assert re.search(
        r"Version 2 is active, activated <time [^>]+>\d+ s ago<", tess.get(f"{HOME}configuration/").content.decode()
    )
    assert str(replay.pk) in tess.get(f"{HOME}configuration/2/").content.decode()


def test_a_replay_that_compared_nothing_says_so_and_why(tess: Client, full_project: Project) -> None:
    drafted(tess)
    draft = ConfigurationVersion.objects.get(number=2)
    counts = {"new_calls_at_most": 17, "recorded_calls": 17, "new_tokens_at_most": 900, "new_cost_usd_at_most": "3"}
    replay = Replay.objects.create(project=full_project, configuration=draft, traces_total=3, estimate=counts)
    address = f"{HOME}replays/{replay.pk}/"
    estimated = tess.get(address).content.decode()
    assert ("The model is not asked" in estimated, "New calls, at most" in estimated) == (True, False)
    assert "Calls without an answer, at most</dt><dd>17" in estimated

    done = {"state": ReplayState.DONE, "traces_done": 3}
    Replay.objects.filter(pk=replay.pk).update(**done, totals={"missed": 3})
    page = tess.get(address).content.decode()
    assert "Nothing could be compared, since no trace has a recorded answer to its prompt and the model was" in page
    assert ("Turns newly dropped" in page, "chip-good" in page) == (False, False)
    assert '<button data-key="a">' in page

    Replay.objects.filter(pk=replay.pk).update(**done, totals={"missed": 2, "same": 1})
    page = tess.get(address).content.decode()
    assert ("Nothing could be compared" in page, "Turns newly dropped" in page) == (False, True)
    assert '<button class="primary" data-key="a">' in page


def test_progress_reloads_the_page_at_the_end(tess: Client, full_project: Project) -> None:
    replay = Replay.objects.create(project=full_project, state=ReplayState.RUNNING, traces_total=9, traces_done=4)
    answer = tess.get(f"{HOME}replays/{replay.pk}/progress/")
    assert ("4 of 9" in answer.content.decode(), "HX-Refresh" in answer) == (True, False)
    Replay.objects.filter(pk=replay.pk).update(state=ReplayState.DONE, finished_at=timezone.now())
    assert tess.get(f"{HOME}replays/{replay.pk}/progress/")["HX-Refresh"] == "true"


def test_a_running_replay_is_cancelled(tess: Client, full_project: Project) -> None:
    replay = Replay.objects.create(project=full_project, state=ReplayState.RUNNING, traces_total=9)
    assert "Resume" not in tess.post(f"{HOME}replays/{replay.pk}/cancel/", follow=True).content.decode()
    replay.refresh_from_db()
    assert replay.state == ReplayState.CANCELLED
    again = tess.post(f"{HOME}replays/{replay.pk}/cancel/", follow=True)
    assert again.status_code == 200


def test_one_turn_is_tried_in_the_whole_funnel(tess: Client) -> None:
    before = Trace.objects.count()
    given = {"content": "I live in Porto. My PIN is 4711.", "user": "kim", "role": "user"}
    page = tess.post(f"{HOME}replays/what-if/", given).content.decode()
    for shown in ("AddMemory", "User lives in Porto.", "Where does User live?", "[secret:pin]", "resolve names"):
        assert shown in page, shown
    drafted(tess)
    page = tess.post(f"{HOME}replays/what-if/", {**given, "version": "2"}).content.decode()
    assert ("pattern:porto" in page, "AddMemory" in page) == (True, False)
    assert Trace.objects.count() == before


def test_settings_and_presets_become_drafts(tess: Client) -> None:
    tess.post(f"{HOME}configuration/presets/careful/")
    edited = tess.get(f"{HOME}configuration/?edit=2").content.decode()
    assert ('name="base" value="2"' in edited, "Save as new version" in edited) == (True, False)
    assert tess.post(f"{HOME}configuration/presets/wild/").status_code == 404
    page = tess.get(f"{HOME}configuration/").content.decode()
    assert "Edit draft 2" in page
    assert ConfigurationVersion.objects.get(is_active=True).number == 1
