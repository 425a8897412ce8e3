"""What every view shares: its caller, its answers, its repeatable requests, its documentation."""

from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

import msgspec
from django.http import HttpResponse
from rest_framework.views import APIView

from apps.api.authentication import Caller
from apps.api.problems import invalid
from apps.api.schemas.common import Answer
from apps.intake.idempotency import Claim, fingerprint, run_once
from apps.intake.idempotency import ReplayableAnswer as KeptAnswer
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import end_user_id
from apps.pipeline.core.input_validation import checked_name

MAX_KEY_LENGTH = 255


class ApiView(APIView):
    """A view of the REST interface.

    `scopes` names the scope that a method needs, where it is not the usual one. Where `asks_if_key_holds`, the action
    asks that together with what it needs anyway, and raises; else it is asked before.
    """

    scopes: dict[str, Scope] = {}
    asks_if_key_holds = False

    @property
    def caller(self) -> Caller:
        """Return who calls; permissions have seen to it that there is someone."""
        return cast(Caller, self.request.user)

    def once(
        self, do: Callable[[], KeptAnswer], *, to_keep: Callable[[KeptAnswer], KeptAnswer] | None = None
    ) -> KeptAnswer:
        """Do what the request asks; under an Idempotency-Key, at most once. Raises what actions.idempotency raises."""
        key = self.request.headers.get("Idempotency-Key")
        if key is None:
            return do()
        if not 1 <= len(checked_name(key, at="Idempotency-Key")) <= MAX_KEY_LENGTH:
            raise invalid(f"must hold 1 to {MAX_KEY_LENGTH} characters", at="Idempotency-Key")
        body = msgspec.json.encode(self.request.data, order="sorted")
        asked = fingerprint(method=self.request.method or "", path=self.request.get_full_path(), body=body)
        return run_once(
            claim=Claim(project_id=self.caller.project_id, key=key, fingerprint=asked), do=do, to_keep=to_keep
        )

    def end_user_id(self, user_id: str | None) -> UUID | None:
        """Return the end user whom a list is about; keys of scope admin may ask about all of them (None)."""
        if user_id is not None:
            return end_user_id(project_id=self.caller.project_id, user_id=checked_name(user_id, at="user_id"))
        if not self.caller.may(Scope.ADMIN):
            raise invalid("is needed: only keys of scope admin list all end users", at="user_id")
        return None


def kept(answer: Answer, *, status: int = 200) -> KeptAnswer:
    """Return an answer in the form in which it can be repeated."""
    return KeptAnswer(status=status, body=plain(answer))


def plain(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON-ready values."""
    body: dict[str, Any] = msgspec.to_builtins(answer)
    return body


def response(answer: KeptAnswer, *, trace_id: str | None = None) -> HttpResponse:
    """Return the HTTP answer, written out, and marked when it is a repetition."""
    headers = {"X-Trace-Id": trace_id} if trace_id else {}
    if answer.replayed:
        headers["Idempotent-Replayed"] = "true"
    body = msgspec.json.encode(answer.body)
    return HttpResponse(body, status=answer.status, headers=headers, content_type="application/json")
