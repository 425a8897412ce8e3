"""The base class of API views: caller, idempotent requests, responses."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, cast
from uuid import UUID

import msgspec
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.api.authentication import Caller
from apps.api.problems import invalid
from apps.api.waiting import is_part
from apps.intake.idempotency import Claim, ReplayableAnswer, fingerprint, run_once
from apps.intake.quotas import count_request
from apps.memories.ledger.actor import acting_as
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import end_user_id
from apps.pipeline.core.input_validation import checked_name
from apps.tenants.scope import tenant_scope
from apps.traces.get_or_create import actor_of

MAX_KEY_LENGTH = 255


class ApiView(APIView):
    """A view of the REST API.

    `scopes` maps HTTP methods to the scope that they need, where it differs from the default. With
    `action_checks_key`, the action's first SQL statement checks that the API key is valid, so authentication may use
    its cache.
    """

    scopes: dict[str, Scope] = {}
    action_checks_key = False
    entered: ExitStack  # what ends with the request

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer a request in the name of its API key, in the scope of its project."""
        with acting_as(lambda: actor_of(self.caller.api_key_id)), ExitStack() as self.entered:
            return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the caller and its limits."""
        super().initial(request, *args, **kwargs)
        if isinstance(request.user, Caller):
            caller = request.user
            self.entered.enter_context(tenant_scope(project_id=caller.project_id))
            if not (is_part(request) or getattr(request, "has_waited", False)):  # it was counted before
                count_request(f"key:{caller.api_key_id}", most=caller.requests_per_minute)
                count_request(f"project:{caller.project_id}", most=caller.project_requests_per_minute)

    @property
    def caller(self) -> Caller:
        """Return the authenticated caller."""
        return cast(Caller, self.request.user)

    def idempotent(self, do: Callable[[], ReplayableAnswer], *, kept: Mapping[str, Any] = {}) -> ReplayableAnswer:
        """Execute a request, at most once per Idempotency-Key; `kept` replaces values of the answer that is stored.

        Raises what run_once raises.
        """
        key = self.request.META.get("HTTP_IDEMPOTENCY_KEY")
        if key is None:
            return do()
        if not 1 <= len(checked_name(key, at="Idempotency-Key")) <= MAX_KEY_LENGTH:
            raise invalid(f"must have 1 to {MAX_KEY_LENGTH} characters", at="Idempotency-Key")
        body = msgspec.json.encode(self.request.data, order="sorted")
        digest = fingerprint(method=self.request.method or "", path=self.request.get_full_path(), body=body)
        # The end user that the body names, with whom a stored answer has to be erased.
        user_id = self.request.data.get("user_id") if isinstance(self.request.data, dict) else None
        named = end_user_id(project_id=self.caller.project_id, user_id=user_id) if isinstance(user_id, str) else None
        claim = Claim(project_id=self.caller.project_id, key=key, fingerprint=digest, end_user_id=named)
        return run_once(claim=claim, do=do, kept=kept)

    def end_user_id(self, user_id: str | None) -> UUID | None:
        """Return the end user to list; None (all users) is allowed for keys with scope admin."""
        if user_id is not None:
            return end_user_id(project_id=self.caller.project_id, user_id=checked_name(user_id, at="user_id"))
        if not self.caller.may(Scope.ADMIN):
            raise invalid("is required: only keys with scope admin can list all end users", at="user_id")
        return None


def http_response(answer: ReplayableAnswer, *, trace_id: str | None = None) -> HttpResponse:
    """Return the HTTP response, with a header if it is a replay."""
    headers = {"X-Trace-Id": trace_id} if trace_id else {}
    if answer.replayed:
        headers["Idempotent-Replayed"] = "true"
    body = msgspec.json.encode(answer.body)
    return HttpResponse(body, status=answer.status, headers=headers, content_type="application/json")
