"""What mem0's client can ask for and this server has no counterpart of: a problem says what to use instead."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.mem0.base import Mem0View
from apps.api.problems import Code, Problem
from apps.pipeline.core.enums import Scope

EXPORTS = "memories are not written in a schema of the caller: use get_all, or GET /v1/users/{user_id}/export"
PROFILES = "profiles are not generated: use get_summary, or POST /v1/context"
PROJECTS = "projects, members and webhooks are managed in the console"
OTHER_ENTITIES = "memories belong to end users: use delete_all(user_id=…, agent_id=…), or erase an end user"
MANY_USERS = "there are more than 10,000 end users: use GET /v1/users, which has pages, and delete_users(user_id=…)"
ENTITIES = "entities are deleted by their names: use delete_users"


@extend_schema(exclude=True)
class Mem0RefusalView(Mem0View):
    """An address that is refused with a reason, which the client raises as its ValidationError."""

    scopes = dict.fromkeys(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"), Scope.READ)
    reason = ""  # of as_view

    def _refuse(self, request: Request, **_: Any) -> Response:
        raise Problem(Code.NOT_SUPPORTED, self.reason)

    get = post = put = patch = delete = _refuse
