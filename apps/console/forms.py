"""Forms of projects, keys, members, rules, alerts and webhooks."""

from datetime import UTC, datetime, time, timedelta
from typing import Any, cast

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.text import slugify
from pydantic import ValidationError as NotARule

from apps.events.enums import EventType
from apps.events.models import WEBHOOK_NAME_LENGTH, WEBHOOK_URL_LENGTH
from apps.pipeline.core.enums import Reason, Role, Scope, choices_of
from apps.pipeline.prefilter.rule_patterns import PatternRefused, check_pattern
from apps.projects.services import LIMITS
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from apps.traces.models import PreFilterRule

_RULE_REASONS = frozenset(
    {
        Reason.GREETING.value,
        Reason.FAREWELL.value,
        Reason.THANKS.value,
        Reason.ACKNOWLEDGEMENT.value,
        Reason.TOOL_MARKER.value,
        Reason.META_TALK.value,
        Reason.PATTERN.value,
        Reason.TOO_SHORT.value,
    }
)


class ProjectRuleForm(forms.ModelForm):
    """A pre-filter rule of a project; the name can't be changed after saving."""

    name = forms.RegexField(
        r"^[a-z0-9_]{1,64}$", error_messages={"invalid": "Use up to 64 small letters a to z, digits and underscores."}
    )
    roles = forms.MultipleChoiceField(
        choices=choices_of(Role), widget=forms.CheckboxSelectMultiple, initial=[Role.USER.value]
    )

    class Meta:
        model = PreFilterRule
        fields = ("name", "reason", "enabled", "order", "pattern", "phrase", "unless_answering", "roles", "languages")
        help_texts = {
            "pattern": "RE2 syntax, matched against the normalised text of a turn",
            "phrase": "an interjection: drops only turns that consist of nothing but phrases",
            "unless_answering": "skip the rule if the previous turn asked a question",
            "languages": "comma-separated codes such as en; empty means all",
        }
        widgets = {"pattern": forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "class": "code"})}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance.name:
            self.fields["name"].widget.attrs["readonly"] = True
            self.fields["name"].disabled = True
        reason = cast(forms.ChoiceField, self.fields["reason"])
        offered = _RULE_REASONS | {self.instance.reason}
        reason.choices = [choice for choice in choices_of(Reason) if choice[0] in offered]
        reason.initial = Reason.PATTERN.value

    def clean_pattern(self) -> str:
        """Reject a pattern that doesn't compile, is too large, or matches every turn."""
        pattern: str = self.cleaned_data["pattern"]
        try:
            check_pattern(pattern)
        except PatternRefused as refused:
            raise forms.ValidationError(str(refused)) from refused
        return pattern

    def _post_clean(self) -> None:
        """Validate the rule as a whole once its fields are valid."""
        super()._post_clean()  # type: ignore[misc]  # private, so the stubs leave it out
        if self.errors:
            return
        try:
            self.instance.as_rule()
        except NotARule as error:
            for problem in error.errors():
                name = str(problem["loc"][0]) if problem["loc"] else ""
                self.add_error(name if name in self.fields else None, str(problem["msg"]))


class TrialForm(forms.Form):
    """A turn to test the rules with."""

    content = forms.CharField(
        max_length=20_000, label="What the user says", widget=forms.Textarea(attrs={"rows": 2}), strip=False
    )
    before = forms.CharField(max_length=20_000, required=False, label="The assistant's message before it")
    role = forms.TypedChoiceField(
        choices=choices_of(Role), coerce=Role, empty_value=Role.USER, required=False, initial=Role.USER.value
    )


_OVERLAPS = (("0", "not at all"), ("1", "1 hour"), ("24", "1 day"), ("168", "7 days"), ("720", "30 days"))


class RotationForm(forms.Form):
    """For how long the former key stays valid."""

    hours = forms.TypedChoiceField(choices=_OVERLAPS, initial="24", coerce=lambda hours: timedelta(hours=int(hours)))


class DayInput(forms.DateInput):
    """A day, which browsers let people choose from a calendar."""

    input_type = "date"


