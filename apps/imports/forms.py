"""Forms of imports."""

import re

from django import forms

from apps.imports.enums import ImportFormat
from apps.pipeline.core.input_validation import BadInput, checked_name

FORMAT_NAMES = {
    ImportFormat.CHATGPT: "ChatGPT export (ZIP or conversations.json)",
    ImportFormat.CLAUDE: "Claude export (ZIP or conversations.json)",
    ImportFormat.MEM0: "mem0 memories (JSON)",
    ImportFormat.ZEP: "Zep or Graphiti episodes (JSON)",
    ImportFormat.JSONL: "turns, one a line (JSONL)",
    ImportFormat.CHAT: "one chat (text, Markdown or JSON)",
    ImportFormat.MEMORIES: "memories exported here (JSONL)",
    ImportFormat.PROJECT: "a project exported here (JSONL), into an empty project",
}
_MOST_NAMES = 10_000
_SEPARATOR = re.compile(r"\s*=\s*")


def visible(name: object) -> None:
    """Refuse a name with invisible characters."""
    try:
        checked_name(str(name), at="")
    except BadInput as bad:
        raise forms.ValidationError(str(bad)) from bad


class ImportForm(forms.Form):
    """A file to import and whose its entries are."""

    file = forms.FileField(label="File", max_length=255, validators=[visible])
    format = forms.ChoiceField(
        required=False, choices=[("", "recognise it"), *((each.value, name) for each, name in FORMAT_NAMES.items())]
    )
    user = forms.CharField(
        max_length=255,
        required=False,
        label="User",
        help_text="whose the conversations are, where the file does not say",
        validators=[visible],
    )
    users = forms.CharField(
        required=False,
        label="Users by name",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="one a line: an account or user_id in the file = the user here",
    )

    def clean_users(self) -> dict[str, str]:
        """Return the users by name."""
        lines = [line.strip() for line in self.cleaned_data["users"].splitlines() if line.strip()]
        if len(lines) > _MOST_NAMES:
            raise forms.ValidationError(f"at most {_MOST_NAMES:,} names are taken")
        pairs = [_SEPARATOR.split(line, maxsplit=1) for line in lines]
        if any(len(pair) != 2 or not all(pair) or len(pair[1]) > 255 for pair in pairs):
            raise forms.ValidationError("Each line must be: name = user.")
        for pair in pairs:
            visible(" ".join(pair))
        return dict(pairs)
