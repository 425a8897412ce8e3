"""Recipients of messages: checked addresses, a secret that is shown once, an entry in the ledger."""

from typing import Any

import pytest

from apps.alerts.enums import AlertEvent
from apps.alerts.messages import enqueue_messages
from apps.alerts.models import AlertDelivery, AlertRecipients
from apps.alerts.services import MOST_MAIL_ADDRESSES, RecipientsChange, set_recipients
from apps.common.errors import Unfit
from apps.events.enums import DeliveryState
from apps.memories.models import LedgerEntry
from apps.tenants.models import Project
from tests.alerts.alert_rows import alert

HOOK = "https://example.com/hook"


def change(project: Project, url: str = "", *mails: str, **options: Any) -> RecipientsChange:
    return set_recipients(project_id=project.pk, webhook_url=url, mail_addresses=mails, **options)


def test_a_secret_can_be_renewed(project: Project) -> None:
    first, second = change(project, HOOK), change(project, HOOK, renew_secret=True)
    assert second.secret not in ("", first.secret)
    assert AlertRecipients.objects.get().webhook_secret == second.secret


def test_without_a_webhook_there_is_no_secret(project: Project) -> None:
    change(project, HOOK)
    assert change(project, renew_secret=True).secret == ""
    assert AlertRecipients.objects.get().webhook_secret == ""


def test_the_ledger_names_the_change_without_addresses(project: Project) -> None:
    change(project, HOOK, "ops@example.com")
    change(project, HOOK, "ops@example.com")  # changes nothing
    (entry,) = LedgerEntry.objects.filter(verb="alert_recipients_set")
    assert entry.details == {"webhook": 1, "new_secret": 1, "mail_addresses": 1}


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/hook",
        "javascript:alert(1)",
        "example.com",
        "https://user:pass@example.com/",
        "https://example.com/#part",
        "https://example.com/a b",
        "https://example.com/\r\nX-Injected: 1",
        f"https://example.com/{'a' * 500}",
        "http://127.0.0.1:8000/",
    ],
)
def test_addresses_of_webhooks_are_checked(project: Project, url: str) -> None:
    with pytest.raises(Unfit) as refused:
        change(project, url)
    assert refused.value.at == "/webhook_url"
    assert not AlertRecipients.objects.exists()


def test_hosts_that_the_operator_names_need_no_tls(project: Project, settings: Any) -> None:
    settings.WEBHOOK_PRIVATE_HOSTS = ["Hooks.local"]
    assert change(project, "http://hooks.local:8000/x").recipients.webhook_url == "http://hooks.local:8000/x"


@pytest.mark.parametrize("address", ["ops", "ops@", "a@b.com\nBcc: c@d.com", "a@b.com, c@d.com", ""])
def test_mail_addresses_are_checked(project: Project, address: str) -> None:
    with pytest.raises(Unfit) as refused:
        change(project, "", "good@example.com", address)
    assert refused.value.at == "/mail_addresses/1"


def test_mail_addresses_are_limited_and_kept_once(project: Project) -> None:
    with pytest.raises(Unfit):
        change(project, "", *(f"a{number}@example.com" for number in range(MOST_MAIL_ADDRESSES + 1)))
    assert change(project, "", "a@example.com", " a@example.com").recipients.mail_addresses == ["a@example.com"]


def test_waiting_messages_to_former_recipients_are_given_up(project: Project) -> None:
    change(project, HOOK)
    enqueue_messages(alert=alert(project), event=AlertEvent.OPENED)
    change(project, "https://example.com/other")
    delivery = AlertDelivery.objects.get()
    assert (delivery.state, delivery.last_error) == (DeliveryState.FAILED, "no longer a recipient")
