"""The page of alerts, the dashboard's alerts and the page of recipients."""

import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from apps.alerts.api import AlertSerializer
from apps.alerts.enums import AlertEvent, AlertState, ProblemCode
from apps.alerts.messages import mail_text, webhook_body
from apps.alerts.models import Alert, AlertDelivery, AlertRecipients
from apps.alerts.services import evaluate_alerts
from apps.alerts.verdict import ALERTS
from apps.memories.models import LedgerEntry
from apps.outbox.models import WorkerHeartbeat
from apps.pipeline.core.enums import Scope
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from tests.alerts.alert_rows import MINUTE, alert, beat, pause, work
from tests.conftest import MakeClient
from tests.console.members import HOME, member, text_of

HOOK = "https://example.com/hook"


@pytest.fixture
def admin(project: Project) -> Client:
    return member("ada", project, MemberRole.ADMIN)


def test_an_outage_is_told_once_on_each_page_with_what_mends_it(project: Project, admin: Client) -> None:
    now = timezone.now()
    beat()
    pause(project, since=now - 6 * MINUTE)
    work(project, since=now - 6 * MINUTE)
    evaluate_alerts()
    for path in ("alerts/", "dashboard/"):
        page = text_of(admin, path)
        assert "The model openai:down has not answered since" in page
        assert "1 request waits for it" in page
        assert f'<a class="button" href="{HOME}queue/">' in page
        assert page.count('class="alert-card') == 1, path
    assert 'id="count-page-alerts">1</span>' in text_of(admin, "queue/")


@pytest.mark.parametrize("path", ["alerts/", "dashboard/"])
def test_a_young_outage_is_shown_before_anybody_is_told(project: Project, admin: Client, path: str) -> None:
    beat()
    assert "Everything works" in text_of(admin, path)
    pause(project, since=timezone.now())
    evaluate_alerts()
    page = text_of(admin, path)
    assert page.count("The model openai:down has not answered") == 1
    assert "Everything works" not in page
    assert not Alert.objects.exists()


def test_the_verdict_does_not_judge_ratios_without_messages(project: Project, admin: Client) -> None:
    beat()
    assert "there is too little to judge the ratios by" in text_of(admin, "dashboard/")


def test_the_dashboard_says_when_nobody_checks_for_alerts(project: Project, admin: Client) -> None:
    assert "No worker is running" in text_of(admin, "dashboard/")
    WorkerHeartbeat.objects.all().delete()
    beat()
    assert "No worker is running" not in text_of(admin, "dashboard/")


def test_each_kind_of_alert_says_what_to_do(project: Project, admin: Client, subtests: pytest.Subtests) -> None:
    """In a sentence of its own, on the page, in mails, webhooks and the answers of the API."""
    remedies = []
    for kind in ALERTS:
        with subtests.test(kind=kind):
            raised = alert(project, kind)
            opened = AlertDelivery(project=project, alert=raised, event=AlertEvent.OPENED)
            remedies.append(webhook_body(opened)["data"]["remedy"])
            assert len(remedies[-1].split()) > 2
            assert remedies[-1].endswith(".")
            assert escape(remedies[-1]) in text_of(admin, f"alerts/?kind={kind}").partition('aria-label="Alerts"')[2]
            assert remedies[-1] in mail_text(opened)
            assert remedies[-1] == AlertSerializer(raised).data["remedy"]
    assert len(set(remedies)) == len(ALERTS) > 5


def test_what_is_wrong_now_says_what_to_do(project: Project, admin: Client) -> None:
    assert "Start a cluster." in text_of(admin, "alerts/")


