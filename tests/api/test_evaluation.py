"""Evaluation over the REST interface: samples are drawn and labelled, figures read, labels exported."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.pipeline.core.enums import Scope
from apps.tenants.models import Project
from apps.tuning.evaluation.samples import week_of
from tests.conftest import MakeClient
from tests.streamed import streamed
from tests.tuning.evaluation.evaluated import told

pytestmark = pytest.mark.django_db
URL = "/v1/evaluation"


@pytest.fixture
def admin(admin: APIClient, project: Project) -> APIClient:
    told(project)
    return admin


def items(admin: APIClient) -> list[dict[str, Any]]:
    """Draw samples and return all their items, memories first."""
    made = admin.post(f"{URL}/samples", {"seed": 7})
    assert made.status_code == 201, made.content
    samples = made.json()["results"]
    assert [(each["kind"], each["population"], each["drawn"], each["labelled"]) for each in samples] == [
        ("memory", 3, 3, 0),
        ("turn", 2, 2, 0),
    ]
    return [item for each in samples for item in admin.get(f"{URL}/samples/{each['id']}/items").json()["results"]]


def label(admin: APIClient, item: dict[str, Any], value: str) -> Any:
    return admin.post(f"{URL}/items/{item['id']}/labels", {"value": value})


def test_from_a_draw_to_figures(admin: APIClient) -> None:
    found = items(admin)
    for item, value in zip(found, ("good", "good", "outdated", "nothing", "something"), strict=True):
        made = label(admin, item, value)
        assert (made.status_code, made.json()["value"]) == (201, value)
        assert made.json()["labeller"]["kind"] == "key"
    figures = admin.get(URL).json()
    week = week_of(timezone.now()).isoformat()
    assert [*figures["weeks"]] == [week]
    assert figures["weeks"][week]["precision"] == figures["total"]["precision"]
    assert figures["total"]["precision"]["value"] == pytest.approx(2 / 3)
    assert figures["total"]["recall"]["value"] == pytest.approx(2 / (2 + 1))
    assert figures["total"]["zero_extraction"]["value"] == pytest.approx(1 / 4)
    assert figures["total"]["failures"] == {"outdated": 1}
    assert figures["versions"]["1"]["recall"] == figures["total"]["recall"]
    assert figures["models"].keys() == {"plain"}
    assert figures["memory_types"].keys() == {"fact", "preference"}
    assert figures["warnings"] == []
    assert figures["retrieval"]["told"] == 0
    listed = admin.get(f"{URL}/samples?kinds=memory").json()["results"]
    assert [(each["kind"], each["labelled"]) for each in listed] == [("memory", 3)]


def test_labels_are_exported_as_lines(admin: APIClient) -> None:
    first, *_, last = items(admin)
    label(admin, first, "good")
    label(admin, last, "skipped")
    answer: Any = admin.get(f"{URL}/labels")
    *lines, end = [json.loads(line) for line in streamed(answer).decode().splitlines()]
    assert end == {"kind": "end"}
    assert [(line["item_id"], line["kind"], line["content"], line["value"]) for line in lines] == [
        (first["id"], "memory", first["content"], "good"),
        (last["id"], "turn", last["content"], "skipped"),
    ]
    assert lines[0]["user_id"] == "ana"
    assert lines[0]["model"] == "plain"


def test_a_key_replaces_its_own_label(admin: APIClient) -> None:
    first = items(admin)[0]
    label(admin, first, "good")
    label(admin, first, "useless")
    (sample, *_) = admin.get(f"{URL}/samples?kinds=memory").json()["results"]
    shown = admin.get(f"{URL}/samples/{sample['id']}/items?limit=1").json()["results"][0]
    assert [each["value"] for each in shown["labels"]] == ["useless"]


def test_an_unknown_item_or_sample_is_not_found(
    admin: APIClient, other_project: Project, client_of: MakeClient
) -> None:
    first = items(admin)[0]
    stranger = client_of(other_project, Scope.ADMIN)
    (sample, *_) = admin.get(f"{URL}/samples").json()["results"]
    assert label(stranger, first, "good").status_code == 404
    assert stranger.get(f"{URL}/samples/{sample['id']}/items").status_code == 404
    assert stranger.get(f"{URL}/samples").json()["results"] == []
    answer: Any = stranger.get(f"{URL}/labels")
    assert json.loads(streamed(answer)) == {"kind": "end"}


@pytest.mark.parametrize(
    "body",
    [
        {"seed": -1},
        {"seed": "x"},
        {"since": "2020-01-01", "until": "2020-12-31"},
        {"since": "2020-02-01", "until": "2020-01-01"},
        {"since": "2020-01-01", "until": "2020-01-08"},
        {"size": 5},
    ],
)
def test_what_can_not_be_drawn_is_refused(admin: APIClient, body: dict[str, Any]) -> None:
    assert admin.post(f"{URL}/samples", body).status_code == 422
    assert admin.get(f"{URL}/samples").json()["results"] == []


def test_what_does_not_fit_an_item_is_refused(admin: APIClient) -> None:
    first, *_, last = items(admin)
    assert [label(admin, *each).status_code for each in ((first, "nothing"), (last, "good"), (first, "odd"))] == [
        422
    ] * 3
    assert admin.get(f"{URL}?weeks=0").status_code == 422


def test_figures_are_of_the_last_weeks(admin: APIClient) -> None:
    until = timezone.now() - timedelta(weeks=20)
    assert admin.get(f"{URL}?weeks=2").json()["weeks"] == {}
    assert admin.post(f"{URL}/samples", {"until": until.isoformat()}).status_code == 422
