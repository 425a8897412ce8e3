"""Alerts and their recipients over the REST interface."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from apps.alerts.enums import AlertState, ProblemCode
from apps.alerts.models import Alert, AlertRecipients
from apps.tenants.models import Project
from tests.alerts.alert_rows import alert

HOOK = "https://example.com/hook"


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [each["id"] for each in answer.json()["results"]]


def test_alerts_are_listed_by_state_and_kind(project: Project, other_project: Project, client: APIClient) -> None:
    first = alert(project)
    second = alert(project, ProblemCode.DEAD_WORK, state=AlertState.ACKNOWLEDGED)
    third = alert(project, ProblemCode.DEAD_WORK, state=AlertState.RESOLVED, resolved_at=timezone.now())
    alert(other_project)
    assert ids(client.get("/v1/alerts")) == [second.shown_id, first.shown_id]
    assert ids(client.get("/v1/alerts?statuses=resolved&statuses=open")) == [third.shown_id, first.shown_id]
    assert ids(client.get("/v1/alerts?kinds=dead_work")) == [second.shown_id]
    answer = client.get("/v1/alerts?limit=1").json()
    assert ids(client.get(answer["next"])) == [first.shown_id]
    shown = client.get("/v1/alerts?kinds=work_late").json()["results"][0]
    assert (shown["remedy"], shown["note"]) == ("See what it waits for, or start more workers.", None)


@pytest.mark.parametrize("query", ["statuses=closed", "kinds=x", "limit=0", "cursor=x", "user_id=ana"])
def test_invalid_filters_are_refused(client: APIClient, query: str) -> None:
    assert client.get(f"/v1/alerts?{query}").status_code == 422


def test_an_alert_is_acknowledged_once(project: Project, admin: APIClient) -> None:
    url = f"/v1/alerts/{alert(project).shown_id}/acknowledge"
    headers = {"Idempotency-Key": "k"}
    first, again = (admin.post(url, {"note": "on\u202e it"}, headers=headers) for _ in range(2))
    assert (first.status_code, first.json()) == (200, again.json())
    found = first.json()
    assert (found["status"], found["note"], found["acknowledged_by"]["kind"]) == ("acknowledged", "on it", "key")
    assert admin.post(url, {}).json()["code"] == "conflict"


def test_alerts_of_others_can_not_be_acknowledged(other_project: Project, admin: APIClient) -> None:
    for alert_id in (alert(other_project).shown_id, "alr_x", "alr_" + "0" * 32):
        assert admin.post(f"/v1/alerts/{alert_id}/acknowledge", {}).json()["code"] == "not_found"
    assert Alert.objects.get().state == AlertState.OPEN


def test_recipients_are_replaced_and_the_secret_is_shown_once(project: Project, admin: APIClient) -> None:
    nobody = {"webhook_url": "", "mail_addresses": [], "webhook_secret": None}
    assert admin.get("/v1/alert-recipients").json() == nobody
    body = {"webhook_url": HOOK, "mail_addresses": ["ops@example.com"]}
    made = admin.put("/v1/alert-recipients", body).json()
    assert made == {**body, "webhook_secret": AlertRecipients.objects.get().webhook_secret}
    assert admin.get("/v1/alert-recipients").json() == {**body, "webhook_secret": None}
    assert admin.put("/v1/alert-recipients", body).json()["webhook_secret"] is None
    assert admin.put("/v1/alert-recipients", {}).json() == nobody


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"webhook_url": "http://example.com"}, "/webhook_url"),
        ({"webhook_url": "https://example.com/\x00"}, "/webhook_url"),
        ({"mail_addresses": ["nobody"]}, "/mail_addresses/0"),
        ({"mail_addresses": ["a@b.com"] * 21}, "/mail_addresses"),
        ({"webhook_secret": "mine"}, "/webhook_secret"),
    ],
)
def test_invalid_recipients_are_refused(admin: APIClient, body: dict[str, Any], pointer: str) -> None:
    answer = admin.put("/v1/alert-recipients", body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    assert not AlertRecipients.objects.exists()


def test_open_alerts_are_counted_by_kind(project: Project, other_project: Project) -> None:
    for each in (project, other_project):
        alert(each)
    alert(project, ProblemCode.DEAD_WORK, state=AlertState.ACKNOWLEDGED)
    text = Client().get("/metrics", headers={"Accept": "text/plain"}).content.decode()
    assert 'memplatform_alerts_open{kind="work_late"} 2.0' in text
    assert 'memplatform_alerts_open{kind="dead_work"} 0.0' in text