def test_alerts_are_filtered_by_state_and_kind(project: Project, admin: Client) -> None:
    alert(project, cause="It is open.")
    alert(project, ProblemCode.DEAD_WORK, state=AlertState.ACKNOWLEDGED, cause="It is acknowledged.")  # newer
    alert(project, state=AlertState.RESOLVED, resolved_at=timezone.now(), cause="It is over.")

    def shown(query: str) -> list[str]:
        page = text_of(admin, f"alerts/{query}")
        return re.findall(r"It is [a-z]+\.", page)

    assert shown("") == ["It is open.", "It is acknowledged."]
    assert shown("?state=acknowledged") == ["It is acknowledged."]
    assert shown("?state=resolved") == ["It is over."]
    assert shown("?kind=dead_work") == ["It is acknowledged."]
    assert shown("?kind=dead_work&state=open") == []


def test_an_alert_is_acknowledged_with_a_note(project: Project, admin: Client) -> None:
    opened = alert(project)
    page = admin.post(f"{HOME}alerts/{opened.pk}/acknowledge/", {"note": "the vendor knows"}, follow=True)
    assert "Acknowledged by ada" in page.content.decode()
    assert "the vendor knows" in page.content.decode()
    again = admin.post(f"{HOME}alerts/{opened.pk}/acknowledge/", {"note": "me, too"}, follow=True)
    assert "the alert is acknowledged already" in again.content.decode()
    assert Alert.objects.get().note == "the vendor knows"


def test_viewers_see_alerts_and_can_not_acknowledge(project: Project) -> None:
    opened, viewer = alert(project), member("vic", project, MemberRole.VIEWER)
    page = text_of(viewer, "alerts/")
    assert opened.cause in page
    assert "Acknowledge</button>" not in page
    assert "Recipients" not in page


def test_recipients_are_saved_and_a_secret_is_shown_once(project: Project, admin: Client) -> None:
    form = {"webhook_url": HOOK, "mail_addresses": "ops@example.com\r\n\r\nlead@example.com"}
    saved = admin.post(f"{HOME}alerts/recipients/", form).content.decode()
    recipients = AlertRecipients.objects.get()
    assert recipients.mail_addresses == ["ops@example.com", "lead@example.com"]
    assert escape(recipients.webhook_secret) in saved
    assert admin.post(f"{HOME}alerts/recipients/", form).status_code == 302
    page = text_of(admin, "alerts/recipients/")
    assert "whsec_" not in page
    assert HOOK in page


def test_an_alert_that_a_key_has_acknowledged_shows_the_name_of_the_key(
    project: Project, admin: Client, client_of: MakeClient
) -> None:
    alert(project)
    caller = client_of(project, Scope.ADMIN)
    (listed,) = caller.get("/v1/alerts").json()["results"]
    assert caller.post(f"/v1/alerts/{listed['id']}/acknowledge", {"note": "on it"}).status_code == 200
    page = text_of(admin, "alerts/")
    assert "Acknowledged by key made" in page
    assert "key:" not in page


def run(*words: str) -> list[str]:
    out = StringIO()
    call_command("alert_recipients", *words, stdout=out)
    return out.getvalue().splitlines()


def test_recipients_by_command(project: Project) -> None:
    assert run("list", "test") == []
    assert run("add", "test", "ops@example.org") == ["ops@example.org"]
    secret, *known = run("add", "test", HOOK)
    assert secret.startswith("secret of the webhook, shown only now: whsec_")
    assert known == [HOOK, "ops@example.org"]
    assert run("remove", "test", HOOK) == ["ops@example.org"]
    assert run("list", "test") == ["ops@example.org"]
    assert LedgerEntry.objects.filter(verb="alert_recipients_set").count() == 3


@pytest.mark.parametrize(
    "words",
    [
        ("add", "test"),
        ("list", "test", "ops@example.org"),
        ("add", "nothing", "ops@example.org"),
        ("add", "test", "no address"),
        ("add", "test", "http://example.com"),
        ("remove", "test", "ops@example.org"),
    ],
)
def test_recipients_that_make_no_sense_are_refused(project: Project, words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        run(*words)
    assert not AlertRecipients.objects.filter(project=project).exclude(webhook_url="", mail_addresses=[]).exists()
