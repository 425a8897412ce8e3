"""/v1/keys, for keys of scope admin."""

from dataclasses import replace

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from apps.actions.keys.create_key import create_key
from apps.actions.keys.revoke_key import revoke_key
from apps.api.openapi import documented
from apps.api.pagination import Pages
from apps.api.problems import Code
from apps.api.reading import read_body, read_id, read_query
from apps.api.schemas.keys import CreatedKeyAnswer, KeyBody, KeyPage, KeysQuery, created_key_answer, key_answer
from apps.api.views.base import ApiView, kept, plain, response
from apps.intake.idempotency import ReplayableAnswer as KeptAnswer
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.core.input_validation import checked_moment, checked_name
from apps.tenants.models import ApiKey


class KeysView(ApiView):
    """Keys of the project."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN, "POST": Scope.ADMIN}

    @documented(operation="list_keys", summary="List keys", query=KeysQuery, answers={200: KeyPage})
    def get(self, request: Request) -> Response:
        """List the project's keys, the newest first, without their secrets."""
        query = read_query(request, KeysQuery)
        pages = Pages(limit=query.limit)
        found = pages.read(ApiKey.objects.filter(project_id=self.caller.project_id), request)
        return Response(plain(KeyPage(results=[key_answer(key) for key in found], **pages.links())))

    @documented(
        operation="create_key",
        summary="Make a key",
        body=KeyBody,
        answers={201: CreatedKeyAnswer},
        example={"name": "agent", "scopes": ["read", "write"]},
        repeatable=True,
    )
    def post(self, request: Request) -> HttpResponse:
        """Make a key and show it this once: a repeated request finds `key` null, for secrets are not kept."""
        body = read_body(request, KeyBody)
        return response(self.once(lambda: self._created(body), to_keep=_without_secret))

    def _created(self, body: KeyBody) -> KeptAnswer:
        created = create_key(
            project_id=self.caller.project_id,
            name=checked_name(body.name, at="/name"),
            scopes=body.scopes,
            expires_at=checked_moment(body.expires_at, at="/expires_at"),
        )
        return kept(created_key_answer(created.key, text=created.text), status=201)


def _without_secret(answer: KeptAnswer) -> KeptAnswer:
    return replace(answer, body={**answer.body, "key": None})


class KeyView(ApiView):
    """One key."""

    scopes = {"DELETE": Scope.ADMIN}

    @documented(operation="revoke_key", summary="Revoke a key", answers={204: None}, problems=[Code.NOT_FOUND])
    def delete(self, request: Request, key_id: str) -> Response:
        """Revoke a key at once; doing it again changes nothing."""
        revoke_key(project_id=self.caller.project_id, key_id=read_id(Prefix.API_KEY, key_id))
        return Response(status=204)
