"""Forms of webhooks; the actions check the address and the name."""

from typing import Any

from django import forms

from apps.events.models import WEBHOOK_NAME_LENGTH, WEBHOOK_URL_LENGTH, Webhook
from apps.pipeline.core.enums import EventType

_TYPES = [(each.value, each.value) for each in EventType]
_USUAL = [each.value for each in EventType if each.value.startswith(("memory.", "user."))]


class WebhookForm(forms.Form):
    """A webhook to create or to change."""

    name = forms.CharField(max_length=WEBHOOK_NAME_LENGTH)
    url = forms.CharField(
        max_length=WEBHOOK_URL_LENGTH,
        label="Address",
        widget=forms.TextInput(attrs={"placeholder": "https://…", "inputmode": "url", "size": 50}),
        help_text="gets a signed POST for each event",
    )
    event_types = forms.MultipleChoiceField(
        label="Events", choices=_TYPES, widget=forms.CheckboxSelectMultiple, initial=_USUAL
    )
    includes_content = forms.BooleanField(
        required=False, label="send the sentences of memories, too, while they are active and told to all agents"
    )

    def clean_event_types(self) -> list[EventType]:
        """Return the chosen types."""
        return [EventType(each) for each in self.cleaned_data["event_types"]]

    @staticmethod
    def values_of(webhook: Webhook) -> dict[str, Any]:
        """Return the values of the form for a webhook."""
        return {
            "name": webhook.name,
            "url": webhook.url,
            "event_types": webhook.event_types,
            "includes_content": webhook.includes_content,
        }


class FailedPeriodForm(forms.Form):
    """The days whose failed deliveries are to be sent again; empty: all."""

    since = forms.DateField(required=False, label="From", widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(required=False, label="To", widget=forms.DateInput(attrs={"type": "date"}))
