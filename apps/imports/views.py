"""Imports of files, the audit of a store of another product, and the export of the project."""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from apps.console.generic import ProjectDetailView, ProjectFormView, ProjectListView
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import download, progress_part, project_action
from apps.imports.audit import Audit, audit_store, importable
from apps.imports.enums import ImportFormat
from apps.imports.models import FileImport
from apps.imports.readers.entries import NO_USER
from apps.imports.services import MEGABYTE, start_import, upload_import
from apps.imports.transfers.export_project import export_project
from apps.pipeline.core.input_validation import BadInput, checked_name
from apps.tenants.enums import MemberRole

FORMATS = [
    ("", "recognise it"),
    (ImportFormat.CHATGPT.value, "ChatGPT export (ZIP or conversations.json)"),
    (ImportFormat.CLAUDE.value, "Claude export (ZIP or conversations.json)"),
    (ImportFormat.MEM0.value, "mem0 memories (JSON)"),
    (ImportFormat.ZEP.value, "Zep or Graphiti episodes (JSON)"),
    (ImportFormat.JSONL.value, "turns, one a line (JSONL)"),
    (ImportFormat.CHAT.value, "one chat (text, Markdown or JSON)"),
    (ImportFormat.MEMORIES.value, "memories exported here (JSONL)"),
]
_MOST_NAMES = 10_000
_SEPARATOR = re.compile(r"\s*=\s*")


def visible(name: object) -> None:
    """Refuse a name with invisible characters."""
    try:
        checked_name(str(name), at="")
    except BadInput as bad:
        raise forms.ValidationError(str(bad)) from bad


def bounded(file: UploadedFile) -> None:
    """Refuse a file that is too large."""
    if (file.size or 0) > settings.IMPORT_MAX_MB * MEGABYTE:
        raise forms.ValidationError(f"The file exceeds {settings.IMPORT_MAX_MB} MB.")


class FileForm(forms.Form):
    """A file, and whose its entries are."""

    file = forms.FileField(label="File", max_length=255, validators=[visible, bounded])
    user = forms.CharField(
        max_length=255,
        required=False,
        label="User",
        help_text="whose the entries are, if they do not name one",
        validators=[visible],
    )


class ImportForm(FileForm):
    """A file to import."""

    format = forms.ChoiceField(required=False, choices=FORMATS)
    users = forms.CharField(
        required=False,
        label="Users by name",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="one a line: an account or user_id in the file = the user here",
    )
    field_order = ("file", "format")

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


_TEXTS = {
    "conversations": "Conversations",
    "turns": "Turns",
    "memories": "Memories",
    "stored": "Memories",
    "merged": "Merged into known ones",
    "users": "Users",
    "dropped": "Pre-filter drops",
    "known": "Imported before",
    "refused": "Refused",
    "problems": "Can't be imported",
}
_ALWAYS = frozenset({"users", "known", "problems"})


def count_tiles(found: dict[str, Any]) -> list[tuple[str, int]]:
    """Return what a check has found or what was imported."""
    return [
        (text, found[name]) for name, text in _TEXTS.items() if found.get(name) or (name in found and name in _ALWAYS)
    ]


class ImportListView(ProjectListView):
    """List the imports, newest first."""

    role = MemberRole.ADMIN
    template_name = "console/imports.html"
    queryset = FileImport.objects.select_related("person").defer("users", "problems")


class ImportFormView(ProjectFormView):
    """Choose a file; it is stored and will be checked."""

    role = MemberRole.ADMIN
    template_name = "console/import_new.html"
    form_class = ImportForm
    extra_context = {"most": settings.IMPORT_MAX_MB}

    def save(self, form: ImportForm) -> HttpResponse:
        """Upload the file, and show the import."""
        given = form.cleaned_data
        wanted = FileImport(
            file_name=given["file"].name, format=given["format"], user_id=given["user"], users_by_name=given["users"]
        )
        return _upload(self.visit, wanted, given["file"].read())


