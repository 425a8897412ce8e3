"""The form of who is told about alerts."""

from typing import Any

from django import forms

from apps.alerts.models import AlertRecipients
from apps.events.models import WEBHOOK_URL_LENGTH


class AlertRecipientsForm(forms.Form):
    """A webhook and mail addresses; the action checks them."""

    webhook_url = forms.CharField(
        required=False,
        max_length=WEBHOOK_URL_LENGTH,
        label="Webhook",
        widget=forms.TextInput(attrs={"placeholder": "https://…", "inputmode": "url", "size": 50}),
        help_text="gets a signed POST for each alert that is opened or resolved; empty: none",
    )
    renew_secret = forms.BooleanField(required=False, label="make a new secret; the former one ends at once")
    mail_addresses = forms.CharField(
        required=False,
        max_length=6_000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="one per line, at most 20",
    )

    def clean_mail_addresses(self) -> list[str]:
        """Return the lines that are not empty."""
        lines: str = self.cleaned_data["mail_addresses"]
        return [line.strip() for line in lines.splitlines() if line.strip()]

    @staticmethod
    def values_of(recipients: AlertRecipients | None) -> dict[str, Any]:
        """Return the values of the form for the recipients of a project."""
        if recipients is None:
            return {}
        return {
            "webhook_url": recipients.webhook_url,
            "mail_addresses": "\n".join(recipients.mail_addresses),
        }
