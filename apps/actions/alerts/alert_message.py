"""What a message about an alert contains."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.urls import reverse

from apps.actions.alerts.remedies import remedy_of
from apps.alerts.enums import AlertEvent, AlertKind
from apps.alerts.models import Alert, AlertDelivery


def webhook_body(delivery: AlertDelivery, *, now: datetime) -> dict[str, Any]:
    """Return the body of a webhook; `url` is null unless PUBLIC_URL is set."""
    alert = delivery.alert
    return {
        "type": f"alert.{delivery.event}",
        "timestamp": now.isoformat(),
        "data": {
            "id": alert.shown_id,
            "project": alert.project.slug,
            "kind": alert.kind,
            "subject": alert.subject,
            "cause": alert.cause,
            "cost": alert.cost,
            "consequences": [each["cause"] for each in alert.consequences],
            "figures": alert.figures,
            "window_hours": alert.window_hours,
            "opened_at": alert.opened_at.isoformat(),
            "resolved_at": alert.resolved_at.isoformat() if alert.resolved_at else None,
            "remedy": remedy_of(AlertKind(alert.kind), subject=alert.subject).label,
            "url": remedy_url(alert),
        },
    }


def mail_subject(delivery: AlertDelivery) -> str:
    """Return the subject of a mail, in one line."""
    alert = delivery.alert
    prefix = "Resolved: " if delivery.event == AlertEvent.RESOLVED else ""
    return " ".join(f"[{alert.project.name}] {prefix}{alert.cause}".split())


def mail_text(delivery: AlertDelivery) -> str:
    """Return the text of a mail."""
    alert = delivery.alert
    if delivery.event == AlertEvent.RESOLVED:
        over = f"This is over. It lasted from {_time(alert.opened_at)} to {_time(alert.last_seen_at)}."
        return f"{alert.cause}\n\n{over}\n"
    remedy, url = remedy_of(AlertKind(alert.kind), subject=alert.subject), remedy_url(alert)
    consequences = [f"- {each['cause']}" for each in alert.consequences]
    follows = "\n".join(["It follows:", *consequences, "", ""]) if consequences else ""
    what_to_do = f"{remedy.label}: {url}" if url else f"What to do: {remedy.label} (console, page {remedy.page})."
    return f"{alert.cause}\n{alert.cost}\n\n{follows}{what_to_do}\nNoticed at {_time(alert.opened_at)}.\n"


def remedy_url(alert: Alert) -> str | None:
    """Return the address of the page that mends it; None without PUBLIC_URL."""
    if not settings.PUBLIC_URL:
        return None
    remedy = remedy_of(AlertKind(alert.kind), subject=alert.subject)
    path = reverse(f"console:{remedy.page}", args=[alert.project.slug])
    return f"{settings.PUBLIC_URL.rstrip('/')}{path}{'?' if remedy.query else ''}{remedy.query}"


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
