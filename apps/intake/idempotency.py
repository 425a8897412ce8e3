"""Do what a request asks at most once, however often it is sent under one Idempotency-Key."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from apps.actions.errors import Refused
from apps.traces.models import IdempotentRequest


class IdempotencyMismatch(Refused):
    """The Idempotency-Key was used for another request."""


class IdempotencyInProgress(Refused):
    """The request of this Idempotency-Key is still running; ask again later."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One request as its sender names it; `fingerprint` tells requests of one key apart."""

    project_id: UUID
    key: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class ReplayableAnswer:
    """What a request was answered; JSON-ready. `replayed` tells that nothing was done this time."""

    status: int
    body: dict[str, Any]
    replayed: bool = False


def fingerprint(*, method: str, path: str, body: bytes) -> str:
    """Hash a request (SHA-256, hexadecimal)."""
    return hashlib.sha256(b"\x1f".join((method.encode(), path.encode(), body))).hexdigest()


def run_once(
    *,
    claim: Claim,
    do: Callable[[], ReplayableAnswer],
    to_keep: Callable[[ReplayableAnswer], ReplayableAnswer] | None = None,
) -> ReplayableAnswer:
    """Answer a request: by doing it, or as it was answered before.

    The claim commits together with what `do` writes, so that a request which was refused or killed leaves
    neither. `to_keep` makes the answer that repeats get, where it differs from the first one.
    Raises IdempotencyMismatch, IdempotencyInProgress, and what `do` raises.
    """
    with transaction.atomic():
        _hold(claim)
        kept = IdempotentRequest.objects.filter(project_id=claim.project_id, key=claim.key).first()
        if kept is not None:
            return _answer_of(kept, claim)
        answer = do()
        _keep(claim, to_keep(answer) if to_keep else answer)
        return answer


def _hold(claim: Claim) -> None:
    """Hold the key until the transaction ends, or refuse to wait for whoever does."""
    digest = hashlib.blake2b(f"{claim.project_id}\x1f{claim.key}".encode(), digest_size=8).digest()
    with connection.cursor() as cursor:
        cursor.execute("select pg_try_advisory_xact_lock(%s)", [int.from_bytes(digest, signed=True)])
        if not cursor.fetchone()[0]:
            raise IdempotencyInProgress("the request of this Idempotency-Key is still running")


def _answer_of(kept: IdempotentRequest, claim: Claim) -> ReplayableAnswer:
    if kept.fingerprint != claim.fingerprint:
        raise IdempotencyMismatch("this Idempotency-Key was used for another request")
    if kept.answer_status is None:
        raise IdempotencyInProgress("the request of this Idempotency-Key is still running")
    return ReplayableAnswer(status=kept.answer_status, body=kept.answer or {}, replayed=True)


def _keep(claim: Claim, answer: ReplayableAnswer) -> None:
    IdempotentRequest.objects.create(
        project_id=claim.project_id,
        key=claim.key,
        fingerprint=claim.fingerprint,
        answer_status=answer.status,
        answer=answer.body,
    )
