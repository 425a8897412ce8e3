"""Which entries of a chunk an earlier import has stored already."""

from uuid import UUID

from django.db.models import F
from django.db.models.fields.json import KT

from apps.imports.readers.chunks import ImportChunk
from apps.imports.readers.imported_memories import ORIGIN
from apps.memories.models import Memory
from apps.pipeline.core import identifiers
from apps.tenants.scope import tenant_scope
from apps.traces.models import Turn


def known_turns(*, project_id: UUID, chunk: ImportChunk) -> frozenset[str]:
    """Return the turn_ids that are stored; those that a rollback has taken back are not."""
    user = identifiers.end_user_id(project_id=project_id, user_id=chunk.user_id)
    session = identifiers.session_id(end_user_id=user, session_id=chunk.session_id)
    with tenant_scope(project_id=project_id, end_user_id=user):
        stored = Turn.objects.filter(end_user_id=user, session_id=session, withdrawn=False)
        named = stored.filter(external_id__in=[each.turn.external_id for each in chunk.turns])
        return frozenset(named.values_list("external_id", flat=True))


def known_memories(*, project_id: UUID, chunk: ImportChunk, file_format: str) -> frozenset[str]:
    """Return the identifiers in the file of memories that were stored from such a file."""
    user = identifiers.end_user_id(project_id=project_id, user_id=chunk.user_id)
    with tenant_scope(project_id=project_id, end_user_id=user):
        stored = Memory.objects.filter(end_user_id=user, **{f"metadata__{ORIGIN}__from": file_format})
        named = stored.alias(named=KT(f"metadata__{ORIGIN}__id")).annotate(origin=F("named"))
        wanted = named.filter(origin__in=[each.external_id for each in chunk.memories])
        return frozenset(wanted.values_list("origin", flat=True))
