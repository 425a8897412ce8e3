"""Forms of replays."""

from typing import Any, cast

from django import forms
from django.db.models import QuerySet

from apps.pipeline.core.enums import Role, choices_of
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
    version = forms.ChoiceField(required=False)

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
    role = forms.ChoiceField(choices=choices_of(Role), initial=Role.USER.value, required=False)
    before = forms.CharField(max_length=20_000, required=False, label="The assistant's message before it")
    asks_model = forms.BooleanField(required=False, label="ask the model, which may cost money (admins)")

    def clean_role(self) -> Role:
        """Default to the role user."""
        return Role(self.cleaned_data["role"] or Role.USER)
