"""The form of a pre-filter rule; problems are reported at the field that causes them."""

from django import forms
from pydantic import ValidationError as NotARule

from apps.pipeline.core.enums import Role, choices_of
from apps.pipeline.prefilter.rule_patterns import PatternRefused, check_pattern
from apps.traces.models import PreFilterRule


class PreFilterRuleForm(forms.ModelForm):
    """A pre-filter rule."""

    roles = forms.MultipleChoiceField(
        choices=choices_of(Role), widget=forms.CheckboxSelectMultiple, initial=[Role.USER.value]
    )

    class Meta:
        model = PreFilterRule
        fields = (
            "project",
            "name",
            "reason",
            "enabled",
            "order",
            "pattern",
            "phrase",
            "unless_answering",
            "roles",
            "languages",
        )
        help_texts = {
            "pattern": "RE2 syntax, matched against the normalised text of a turn",
            "phrase": "an interjection: drops only turns that consist of nothing but phrases",
            "unless_answering": "skip the rule if the previous turn asked a question",
        }
        widgets = {"pattern": forms.Textarea(attrs={"rows": 6, "cols": 90, "spellcheck": "false", "class": "code"})}

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
