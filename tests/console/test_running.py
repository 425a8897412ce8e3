"""The pages to observe and run a project: contents and buttons."""

import re

import pytest
from django.test import Client

from apps.traces.models import HourlyTally
from tests.console.members import text_of

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


def test_viewers_look_but_have_no_buttons(viewer: Client, subtests: pytest.Subtests) -> None:
    for path in OPEN_TO_ALL:
        with subtests.test(path=path):
            page = text_of(viewer, path)
            for action in ("/switch/", "/restore/", "/discard/", "Save as new version", "New rule"):
                assert action not in page


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
