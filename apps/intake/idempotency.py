"""Execute a request at most once, however often it is sent with the same Idempotency-Key."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import BooleanField, Func, Value

from apps.common.errors import Refused
from apps.tenants.end_users import keep_from_writers
from apps.tenants.models import Project
from apps.traces.models import IdempotentRequest


class IdempotencyMismatch(Refused):
    """The Idempotency-Key was used for another request."""


class IdempotencyInProgress(Refused):
    """The request with this Idempotency-Key is still running; retry later."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A request with an Idempotency-Key; `fingerprint` distinguishes different requests with the same key.

    `end_user_id` is the end user that the request names, if it names one.
    """

    project_id: UUID
    key: str
    fingerprint: str
    end_user_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ReplayableAnswer:
    """A JSON-ready answer; `replayed` means that it was stored by an earlier execution."""

    status: int
    body: dict[str, Any]
    replayed: bool = False


def fingerprint(*, method: str, path: str, body: bytes) -> str:
    """Hash a request (SHA-256, hexadecimal)."""
    return hashlib.sha256(b"\x1f".join((method.encode(), path.encode(), body))).hexdigest()


def run_once(*, claim: Claim, do: Callable[[], ReplayableAnswer], kept: Mapping[str, Any] = {}) -> ReplayableAnswer:
    """Execute a request, or return the stored answer of an earlier execution.

    The answer is stored in the transaction of `do`, so a refused or interrupted request stores nothing. The values of
    `kept` replace those that repetitions must not be told. Raises IdempotencyMismatch, IdempotencyInProgress,
    UserBeingErased, and what `do` raises.
    """
    digest = hashlib.blake2b(f"{claim.project_id}\x1f{claim.key}".encode(), digest_size=8).digest()
    number = Value(int.from_bytes(digest, signed=True))
    is_locked = Func(number, function="pg_try_advisory_xact_lock", output_field=BooleanField())
    with transaction.atomic():
        # The key is locked until the transaction ends.
        if not Project.objects.values_list(is_locked, flat=True).get(id=claim.project_id):
            raise IdempotencyInProgress("the request with this Idempotency-Key is still running")
        if claim.end_user_id is not None:
            keep_from_writers(claim.end_user_id)
        stored = IdempotentRequest.objects.filter(project_id=claim.project_id, key=claim.key).first()
        if stored is not None:
            if stored.fingerprint != claim.fingerprint:
                raise IdempotencyMismatch("this Idempotency-Key was used for another request")
            return ReplayableAnswer(status=stored.answer_status or 200, body=stored.answer or {}, replayed=True)
        answer = do()
        IdempotentRequest.objects.create(
            project_id=claim.project_id,
            end_user_id=claim.end_user_id,
            key=claim.key,
            fingerprint=claim.fingerprint,
            answer_status=answer.status,
            answer={**answer.body, **kept},
        )
        return answer
