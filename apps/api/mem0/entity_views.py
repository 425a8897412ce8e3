"""End users in the words of mem0's client: entities that are listed and deleted, and their profiles."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.actions.users.services import erase_user, list_users
from apps.api.mem0 import refusals
from apps.api.mem0.answers import profile_answer, user_answer
from apps.api.mem0.base import Mem0View
from apps.api.problems import Code, Problem
from apps.api.validation import not_found
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import end_user_id
from apps.pipeline.core.input_validation import checked_name
from apps.tenants.models import EndUser

MOST_USERS = 10_000
USER, OTHERS = "user", ("agent", "app", "run")


@extend_schema(exclude=True)
class Mem0EntitiesView(Mem0View):
    """The end users of the project."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN}

    def get(self, request: Request) -> Response:
        """List end users; agents, applications and runs are not listed.

        The client asks for no further pages, and deletes whom it is shown to delete all: more than 10,000 are refused.
        """
        users = list_users(project_id=self.caller.project_id).order_by("external_id")
        found = [user_answer(user) for user in users[: MOST_USERS + 1]]
        if len(found) > MOST_USERS:
            raise Problem(Code.NOT_SUPPORTED, refusals.MANY_USERS)
        return Response({"count": len(found), "next": None, "previous": None, "results": found})


@extend_schema(exclude=True)
class Mem0EntityView(Mem0View):
    """An end user, to be deleted."""

    scopes = {"DELETE": Scope.ADMIN}
    archived_methods = ("DELETE",)  # as in DELETE /v1/users/{user_id}

    def delete(self, request: Request, kind: str, name: str) -> Response:
        """Erase an end user with all data."""
        if kind in OTHERS:
            raise Problem(Code.NOT_SUPPORTED, refusals.OTHER_ENTITIES)
        if kind != USER:
            raise not_found()
        erasure = erase_user(project_id=self.caller.project_id, user_id=checked_name(name, at="name"))
        state = "Entity deleted successfully!" if erasure.finished_at else "Entity deletion is under way"
        return Response({"message": state})


@extend_schema(exclude=True)
class Mem0ProfileView(Mem0View):
    """The profile of an end user, which this server never generates."""

    def get(self, request: Request, user_id: str) -> Response:
        """Tell that profiles are not enabled, as mem0's client expects it."""
        wanted = end_user_id(project_id=self.caller.project_id, user_id=checked_name(user_id, at="user_id"))
        if not EndUser.objects.for_project(self.caller.project_id).present().filter(id=wanted).exists():
            raise not_found()
        return Response(profile_answer(user_id))


@extend_schema(exclude=True)
class Mem0ProfileSettingsView(Mem0View):
    """The settings of profiles."""

    scopes = {"POST": Scope.READ}  # which is refused

    def get(self, request: Request) -> Response:
        """Tell that profiles are not enabled."""
        return Response({"enabled": False, "entities": {}, "capabilities": {}})

    def post(self, request: Request) -> Response:
        """Refuse to change them."""
        raise Problem(Code.NOT_SUPPORTED, refusals.PROFILES)
