"""Redact the names by which entities have been called."""

from uuid import UUID

from django.db import transaction

from apps.memories.models import EntityAlias
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.redaction.redact import redact


def redact_aliases(*, project_id: UUID, policy: RedactionPolicy, is_dry_run: bool) -> int:
    """Redact the aliases of a project's entities and return how many; of those that become the same, one stays."""
    changed = 0
    for alias in EntityAlias.objects.filter(end_user__project_id=project_id).order_by("pk").iterator():
        name = redact(alias.alias, policy=policy).text
        if name == alias.alias:
            continue
        changed += 1
        if is_dry_run:
            continue
        alias.alias, alias.folded = name[:255], canonical_text(name)[:255]
        same = EntityAlias.objects.filter(end_user_id=alias.end_user_id, entity_id=alias.entity_id, folded=alias.folded)
        with transaction.atomic():
            if same.exclude(pk=alias.pk).exists():
                alias.delete()
            else:
                alias.save(update_fields=["alias", "folded"])
    return changed
