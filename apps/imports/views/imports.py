"""Imports of files, and the export of the project."""

from collections import Counter
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.common.errors import NotFound, Refused
from apps.console.paging import paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import progress_part, refusals_told
from apps.imports.forms import ImportForm
from apps.imports.models import FileImport
from apps.imports.selectors import count_tiles
from apps.imports.services import (
    find_import,
    start_import,
    upload_import,
)
from apps.imports.transfers.export_project import export_project
from apps.tenants.enums import MemberRole


@project_page(MemberRole.ADMIN)
def imports(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List the imports, newest first."""
    rows = FileImport.objects.filter(project=visit.project).select_related("person").defer("users", "problems")
    return render(request, "console/imports.html", {"page": paginate(rows, request)})


@project_page(MemberRole.ADMIN)
def new(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Choose a file; it is stored and will be checked."""
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    if form.is_valid():
        given = form.cleaned_data
        wanted = FileImport(
            project_id=visit.project.pk,
            file_name=given["file"].name,
            format=given["format"],
            user_id=given["user"],
            users_by_name=given["users"],
            person_id=visit.person_id,
        )
        try:
            made = upload_import(request=wanted, content=given["file"].read())
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("console:import", slug=visit.project.slug, import_id=made.pk)
    context = {"form": form, "most": settings.IMPORT_MAX_MB}
    return render(request, "console/import_new.html", context, status=422 if form.errors else 200)


@project_page(MemberRole.ADMIN)
def show(request: HttpRequest, visit: ProjectVisit, import_id: UUID) -> HttpResponse:
    """Show what the check has found, the progress, and the report."""
    found = _found(visit, import_id)
    dropped = Counter(found.counts.get("dropped_by_reason", {})).most_common()
    context = {
        "import": found,
        "counts": count_tiles(found.counts),
        "dropped": dropped,
        "report": count_tiles(found.done),
    }
    return render(request, "console/import.html", context)


@project_page(MemberRole.ADMIN)
def progress(request: HttpRequest, visit: ProjectVisit, import_id: UUID) -> HttpResponse:
    """Show how far an import is; when nothing is under way, the page is loaded again."""
    found = _found(visit, import_id)
    return progress_part(request, "console/_import_progress.html", {"import": found}, is_over=found.is_over)


@require_POST
@project_page(MemberRole.ADMIN)
def act(request: HttpRequest, visit: ProjectVisit, import_id: UUID, action: Callable[..., Any]) -> HttpResponse:
    """Start or resume an import, cancel it, or delete its file."""
    who = {"person_id": visit.person_id} if action is start_import else {}
    with refusals_told(request):
        action(project_id=visit.project.pk, import_id=import_id, **who)
    return redirect("console:import", slug=visit.project.slug, import_id=import_id)


@project_page(MemberRole.ADMIN)
def export(request: HttpRequest, visit: ProjectVisit) -> StreamingHttpResponse:
    """Download the project as lines of JSON, from which another one can be made."""
    name = f"{visit.project.slug}-{timezone.now():%Y-%m-%d}.jsonl"
    return StreamingHttpResponse(
        export_project(project_id=visit.project.pk),
        content_type="application/jsonl",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _found(visit: ProjectVisit, import_id: UUID) -> FileImport:
    try:
        return find_import(project_id=visit.project.pk, import_id=import_id)
    except NotFound as absent:
        raise Http404(str(absent)) from absent
