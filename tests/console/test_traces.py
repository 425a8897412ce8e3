"""Traces: found and opened, and why a turn was not remembered."""

from urllib.parse import urlencode

import pytest
from django.test import Client

from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import WorkState
from apps.tenants.models import Project
from apps.traces.models import PreFilterRule, Trace, Turn
from tests.console.members import HOME, NOBODY, text_of
from tests.console.operation_rows import HOSTILE

pytestmark = pytest.mark.django_db


NUMBERS_FOUND = [
    ({}, 6),
    ({"q": "LIVES porto"}, 1),
    ({"q": "zebra"}, 0),
    ({"user": f"rui {HOSTILE}"}, 6),
    ({"user": "nobody"}, 0),
    ({"status": "rejected"}, 1),
    ({"status": "no such status"}, 6),
    ({"reason": "thanks"}, 1),
    ({"reason": "no_candidate"}, 0),
    ({"rule": "no_such_rule"}, 0),
    ({"since": "2999-01-01"}, 0),
    ({"until": "2001-01-01"}, 0),
    ({"since": "2001-02-31", "until": "long ago"}, 6),
    ({"q": "zebra\x00b\x00" * 90, "reason": "\x00"}, 0),
]


def test_traces_are_found(viewer: Client, subtests: pytest.Subtests) -> None:
    for query, expected in NUMBERS_FOUND:
        with subtests.test(query=query, expected=expected):
            assert text_of(viewer, f"traces/?{urlencode(query)}").count("data-open-row") == expected


def test_a_trace_opens_by_its_identifier(viewer: Client, full_project: Project) -> None:
    trace = Trace.objects.filter(project=full_project).latest("created_at")
    answer = viewer.get(f"{HOME}traces/?q={trace.shown_id}")
    assert answer["Location"] == f"{HOME}traces/{trace.pk}/"


def test_each_trace_shows_its_funnel_stages_and_plan(viewer: Client, full_project: Project) -> None:
    for trace in Trace.objects.filter(project=full_project):
        page = text_of(viewer, f"traces/{trace.pk}/")
        assert trace.shown_id in page
        assert "pre-filter" in page
        assert ("AddMemory" in page) == bool(trace.counts["stored"])
        assert HOSTILE not in page


def test_a_trace_of_another_project_does_not_exist(viewer: Client, other_project: Project) -> None:
    text_of(viewer, f"traces/{NOBODY}/", status=404)


BECAME = [
    ("thanks", "it only says thanks"),
    ("porto", "It was stored, and agents can use it."),
    ("live lisbon", "has since been superseded by a newer memory"),
    ("live braga", "it was retracted"),
    ("zebra", "No matching message"),
]


def test_a_turn_says_what_became_of_it(viewer: Client, subtests: pytest.Subtests) -> None:
    for words, answer in BECAME:
        with subtests.test(words=words, answer=answer):
            assert answer in text_of(viewer, f"ask/?{urlencode({'q': words})}")


def test_an_unfinished_turn_says_so(viewer: Client, full_project: Project) -> None:
    trace = Turn.objects.get(content__contains="Porto").trace
    for status, error, answer in (("queued", "", "waiting for a worker"), ("dead", "out of luck", "out of luck")):
        Trace.objects.filter(pk=trace.pk).update(status=status, error=error)
        assert answer in text_of(viewer, "ask/?q=porto")


def test_answers_are_of_the_user_that_was_named(viewer: Client) -> None:
    assert "No matching message" in text_of(viewer, "ask/?q=porto&user=someone")


@pytest.mark.parametrize(
    ("content", "sentences"),
    [
        ("thanks!", ["1 turn was accepted, and the pre-filter dropped it: 1 thanks.", "No memory was written."]),
        (
            "I moved to Braga",
            [
                "1 turn was accepted, and the pre-filter dropped none.",
                "1 candidate was extracted.",
                "Memories: 1 stored, 1 older superseded.",
                "; 1 model call cost $0.0000.",
            ],
        ),
    ],
)
def test_a_trace_says_in_sentences_what_happened(viewer: Client, content: str, sentences: list[str]) -> None:
    turn = Turn.objects.get(content__contains=content)
    page = text_of(viewer, f"traces/{turn.trace_id}/")
    for sentence in sentences:
        assert sentence in page


def test_a_turn_whose_processing_fails_says_so(viewer: Client, full_project: Project) -> None:
    trace = Turn.objects.get(content__contains="Porto").trace
    Trace.objects.filter(pk=trace.pk).update(status="queued")
    row = OutboxRow.objects.filter(subject_id=trace.pk)
    row.update(state=WorkState.PENDING, attempts=2, last_error="out of luck")
    page = text_of(viewer, "ask/?q=porto")
    assert "2 attempts failed" in page
    assert "out of luck" in page
    assert "waiting for a worker" not in page


@pytest.mark.parametrize("page", ["ask/?q=thanks", "trace"])
def test_a_rule_is_found_from_what_it_dropped_although_it_was_deleted(
    viewer: Client, full_project: Project, page: str
) -> None:
    turn = Turn.objects.get(content="thanks!")
    shown = text_of(viewer, page.replace("trace", f"traces/{turn.trace_id}/"))
    link = f"patterns/?q={turn.rejected_by}"
    assert f'href="{HOME}{link}"' in shown
    assert str(turn.rejected_by) in text_of(viewer, link)
    PreFilterRule.objects.filter(project=full_project, name=turn.rejected_by).delete()
    assert "A deleted rule" in text_of(viewer, link)


def test_a_search_for_a_user_leaves_the_person_who_is_signed_in(viewer: Client) -> None:
    assert "Sign out vic" in text_of(viewer, "ask/?q=porto&user=someone")
