"""Access to pages by project role."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from apps.alerts.verdict import Verdict, verdict_of
from apps.tenants.enums import MemberRole
from apps.tenants.models import Membership, Project
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
                return _to_login(request)
            visit = _project_visit(request.user, slug)
            if not visit.may(role):
                raise PermissionDenied(f"this page requires the role {role}")
            if visit.is_archived and not changes_archived and request.method not in _READS:
                raise ArchivedHere("this project is archived")
            request.visit = visit  # type: ignore[attr-defined]  # read by page_frame
            with tenant_scope(project_id=visit.project.pk):
                return view(request, visit, *args, **options)

        return wrapper

    return decorate


def projects_of(user: User | AnonymousUser) -> list[Project]:
    """Return the projects that a person may see, archived ones last, by name."""
    projects = Project.objects.annotate(is_archived=Q(archived_at__isnull=False))
    if not user.is_superuser:
        projects = projects.filter(memberships__user_id=user.pk or 0)
    with system_scope(SystemWork.PROJECT_LOOKUP):
        return list(projects.order_by("is_archived", "name")[:MAX_PROJECTS])


def visits_of(user: Any) -> list[ProjectVisit]:
    """Return the projects that a person may see with the person's roles, in the same order."""
    found = projects_of(user)
    if user.is_superuser:
        return [ProjectVisit(project, user.pk, MemberRole.ADMIN) for project in found]
    with system_scope(SystemWork.PROJECT_LOOKUP):
        roles = dict(Membership.objects.filter(user=user).values_list("project_id", "role"))
    return [ProjectVisit(project, user.pk, MemberRole(roles[project.pk])) for project in found]


def _project_visit(user: Any, slug: str) -> ProjectVisit:
    if user.is_superuser:
        with system_scope(SystemWork.PROJECT_LOOKUP):
            project = Project.objects.filter(slug=slug).first()
        role = MemberRole.ADMIN
    else:
        memberships = Membership.objects.select_related("project").filter(user=user, project__slug=slug)
        with system_scope(SystemWork.PROJECT_LOOKUP):
            membership = memberships.first()
        project = membership.project if membership else None
        role = MemberRole(membership.role) if membership else MemberRole.VIEWER
    if project is None:
        raise Http404("no such project")
    return ProjectVisit(project=project, person_id=user.pk, role=role)


def _to_login(request: HttpRequest) -> HttpResponse:
    """Redirect to the login page; a fragment request redirects the whole page."""
    htmx: HtmxDetails | None = getattr(request, "htmx", None)
    if htmx:
        back = redirect_to_login(htmx.current_url_abs_path or reverse("console:home"))
        return HttpResponseClientRedirect(back.url)
    return redirect_to_login(request.get_full_path())
