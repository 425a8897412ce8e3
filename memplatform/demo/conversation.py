"""Send the sample conversation with its recorded answers, and wait until it is processed."""

import hashlib
import json
import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.pipeline.core.enums import ExtractorKind
from apps.projects.services import configure, restore_version
from apps.tenants.scope import tenant_scope
from apps.traces.models import ConfigurationVersion
from apps.traces.policies import active_policy
from memplatform.demo.client import Client, DemoFailed
from memplatform.demo.services import POLL, Services
from memplatform.settings import BASE_DIR

SAMPLE = BASE_DIR / "memplatform" / "samples" / "three_weeks.json"
MODEL = "recorded:three_weeks"
NOTE = "the sample is extracted from recorded answers of a model"
WORK_SECONDS = 180.0
LOOKS = 2  # consecutive checks without pending work: ages are rounded, so new work may look like none
FAILED = frozenset({"extraction_failed", "dead"})
ENDED = FAILED | {"done", "rejected"}


@dataclass(frozen=True, slots=True)
class Posted:
    """What was sent, and how many sessions the server already knew."""

    user_id: str
    trace_ids: frozenset[str]
    sessions: int
    turns: int
    repeated: int


def answer_the_sample(project_id: UUID) -> None:
    """Let a project extract from recorded answers; only once, as the sample is stored only once."""
    with tenant_scope(project_id=project_id):
        if ConfigurationVersion.objects.filter(project_id=project_id, note=NOTE).exists():
            return
        policy = active_policy(project_id=project_id)
        recorded = policy.extraction.model_copy(update={"extractor": ExtractorKind.MODEL, "model": MODEL})
        configure(project_id=project_id, policy=policy.model_copy(update={"extraction": recorded}), note=NOTE)


def end_answers(project_id: UUID) -> None:
    """Restore the settings that a project had before; settings that somebody has changed since stay."""
    with tenant_scope(project_id=project_id):
        ours = ConfigurationVersion.objects.filter(project_id=project_id, is_active=True, note=NOTE).first()
        if ours is not None and ours.base is not None:
            restore_version(project_id=project_id, number=ours.base)


def post_sample(client: Client) -> Posted:
    """Send each session as one request with an Idempotency-Key derived from it: a second run changes nothing."""
    sample = json.loads(SAMPLE.read_text(encoding="utf-8"))
    replies = []
    for session in sample["sessions"]:
        body = {"user_id": sample["user_id"], "mode": "sync", **session}  # so that it waits for no batch
        digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        key = f"demo-{session['session_id']}-{digest[:16]}"
        replies.append(client.post("/v1/turns", body, **{"Idempotency-Key": key}))
    return Posted(
        user_id=sample["user_id"],
        trace_ids=frozenset(reply.json()["trace_id"] for reply in replies),
        sessions=len(replies),
        turns=sum(len(session["turns"]) for session in sample["sessions"]),
        repeated=sum(reply.headers.get("idempotent-replayed") == "true" for reply in replies),
    )


def await_work(client: Client, services: Services, posted: Posted) -> None:
    """Wait until every trace has ended and no work is pending. Raises DemoFailed if something failed."""

    def have_ended() -> bool:
        ended = [trace for trace in traces_of(client, posted) if trace["status"] in ENDED]
        return len(ended) == len(posted.trace_ids)

    def is_indexed() -> bool:
        for _ in range(LOOKS):
            ready = client.get("/readyz")
            if ready["oldest_queued_seconds"] or ready["vector_lag_seconds"]:
                return False
            time.sleep(POLL)
        return True

    services.wait_until(have_ended, seconds=WORK_SECONDS, what="the pipeline")
    services.wait_until(is_indexed, seconds=WORK_SECONDS, what="indexing")
    failed = [trace["id"] for trace in traces_of(client, posted) if trace["status"] in FAILED]
    if failed:
        raise DemoFailed(f"processing failed: {', '.join(failed)}")


def traces_of(client: Client, posted: Posted) -> list[dict[str, Any]]:
    """Return the traces of the end user that the demo's requests made."""
    found = client.pages("/v1/traces", user_id=posted.user_id, limit=200)
    return [trace for trace in found if trace["id"] in posted.trace_ids]