class KeyForm(forms.Form):
    """A new API key."""

    name = forms.CharField(max_length=120)
    scopes = forms.TypedMultipleChoiceField(
        coerce=Scope,
        choices=choices_of(Scope),
        widget=forms.CheckboxSelectMultiple,
        initial=[Scope.READ.value, Scope.WRITE.value],
    )
    expires_at = forms.DateField(required=False, label="Expires on", widget=DayInput, help_text="empty means never")

    def clean_expires_at(self) -> datetime | None:
        """Convert the day to its start in UTC; reject past days."""
        day = self.cleaned_data["expires_at"]
        if day is None:
            return None
        moment = datetime(day.year, day.month, day.day, tzinfo=timezone.get_default_timezone())
        if moment <= timezone.now():
            raise forms.ValidationError("the expiry must be in the future")
        return moment


class ProjectLimitsForm(forms.ModelForm):
    """The limits of a project; empty means the server's own, or none."""

    class Meta:
        model = Project
        fields = LIMITS
        labels = {
            "queue_limit": "Waiting turns",
            "requests_per_minute": "Requests per minute",
            "max_memories": "Live memories",
            "max_model_usd_per_day": "Dollars for models per day",
        }


class ProjectForm(forms.ModelForm):
    """The name of a project, and what its reviewers go by."""

    class Meta:
        model = Project
        fields = ("name", "review_guideline")
        labels = {"review_guideline": "Guideline for reviewers"}
        help_texts = {"review_guideline": "shown in the inbox; empty: the usual one"}
        widgets = {"review_guideline": forms.Textarea(attrs={"rows": 4})}


class NewProjectForm(forms.Form):
    """A new project."""

    name = forms.CharField(max_length=120)
    slug = forms.SlugField(
        max_length=64,
        required=False,
        label="Address",
        help_text="letters, digits and hyphens, for URLs and commands; it can’t be changed. Empty: made from the name",
    )

    def clean(self) -> dict[str, Any]:
        """Make the address from the name where none was given."""
        given: dict[str, Any] = super().clean() or {}
        if not given.get("slug") and given.get("name") and not self.errors:
            given["slug"] = slugify(given["name"])[:64]
            if not given["slug"]:
                self.add_error("slug", "No address can be made from this name. Enter one.")
        return given


class MemberForm(forms.Form):
    """A user name and a role."""

    username = forms.CharField(max_length=150, label="User name")
    role = forms.TypedChoiceField(choices=choices_of(MemberRole), coerce=MemberRole, initial=MemberRole.REVIEWER.value)


class InvitationForm(forms.Form):
    """Who is invited, and as what."""

    email = forms.EmailField(
        max_length=254, required=False, label="Mail address", help_text="empty: a link that you pass on yourself"
    )
    role = forms.TypedChoiceField(choices=choices_of(MemberRole), coerce=MemberRole, initial=MemberRole.REVIEWER.value)


class NewAccountForm(BaseUserCreationForm):
    """Name and password of a person who accepts an invitation, checked by Django's validators."""

    class Meta(BaseUserCreationForm.Meta):
        fields = ("username",)
        labels = {"username": "User name"}
        help_texts = {"username": "letters, digits and @ . + - _"}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        again = self.fields["password2"]
        self.fields["password1"].help_text = "at least 12 characters, no common password, not like the user name"
        again.label, again.help_text = "Password again", ""

    def clean_username(self) -> str:
        """Reject a name that differs from a taken one only in case: people would take one account for the other."""
        name = str(self.cleaned_data["username"])
        if User.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError("This name is taken.")
        return name


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


class FailedPeriodForm(forms.Form):
    """The days whose failed deliveries are to be sent again; empty: all."""

    since = forms.DateField(required=False, label="From", widget=DayInput)
    until = forms.DateField(required=False, label="To", widget=DayInput)

    def clean(self) -> dict[str, datetime | None]:
        """Return the start of the first day and the end of the last one, in UTC."""
        days = {"since": time.min, "until": time.max}
        given = {name: self.cleaned_data.get(name) for name in days}
        return {name: day and datetime.combine(day, days[name], tzinfo=UTC) for name, day in given.items()}
