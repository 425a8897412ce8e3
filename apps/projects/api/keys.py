"""Views of /v1/keys, for keys with scope admin."""

from typing import Annotated, Any

from msgspec import Meta
from rest_framework.request import Request

from apps.api.base import ApiView
from apps.api.operations import operation
from apps.api.problems import Code
from apps.api.schemas import Moment, PageBody, PageQuery, RequestBody, ResponseBody, response_of
from apps.api.validation import read_id
from apps.pipeline.core.enums import MemorySharing, Scope
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.input_validation import checked_moment, checked_name
from apps.projects.api_keys import create_key, revoke_key
from apps.tenants.models import ApiKey
from apps.traces.policies import active_policy


class KeyBody(RequestBody):
    """An API key to create."""

    name: Annotated[str, Meta(min_length=1, max_length=120)]
    scopes: Annotated[tuple[Scope, ...], Meta(min_length=1, max_length=len(Scope))]
    expires_at: Moment | None = None


class KeyResponse(ResponseBody):
    """An API key without its secret."""

    id: str
    name: str
    prefix: str
    scopes: list[Scope]
    created_at: Moment
    expires_at: Moment | None
    revoked_at: Moment | None
    last_used_at: Moment | None


class KeyList(PageBody):
    """API keys, newest first."""

    results: list[KeyResponse]


class CreatedKeyResponse(KeyResponse):
    """A new API key. `key` is returned only once; it is null in the response to a repeated request."""

    key: str | None


class CurrentKeyResponse(KeyResponse):
    """The API key of the request, its project, and whether agents share their memories there."""

    project_id: str
    memory_sharing: MemorySharing


def key_response(key: ApiKey) -> KeyResponse:
    """Convert a key."""
    return response_of(KeyResponse, key, **_shown(key))


def _shown(key: ApiKey) -> dict[str, Any]:
    scopes = [Scope(scope) for scope in key.scopes]
    return {"id": show(Prefix.API_KEY, key.id), "prefix": f"mp_{key.prefix}", "scopes": scopes}


class KeysView(ApiView):
    """The API keys of the project."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN, "POST": Scope.ADMIN}

    @operation("list_keys", summary="List keys")
    def get(self, request: Request, query: PageQuery) -> KeyList:
        """List the project's keys, newest first, without their secrets."""
        return self.page(
            KeyList, ApiKey.objects.filter(project_id=self.caller.project_id), key_response, limit=query.limit
        )

    @operation(
        "create_key",
        summary="Create a key",
        status=201,
        example={"name": "agent", "scopes": ["read", "write"]},
        repeatable=True,
        kept={"key": None},
    )
    def post(self, request: Request, body: KeyBody) -> CreatedKeyResponse:
        """Create a key. Its secret is returned only once: in the response to a repeated request `key` is null."""
        created = create_key(
            project_id=self.caller.project_id,
            name=checked_name(body.name, at="/name"),
            scopes=body.scopes,
            expires_at=checked_moment(body.expires_at, at="/expires_at"),
        )
        return response_of(CreatedKeyResponse, created.key, **_shown(created.key), key=created.text)


class CurrentKeyView(ApiView):
    """The API key of the request."""

    @operation("read_current_key", summary="Read the key of the request")
    def get(self, request: Request) -> CurrentKeyResponse:
        """Tell what the key of the request may do, and in which project."""
        key = ApiKey.objects.get(id=self.caller.api_key_id)
        sharing = active_policy(project_id=self.caller.project_id).sharing.memory_sharing
        project = show(Prefix.PROJECT, key.project_id)
        return response_of(CurrentKeyResponse, key, **_shown(key), project_id=project, memory_sharing=sharing)


class KeyView(ApiView):
    """One API key."""

    scopes = {"DELETE": Scope.ADMIN}
    archived_methods = ("DELETE",)

    @operation("revoke_key", summary="Revoke a key", problems=[Code.NOT_FOUND])
    def delete(self, request: Request, key_id: str) -> None:
        """Revoke a key immediately. Repeating it changes nothing."""
        revoke_key(project_id=self.caller.project_id, key_id=read_id(Prefix.API_KEY, key_id))
