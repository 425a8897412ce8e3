"""Generic views of the pages of a project: who may see them, lists with filters, single rows, and forms."""

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.generic import DetailView, FormView, ListView, View

from apps.common.errors import Refused, Unfit
from apps.console.filters import ProjectFilter
from apps.console.paging import ROWS, paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.tenants.enums import MemberRole


class ProjectMixin(View):
    """Restrict a view to members of the project whose role includes `role`, as `project_page` does; it sets `visit`."""

    role = MemberRole.VIEWER
    changes_archived = False
    visit: ProjectVisit

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer a request of a member."""
        restricted = project_page(self.role, changes_archived=self.changes_archived)
        return restricted(self._dispatch_visit)(request, *args, **kwargs)

    def _dispatch_visit(self, request: HttpRequest, visit: ProjectVisit, **kwargs: Any) -> HttpResponseBase:
        self.visit = visit
        response = super().dispatch(request, **kwargs)
        # A template is rendered later by default, when the scope of the project has ended and no row can be read.
        return response.render() if hasattr(response, "render") else response


class ProjectListView(ProjectMixin, ListView):
    """A list of rows of the project in pages, narrowed by `filterset_class` if there is one."""

    paginate_by = ROWS
    filterset_class: type[ProjectFilter] | None = None
    filterset: ProjectFilter | None = None

    def get_queryset(self) -> QuerySet[Any]:
        """Return the rows of the project that match the query string; a filter with an unknown value is ignored."""
        rows = super().get_queryset().filter(project_id=self.visit.project.pk)
        if self.filterset_class is None:
            return rows
        self.filterset = self.filterset_class(self.request.GET, queryset=rows, request=self.request)
        return self.filterset.qs

    def paginate_queryset(self, queryset: Any, page_size: int) -> Any:
        """Return the page that the query string names. Rows are not counted, which takes long for many."""
        page = paginate(queryset, self.request, size=page_size)
        return None, page, page.rows, page.number > 1 or page.has_next

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add the page of rows and the filters; `is_filtered` if any of them is given."""
        shown = super().get_context_data(**context)
        is_filtered = bool(self.filterset and self.filterset.given)
        return shown | {"page": shown["page_obj"], "filter": self.filterset, "is_filtered": is_filtered}


class ProjectDetailView(ProjectMixin, DetailView):
    """A row of the project."""

    def get_queryset(self) -> QuerySet[Any]:
        """Return the rows of the project."""
        return super().get_queryset().filter(project_id=self.visit.project.pk)


class ProjectFormView(ProjectMixin, FormView):
    """A form whose valid data is handed to `save`; what the service refuses is an error of the form (status 422)."""

    success_message = ""

    def save(self, form: Any) -> HttpResponse | None:
        """Do what the form asks; return a response only where the page `success_url` is not to follow."""
        raise NotImplementedError

    def get_success_url(self) -> str:
        """Return the page to go to once the form is saved: by default, this one again."""
        return str(self.success_url or self.request.path)

    def form_valid(self, form: Any) -> HttpResponse:
        """Save, and lead on."""
        try:
            response = self.save(form)
        except Refused as refused:
            field = refused.at.strip("/").partition("/")[0] if isinstance(refused, Unfit) else ""
            form.add_error(field if field in form.fields else None, str(refused))
            return self.form_invalid(form)
        if self.success_message:
            messages.success(self.request, self.success_message)
        return response or super().form_valid(form)

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form with its errors."""
        response = super().form_invalid(form)
        response.status_code = 422
        return response
