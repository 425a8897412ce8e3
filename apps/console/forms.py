"""Forms of the console: what a person types, made into what an action takes."""

from datetime import datetime
from typing import Any, cast

from django import forms
from django.utils import timezone

from apps.console.admin.rule_form import RuleForm as AdminRuleForm
from apps.pipeline.core.enums import MemberRole, Reason, Role, Scope, choices_of


class RuleForm(AdminRuleForm):
    """A rule of one project; its name is fixed once it is saved."""

    class Meta(AdminRuleForm.Meta):
        exclude = ("project",)
        widgets = {"pattern": forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "class": "code"})}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance.name:
            self.fields["name"].widget.attrs["readonly"] = True
            self.fields["name"].disabled = True
        reason = cast(forms.ChoiceField, self.fields["reason"])
        reason.choices = [
            choice for choice in choices_of(Reason) if choice[0] in _REASONS_OF_RULES | {self.instance.reason}
        ]
        reason.initial = Reason.PATTERN.value
        self.fields["languages"].help_text = "codes such as en, with commas; empty for all"


_REASONS_OF_RULES = frozenset(
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


class TrialForm(forms.Form):
    """A turn to try the rules on."""

    content = forms.CharField(
        max_length=20_000, label="What the user says", widget=forms.Textarea(attrs={"rows": 2}), strip=False
    )
    before = forms.CharField(max_length=20_000, required=False, label="What was said before (by the assistant)")
    role = forms.ChoiceField(choices=choices_of(Role), initial=Role.USER.value, required=False)

    def clean_role(self) -> Role:
        """Take the user for the one who says it, unless told otherwise."""
        return Role(self.cleaned_data["role"] or Role.USER)


class KeyForm(forms.Form):
    """A new API key."""

    name = forms.CharField(max_length=120)
    scopes = forms.MultipleChoiceField(
        choices=choices_of(Scope),
        widget=forms.CheckboxSelectMultiple,
        initial=[Scope.READ.value, Scope.WRITE.value],
    )
    expires_at = forms.DateField(
        required=False, label="Expires on", widget=forms.DateInput(attrs={"type": "date"}), help_text="empty: never"
    )

    def clean_expires_at(self) -> datetime | None:
        """Take a day as its beginning in UTC; refuse one that is past."""
        day = self.cleaned_data["expires_at"]
        if day is None:
            return None
        moment = datetime(day.year, day.month, day.day, tzinfo=timezone.get_default_timezone())
        if moment <= timezone.now():
            raise forms.ValidationError("the expiry must lie in the future")
        return moment


class MemberForm(forms.Form):
    """A person and a role."""

    username = forms.CharField(max_length=150)
    role = forms.ChoiceField(choices=choices_of(MemberRole), initial=MemberRole.REVIEWER.value)
