"""Who may see and do what: every page names the role that it takes, and is given the visit."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from apps.pipeline.core.enums import MemberRole
from apps.tenants.models import Membership, Project

_LADDER = tuple(MemberRole)  # each role includes those before it
SIGNED_IN = 200  # projects in the switcher at most

View = Callable[..., HttpResponseBase]


@dataclass(frozen=True, slots=True)
class Visit:
    """A person in a project."""

    project: Project
    person_id: int
    role: MemberRole

    def may(self, role: MemberRole) -> bool:
        """Tell whether the person may do what takes a role."""
        return _LADDER.index(self.role) >= _LADDER.index(role)

    @property
    def may_review(self) -> bool:
        """Tell whether the person may approve, edit and reject."""
        return self.may(MemberRole.REVIEWER)

    @property
    def may_tune(self) -> bool:
        """Tell whether the person may change rules, keys, members and the configuration."""
        return self.may(MemberRole.ADMIN)


def page(role: MemberRole = MemberRole.VIEWER) -> Callable[[View], View]:
    """Let members of the project in whose role includes `role`; superusers may do everything everywhere.

    The view gets the visit as its second argument, and `request.visit` is there for the shell. A project of others
    looks like one that doesn't exist.
    """

    def guarded(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, slug: str, *args: Any, **options: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return _to_login(request)
            visit = _visit(request.user, slug)
            if not visit.may(role):
                raise PermissionDenied(f"this takes the role {role}")
            request.visit = visit  # type: ignore[attr-defined]  # for the shell
            return view(request, visit, *args, **options)

        return checked

    return guarded


def projects_of(user: User | AnonymousUser) -> list[Project]:
    """Return the projects that a person may look at, by name."""
    projects = Project.objects.all()
    if not user.is_superuser:
        projects = projects.filter(memberships__user_id=user.pk or 0)
    return list(projects.order_by("name")[:SIGNED_IN])


def _visit(user: Any, slug: str) -> Visit:
    if user.is_superuser:
        project = Project.objects.filter(slug=slug).first()
        role = MemberRole.ADMIN
    else:
        membership = Membership.objects.select_related("project").filter(user=user, project__slug=slug).first()
        project = membership.project if membership else None
        role = MemberRole(membership.role) if membership else MemberRole.VIEWER
    if project is None:
        raise Http404("there is no such project")
    return Visit(project=project, person_id=user.pk, role=role)


def _to_login(request: HttpRequest) -> HttpResponse:
    """Send to the login, from a fragment the whole page."""
    htmx: HtmxDetails | None = getattr(request, "htmx", None)
    if htmx:
        back = redirect_to_login(htmx.current_url_abs_path or "/console/")
        return HttpResponseClientRedirect(back.url)
    return redirect_to_login(request.get_full_path())
