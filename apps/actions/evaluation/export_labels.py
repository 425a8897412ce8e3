"""The labels of a project as JSON lines, one for each label."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import msgspec

from apps.memories.models import EvaluationLabel
from apps.pipeline.core.identifiers import Prefix, show
from apps.tenants.streamed_rows import streamed_rows


def export_labels(*, project_id: UUID) -> Iterator[str]:
    """Yield a line of JSON for each label, the oldest first, with the sentence or turn that it is about.

    The last line has the kind `end`; a file without it is not complete.
    """
    rows = EvaluationLabel.objects.filter(item__sample__project_id=project_id).select_related(
        "item__sample", "item__memory", "item__turn", "end_user"
    )
    for label in streamed_rows(rows.order_by("id"), project_id=project_id):
        yield msgspec.json.encode(_line(label)).decode() + "\n"
    yield '{"kind":"end"}\n'


def _line(label: EvaluationLabel) -> dict[str, Any]:
    item = label.item
    memory, turn = item.memory, item.turn
    return {
        "sample_id": item.sample.shown_id,
        "week": item.sample.week,
        "item_id": item.shown_id,
        "kind": item.kind,
        "user_id": label.end_user.external_id,
        "memory_id": memory.shown_id if memory else None,
        "turn_id": turn.shown_id if turn else None,
        "content": item.content,
        "evidence": memory.evidence if memory else None,
        "memory_type": item.memory_type or None,
        "model": item.model or None,
        "version": item.version,
        "labeller": label.labeller,
        "value": label.value,
        "remembered_memory_id": show(Prefix.MEMORY, label.remembered_id) if label.remembered_id else None,
        "labelled_at": label.created_at,
    }
