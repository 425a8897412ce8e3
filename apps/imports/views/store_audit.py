"""The audit of a store of another product: what is worth keeping, what is wrong with the rest; nothing is stored."""

import json

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from apps.common.errors import Refused
from apps.console.permissions import ProjectVisit, project_page
from apps.imports.audit import Audit, Verdict
from apps.imports.enums import ImportFormat
from apps.imports.models import FileImport
from apps.imports.readers.stores import importable
from apps.imports.services import audit_store, upload_import
from apps.tenants.enums import MemberRole

MOST_ENTRIES = 20_000  # half a minute of one processor
EXAMPLES = 5


class StoreForm(forms.Form):
    """A file with the entries of a store."""

    file = forms.FileField(label="File", max_length=255)

    def clean_file(self) -> UploadedFile:
        """Refuse a file that is too large."""
        file: UploadedFile = self.cleaned_data["file"]
        if (file.size or 0) > settings.IMPORT_MAX_MB * 1024 * 1024:
            raise forms.ValidationError(f"The file exceeds {settings.IMPORT_MAX_MB} MB.")
        return file


@project_page(MemberRole.ADMIN)
def look(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Choose a file, and see what is in it."""
    form = StoreForm(request.POST, request.FILES) if request.method == "POST" else StoreForm()
    context = {"form": form, "most": settings.IMPORT_MAX_MB, "most_entries": MOST_ENTRIES}
    if form.is_valid():
        found = _audited(form)
        context |= {"audit": found, "kept": len(found.kept()), "examples": _examples(found)}
    is_part = "HX-Request" in request.headers
    template = "console/_store_audit.html" if is_part else "console/store_audit.html"
    return render(request, template, context, status=422 if form.errors and not is_part else 200)


@require_POST
@project_page(MemberRole.ADMIN)
def kept(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Download what is worth keeping, or begin an import of it."""
    form = StoreForm(request.POST, request.FILES)
    if not form.is_valid():
        return render(request, "console/store_audit.html", {"form": form}, status=422)
    content = json.dumps(importable(_audited(form).kept()), ensure_ascii=False, indent=1).encode()
    name = f"kept of {form.cleaned_data['file'].name}"
    if "import" not in request.POST:
        answer = HttpResponse(content, content_type="application/json")
        answer["Content-Disposition"] = 'attachment; filename="kept.json"'
        return answer
    wanted = FileImport(
        project_id=visit.project.pk, file_name=name[:255], format=ImportFormat.MEM0, person_id=visit.person_id
    )
    try:
        made = upload_import(request=wanted, content=content)
    except Refused as refused:
        form.add_error(None, str(refused))
        return render(request, "console/store_audit.html", {"form": form}, status=422)
    return redirect("console:import", slug=visit.project.slug, import_id=made.pk)


def _audited(form: StoreForm) -> Audit:
    return audit_store(form.cleaned_data["file"].read(), most=MOST_ENTRIES)


def _examples(found: Audit) -> list[dict[str, object]]:
    """Return the verdicts with their reasons, counts and some entries; secrets are not shown."""
    return [
        {
            "verdict": verdict,
            "reason": reason,
            "count": count,
            "entries": [each for each in found.audited if (each.verdict, each.reason) == (verdict, reason)][:EXAMPLES]
            if verdict is not Verdict.SECRET
            else [],
        }
        for (verdict, reason), count in found.reasons.items()
    ]