def _upload(visit: ProjectVisit, wanted: FileImport, content: bytes) -> HttpResponse:
    """Create an import, and show it. Raises Refused."""
    wanted.project_id, wanted.person_id = visit.project.pk, visit.person_id
    made = upload_import(request=wanted, content=content)
    return redirect(visit.address("import", made.pk))


class ImportDetailView(ProjectDetailView):
    """Show what the check has found, the progress, and the report."""

    role = MemberRole.ADMIN
    template_name = "console/import.html"
    model = FileImport
    pk_url_kwarg = "import_id"
    context_object_name = "import"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add the numbers of the check and of the report."""
        found = self.object
        dropped = Counter(found.counts.get("dropped_by_reason", {})).most_common()
        return super().get_context_data(**context) | {
            "counts": count_tiles(found.counts),
            "dropped": dropped,
            "report": count_tiles(found.done),
            "names_no_user": any(each["reason"].endswith(NO_USER) for each in found.problems),
        }


@project_page(MemberRole.ADMIN)
def progress(request: HttpRequest, visit: ProjectVisit, import_id: UUID) -> HttpResponse:
    """Show how far an import is; when nothing is under way, the page is loaded again."""
    found = get_object_or_404(FileImport, project=visit.project, pk=import_id)
    return progress_part(request, "console/_import_progress.html", {"import": found}, is_over=found.is_over)


@project_action(page="import", row="import_id")
def act(request: HttpRequest, visit: ProjectVisit, import_id: UUID, action: Callable[..., Any]) -> None:
    """Start or resume an import, cancel it, or delete its file."""
    who = {"person_id": visit.person_id} if action is start_import else {}
    action(project_id=visit.project.pk, import_id=import_id, **who)


@project_page(MemberRole.ADMIN)
def export(request: HttpRequest, visit: ProjectVisit) -> StreamingHttpResponse:
    """Download the project as lines of JSON, from which another one can be made."""
    name = f"{visit.project.slug}-{timezone.now():%Y-%m-%d}.jsonl"
    return download(export_project(project_id=visit.project.pk), name)


MOST_ENTRIES = 20_000  # half a minute of one processor
EXAMPLES = 5


class StoreAuditView(ProjectFormView):
    """Choose a file, and see what is in it."""

    role = MemberRole.ADMIN
    template_name = "console/store_audit.html"
    form_class = FileForm
    extra_context = {"most": settings.IMPORT_MAX_MB, "most_entries": MOST_ENTRIES}

    def save(self, form: FileForm) -> HttpResponse:
        """Show what is worth keeping, and what is wrong with the rest."""
        found = _audited(form)
        kept = found.kept()
        unnamed = 0 if form.cleaned_data["user"] else sum(not entry.user_id for entry in kept)
        shown = {"audit": found, "kept": len(kept), "unnamed": unnamed, "faults": found.faults(most=EXAMPLES)}
        return self.render_to_response(self.get_context_data(form=form, **shown))


@method_decorator(require_POST, name="dispatch")
class KeptEntriesView(StoreAuditView):
    """Download what is worth keeping, or begin an import of it."""

    def save(self, form: FileForm) -> HttpResponse:
        """Make a file of the entries."""
        content = json.dumps(importable(_audited(form).kept()), ensure_ascii=False, indent=1).encode()
        if "import" in self.request.POST:
            name = f"kept of {form.cleaned_data['file'].name}"
            wanted = FileImport(file_name=name[:255], format=ImportFormat.MEM0, user_id=form.cleaned_data["user"])
            return _upload(self.visit, wanted, content)
        headers = {"Content-Disposition": 'attachment; filename="kept.json"'}
        return HttpResponse(content, content_type="application/json", headers=headers)


def _audited(form: FileForm) -> Audit:
    return audit_store(form.cleaned_data["file"].read(), most=MOST_ENTRIES)
