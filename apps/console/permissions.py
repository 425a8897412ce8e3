"""Access to pages by project role."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import F, Q, QuerySet, Value
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.http import urlencode
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from apps.alerts.verdict import Verdict, verdict_of
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope

_ROLES = tuple(MemberRole)  # each role includes those before it
_READS = ("GET", "HEAD", "OPTIONS")
MAX_PROJECTS = 200  # in the project switcher

View = Callable[..., HttpResponseBase]


@dataclass(frozen=True)
class ProjectVisit:
    """A signed-in person with a role in the project of the URL."""

    project: Project
    person_id: int
    role: MemberRole

    def may(self, role: MemberRole) -> bool:
        """Return True if the person's role includes `role`."""
        return _ROLES.index(self.role) >= _ROLES.index(role)

    def address(self, page: str, *args: object, **query: str | Iterable[str]) -> str:
        """Return the address of a page of the project."""
        address = reverse(f"console:{page}", args=[self.project.slug, *args])
        return f"{address}?{urlencode(query, doseq=True)}" if query else address

    @property
    def is_archived(self) -> bool:
        """Return True if the project can only be read."""
        return self.project.archived_at is not None

    @cached_property
    def verdict(self) -> Verdict:
        """Return what is wrong in the project now."""
        return verdict_of(project_id=self.project.pk, is_archived=self.is_archived)

    @property
    def may_review(self) -> bool:
        """Return True if the person may approve, edit and reject memories now."""
        return self.may(MemberRole.REVIEWER) and not self.is_archived

    @property
    def may_administer(self) -> bool:
        """Return True if the person may change rules, keys, members and the configuration now."""
        return self.is_admin and not self.is_archived

    @property
    def is_admin(self) -> bool:
        """Return True if the person is an admin, who may archive and restore the project."""
        return self.may(MemberRole.ADMIN)


class ArchivedHere(PermissionDenied):
    """The page would change an archived project."""


def project_page(role: MemberRole = MemberRole.VIEWER, *, changes_archived: bool = False) -> Callable[[View], View]:
    """Restrict a view to project members whose role includes `role`; superusers have every role in every project.

    The view gets the ProjectVisit as its second argument; it is also set as `request.visit`. For others the project
    looks as if it did not exist (404). Forms to an archived project are refused unless the view `changes_archived`.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapper(request: HttpRequest, slug: str, *args: Any, **options: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                htmx: HtmxDetails | None = getattr(request, "htmx", None)
                if not htmx:
                    return redirect_to_login(request.get_full_path())
                back = redirect_to_login(htmx.current_url_abs_path or reverse("console:home"))
                return HttpResponseClientRedirect(back.url)  # of the whole page
            with system_scope(SystemWork.PROJECT_LOOKUP):
                project = _projects_of(request.user).filter(slug=slug).first()
            if project is None:
                raise Http404("no such project")
            visit = ProjectVisit(project=project, person_id=request.user.pk, role=MemberRole(project.role))
            if not visit.may(role):
                raise PermissionDenied(f"this page requires the role {role}")
            if visit.is_archived and not changes_archived and request.method not in _READS:
                raise ArchivedHere("this project is archived")
            request.visit = visit  # type: ignore[attr-defined]  # read by page_frame
            with tenant_scope(project_id=visit.project.pk):
                return view(request, visit, *args, **options)

        return wrapper

    return decorate


def visits_of(user: Any) -> list[ProjectVisit]:
    """Return the projects that a person may see with the person's roles, archived ones last, by name."""
    rows = _projects_of(user).annotate(is_archived=Q(archived_at__isnull=False)).order_by("is_archived", "name")
    with system_scope(SystemWork.PROJECT_LOOKUP):
        return [ProjectVisit(each, user.pk, MemberRole(each.role)) for each in rows[:MAX_PROJECTS]]


def _projects_of(user: Any) -> QuerySet[Any]:
    """Return the projects that a person may see, each with the `role` that the person has in it."""
    if user.is_superuser:
        return Project.objects.annotate(role=Value(MemberRole.ADMIN.value))
    return Project.objects.filter(memberships__user_id=user.pk or 0).annotate(role=F("memberships__role"))
