"""The pages to observe and run a project: access, contents and buttons."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.tenants.models import Project
from apps.traces.models import HourlyTally
from tests.console.members import HOME, NOBODY, text_of
from tests.console.operation_rows import HOSTILE

pytestmark = pytest.mark.django_db
OPEN_TO_ALL = (
    "dashboard/",
    "traces/",
    "ask/?q=lisbon",
    "patterns/",
    "configuration/",
    "configuration/1/",
    "queue/",
    "alerts/",
)
FOR_ADMINS = ("patterns/new/", "patterns/rules/thanks_en/", "keys/", "members/", "alerts/recipients/")
BUTTONS = (
    "patterns/preview/",
    "patterns/rules/thanks_en/switch/",
    "patterns/rules/thanks_en/delete/",
    "configuration/change/",
    "configuration/1/restore/",
    "queue/retry/",
    "queue/try-model/",
    "queue/1/retry/",
    "queue/1/discard/",
    f"alerts/{NOBODY}/acknowledge/",
    f"keys/{NOBODY}/revoke/",
    f"keys/{NOBODY}/restore/",
    f"members/{NOBODY}/remove/",
    "members/1/viewer/restore/",
)


def test_pages_ask_the_database_little_and_show_hostile_text_as_text(
    tuner: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for path in (*OPEN_TO_ALL, *FOR_ADMINS):
        with django_assert_max_num_queries(25, info=path):
            page = text_of(tuner, path)
        assert HOSTILE not in page, path


def test_viewers_look_but_have_no_buttons(viewer: Client, subtests: pytest.Subtests) -> None:
    for path in OPEN_TO_ALL:
        with subtests.test(path=path):
            page = text_of(viewer, path)
            for action in ("/switch/", "/restore/", "/discard/", "Save as new version", "New rule"):
                assert action not in page


def test_what_is_for_admins_is_kept_from_others(viewer: Client, subtests: pytest.Subtests) -> None:
    for path in FOR_ADMINS:
        with subtests.test(path=path):
            text_of(viewer, path, status=403)


def test_buttons_are_for_admins_and_take_a_post(viewer: Client, tuner: Client, subtests: pytest.Subtests) -> None:
    for path in BUTTONS:
        with subtests.test(path=path):
            assert viewer.post(HOME + path).status_code == 403
            assert tuner.get(HOME + path).status_code == 405


def test_a_project_of_others_does_not_exist(other_project: Project, viewer: Client) -> None:
    for path in (*OPEN_TO_ALL, *FOR_ADMINS):
        assert viewer.get(f"/console/other/{path}").status_code == 404


def test_the_dashboard_counts_what_was_said(viewer: Client, subtests: pytest.Subtests) -> None:
    for given in ["1h", "24h", "7d", "30d", "12w", "no such range"]:
        with subtests.test(given=given):
            page = text_of(viewer, f"dashboard/?range={given}")
            assert "<dt>Turns</dt><dd>6</dd>" in page
            assert "reason=thanks" in page


def test_the_dashboard_shows_the_fates_of_turns(viewer: Client) -> None:
    """Of six turns, five gave a memory, and one only says thanks."""
    page = text_of(viewer, "dashboard/")
    counted = dict(re.findall(r'<span class="swatch fate-(\w+)"[^>]*></span><strong>(\d+)</strong>', page))
    assert counted == {"new": "5", "known": "0", "silent": "0", "dropped": "1", "others": "0"}
    assert '<p class="funnel-loss">− 1 <a href="#drops">dropped by the pre-filter</a></p>' in page


def test_an_empty_period_says_so_kindly(viewer: Client) -> None:
    HourlyTally.objects.all().delete()
    assert "No turns in the last 24 hours" in text_of(viewer, "dashboard/")


def test_the_configuration_names_no_files_or_libraries(viewer: Client) -> None:
    page = text_of(viewer, "configuration/")
    assert not any(word in page for word in ("rapidfuzz", "(design:", ".py"))
