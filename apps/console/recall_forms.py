"""The form of the recall page."""

from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django import forms
from django.db.models import QuerySet

from apps.console.replay_forms import version_choices
from apps.pipeline.core.enums import Stakes, choices_of
from apps.pipeline.core.input_validation import BadInput, checked_moment
from apps.retrieval.search import MAX_QUERY_CHARACTERS
from apps.tenants.models import EndUser
from apps.traces.models import ConfigurationVersion

DEFAULTS = {"stakes": Stakes.NORMAL.value, "budget": "800", "limit": "10"}
MAX_TOKENS = 8_000
_MOMENT = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")


class RecallForm(forms.Form):
    """A query of an end user, as an agent would send it, and the versions to run it under."""

    user = forms.CharField(
        max_length=255, label="User", widget=forms.TextInput(attrs={"list": "users", "autocomplete": "off"})
    )
    q = forms.CharField(
        max_length=MAX_QUERY_CHARACTERS,
        required=False,
        label="Query",
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": "The message that the agent will answer", "data-search": True}
        ),
    )
    agent = forms.CharField(
        max_length=255,
        required=False,
        label="Agent",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="only what it told; empty: what all agents share",
    )
    as_of = forms.DateTimeField(required=False, label="As of", widget=_MOMENT, help_text="UTC; empty: now")
    stakes = forms.ChoiceField(choices=choices_of(Stakes))
    budget = forms.IntegerField(min_value=1, max_value=MAX_TOKENS, label="Tokens")
    limit = forms.IntegerField(min_value=1, max_value=100, label="Results")
    min_score = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        label="Least score",
        help_text="empty: that of the version",
        widget=forms.NumberInput(attrs={"step": "0.01"}),
    )
    version = forms.ChoiceField(required=False, label="Version")
    against = forms.ChoiceField(required=False, label="Compared with")

    def __init__(self, *args: Any, project_id: UUID, versions: QuerySet[ConfigurationVersion], **options: Any) -> None:
        super().__init__(*args, **{"initial": DEFAULTS, **options})
        self._project_id = project_id
        named = version_choices(versions, first="the active version")
        cast(forms.ChoiceField, self.fields["version"]).choices = named
        cast(forms.ChoiceField, self.fields["against"]).choices = [("", "nothing"), *named[1:]]

    def clean_user(self) -> EndUser:
        """Return the end user; those that were erased are unknown."""
        users = EndUser.objects.for_project(self._project_id).present()
        found = users.filter(external_id=self.cleaned_data["user"]).first()
        if found is None:
            raise forms.ValidationError("There is no such user.")
        return found

    def clean_as_of(self) -> datetime | None:
        """Refuse times that no statement can be about."""
        try:
            return checked_moment(self.cleaned_data["as_of"], at="")
        except BadInput as error:
            raise forms.ValidationError(str(error)) from error

    def clean_stakes(self) -> Stakes:
        """Return the member."""
        return Stakes(self.cleaned_data["stakes"])

    def clean_version(self) -> int | None:
        """Return the number, None for the active version."""
        return _number(self.cleaned_data["version"])

    def clean_against(self) -> int | None:
        """Return the number, None for no comparison."""
        return _number(self.cleaned_data["against"])


def _number(text: str) -> int | None:
    return int(text) if text else None
