"""Judge the turns of a file by the pre-filter, as intake would."""

from collections.abc import Collection
from uuid import UUID

from django.utils import timezone

from apps.imports.readers.chunks import ImportChunk
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.turn import SourceTurn
from apps.traces.policies import active_policy

CONTEXT_TURNS = 8  # that are said before a chunk; the pre-filter looks at the last ones


class Screening:
    """Judges the chunks of one file in their order, under the policy that is active now."""

    def __init__(self, *, project_id: UUID) -> None:
        self._project_id = project_id
        self._policy = active_policy(project_id=project_id)
        self._session = ("", "")
        self._earlier: tuple[SourceTurn, ...] = ()

    def drops(self, chunk: ImportChunk, *, known: Collection[str]) -> list[str]:
        """Return the reasons for which turns that are not known would be dropped, one each."""
        session = (chunk.user_id, chunk.session_id)
        if session != self._session:
            self._session, self._earlier = session, ()
        first = self._earlier[-1].position + 1 if self._earlier else 0
        now = timezone.now()
        turns = tuple(
            SourceTurn.accepted(each.turn, id=new_id(), position=position, received_at=now)
            for position, each in enumerate(chunk.turns, start=first)
            if each.turn.external_id not in known
        )
        if not turns:
            return []
        origin = Origin(project_id=self._project_id, end_user_id=new_id(), session_id=new_id())
        request = Request(trace_id=new_id(), origin=origin, turns=turns, earlier_turns=self._earlier)
        self._earlier = (*self._earlier, *turns)[-CONTEXT_TURNS:]
        return [drop.reason for drop in flow.screen(Draft.start(request=request, policy=self._policy)).drops]
