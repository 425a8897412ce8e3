"""Forms that choose what is replayed or recalled."""

from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django import forms
from django.db.models import QuerySet

from apps.pipeline.core.enums import Role, Stakes, choices_of
from apps.pipeline.core.input_validation import BadInput, checked_moment
from apps.retrieval.search import MAX_QUERY_CHARACTERS
from apps.tenants.models import EndUser
from apps.traces.models import ConfigurationVersion

_DAY = {"type": "date"}
_MOST_VERSIONS = 200  # the latest


def version_choices(versions: QuerySet[ConfigurationVersion], *, first: str) -> list[tuple[str, str]]:
    """Return the latest versions by number, after an entry for none of them."""
    choices = [("", first)]
    for version in versions[:_MOST_VERSIONS]:
        state = " (active)" if version.is_active else " (draft)" if version.is_draft else ""
        choices.append((str(version.number), f"{version.number}{state} {version.note}"[:80]))
    return choices


class _VersionForm(forms.Form):
    """A form with a configuration version."""

    none_means = ""
    version = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)

    def __init__(self, *args: Any, versions: QuerySet[ConfigurationVersion], **options: Any) -> None:
        super().__init__(*args, **options)
        cast(forms.ChoiceField, self.fields["version"]).choices = version_choices(versions, first=self.none_means)


class ReplayForm(_VersionForm):
    """The traces of a replay and how they run."""

    none_means = "each trace under its own version"
    user = forms.CharField(max_length=255, required=False, label="User", help_text="empty: all users")
    session = forms.CharField(max_length=255, required=False, help_text="of the user above; empty: all sessions")
    since = forms.DateField(required=False, label="From", widget=forms.DateInput(attrs=_DAY))
    until = forms.DateField(required=False, label="To", widget=forms.DateInput(attrs=_DAY))
    sample = forms.IntegerField(
        required=False, min_value=1, max_value=100_000, help_text="so many traces at random; empty: all of them"
    )
    isolated = forms.BooleanField(required=False, label="each trace from its own past state")
    live_calls = forms.BooleanField(required=False, label="ask the model where no answer is recorded")


class WhatIfForm(_VersionForm):
    """A turn to try in the whole funnel."""

    none_means = "the active version"
    content = forms.CharField(
        max_length=20_000, label="The turn", widget=forms.Textarea(attrs={"rows": 3}), strip=False
    )
    user = forms.CharField(max_length=255, label="User", help_text="whose memories are known; a new one has none")
    role = forms.TypedChoiceField(
        choices=choices_of(Role), coerce=Role, empty_value=Role.USER, required=False, initial=Role.USER.value
    )
    before = forms.CharField(max_length=20_000, required=False, label="The assistant's message before it")
    asks_model = forms.BooleanField(required=False, label="ask the model, which may cost money (admins)")


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
    stakes = forms.TypedChoiceField(choices=choices_of(Stakes), coerce=Stakes)
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
    version = forms.TypedChoiceField(required=False, label="Version", coerce=int, empty_value=None)
    against = forms.TypedChoiceField(required=False, label="Compared with", coerce=int, empty_value=None)

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
