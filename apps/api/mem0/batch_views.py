"""Batches of mem0's client: memories that are changed or deleted together."""

from collections.abc import Sequence
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.actions.memories.retracting import retract_several
from apps.actions.memories.revise_several import revise_several
from apps.actions.memories.revising import Revision
from apps.api.mem0.answers import batch_answer
from apps.api.mem0.base import Mem0View
from apps.api.mem0.bodies import Mem0BatchBody, Mem0BatchUpdateBody
from apps.api.problems import Code, Problem
from apps.api.schemas.memories import changes_of
from apps.api.validation import read_body, read_ids
from apps.memories.models import Memory
from apps.pipeline.core.enums import Scope, Status
from apps.pipeline.core.identifiers import Prefix, show


@extend_schema(exclude=True)
class Mem0BatchView(Mem0View):
    """Several memories, each with its outcome. Nothing is done if one of them does not exist."""

    def put(self, request: Request) -> Response:
        """Change up to 1,000 memories."""
        body = read_body(request, Mem0BatchUpdateBody)
        memory_ids = self._existing([each.memory_id for each in body.memories])
        revisions = [
            Revision(
                project_id=self.caller.project_id,
                memory_id=memory_id,
                changes=changes_of(each.revision()),
                api_key_id=self.caller.api_key_id,
                expected_version=None,
                may_review=self.caller.may(Scope.ADMIN),
                is_trusted=self.caller.may(Scope.TRUST),
            )
            for memory_id, each in zip(memory_ids, body.memories, strict=True)
        ]
        return Response(batch_answer("updated", revise_several(revisions=revisions)))

    def delete(self, request: Request) -> Response:
        """Retract up to 1,000 memories."""
        body = read_body(request, Mem0BatchBody)
        outcomes = retract_several(
            project_id=self.caller.project_id,
            memory_ids=self._existing([each.memory_id for each in body.memories]),
            api_key_id=self.caller.api_key_id,
            is_trusted=self.caller.may(Scope.TRUST),
        )
        return Response(batch_answer("deleted", outcomes))

    def _existing(self, named: Sequence[str]) -> list[UUID]:
        """Return the identifiers. Raises Problem not_found if a memory does not exist or has been deleted."""
        wanted: list[UUID] = read_ids(Prefix.MEMORY, named, at="/memories")
        rows = Memory.objects.for_project(self.caller.project_id).filter(id__in=wanted)
        present = set(rows.exclude(status__in=(Status.RETRACTED, Status.REJECTED)).values_list("id", flat=True))
        for memory_id in wanted:
            if memory_id not in present:
                raise Problem(Code.NOT_FOUND, f"{show(Prefix.MEMORY, memory_id)} was not found in this project")
        return wanted
