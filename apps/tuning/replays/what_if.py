"""Run one turn through the whole funnel on what is known now; nothing is written."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from apps.common.errors import Conflict
from apps.memories.live_ports import live
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Origin
from apps.pipeline.core.enums import MemoryType, Role
from apps.pipeline.core.identifiers import end_user_id, new_id
from apps.pipeline.core.model_calls import ModelFailed
from apps.pipeline.core.operations import AddMemory
from apps.pipeline.core.plan import WritePlan, plan_from
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import Ports
from apps.pipeline.indexing import index
from apps.pipeline.redaction.redact import redact
from apps.projects.services import policy_of_version
from apps.tenants.models import EndUser
from apps.traces.recorder import operations_json
from apps.traces.trace_report import report_of
from apps.tuning.rules import request_of


def what_if(
    *,
    project_id: UUID,
    user_id: str,
    content: str,
    role: Role = Role.USER,
    before: str = "",
    version: int | None = None,
    asks_model: bool = False,
) -> dict[str, Any]:
    """Return what the pipeline would do with a turn of an end user, who may be new, in a session of its own.

    `before` is what the assistant said before it; without a version the active one is taken. Without `asks_model` the
    plain extractor reads, whatever the version says. Raises NotFound for an unknown version, Conflict while the end
    user is being erased.
    """
    policy = policy_of_version(project_id=project_id, number=version)
    user = end_user_id(project_id=project_id, user_id=user_id)
    if EndUser.objects.filter(id=user, erasing_since__isnull=False).exists():
        raise Conflict("the end user is being erased")
    redacted = redact(content, policy=policy.redaction).text
    ports = live() if asks_model else replace(live(), model=None)
    origin = Origin(project_id, end_user_id=user, session_id=new_id())
    request = request_of(origin, redacted, role, before=before, now=ports.now())
    screened = settled = flow.screen(Draft.start(request=request, policy=policy))
    if screened.turns:
        try:
            (settled,) = flow.extract([screened], ports)
            if not settled.failure:
                settled = flow.settle(settled, ports)
        except ModelFailed as failed:
            settled = screened.evolve(failure=str(failed))
    plan = plan_from(settled) if not settled.failure else WritePlan()
    return {
        "spans": settled.spans,
        "outcomes": report_of(settled).outcomes,
        "operations": operations_json(plan),
        "questions": _questions(plan, ports, policy),  # that new memories would be found by
        "redacted": redacted,  # the turn as it would be stored
        "failure": settled.failure,
    }


def _questions(plan: WritePlan, ports: Ports, policy: Policy) -> list[str]:
    """Return the questions of the index by templates; a model may be asked for better ones later."""
    added = [
        index.Indexable(
            id=each.memory_id,
            type=MemoryType(each.candidate.type),
            content=each.candidate.content,
            subject=each.candidate.subject.text,
            predicate=each.candidate.predicate,
            object_text=each.candidate.object_text,
        )
        for each in plan.of(AddMemory)
    ]
    entries = index.run(added, embedder=ports.embedder, policy=policy.index)
    return [question for entry in entries for question in entry.questions]
