"""How far an empty project has come on the way to its first trace."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from apps.pipeline.core.enums import Scope
from apps.tenants.models import ApiKey
from apps.traces.models import Trace


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """Whether there is a valid key that may write, and the first trace; None until there is one."""

    has_key: bool
    trace_id: UUID | None


def first_steps(*, project_id: UUID) -> FirstSteps:
    """Return the steps that are done, in two statements."""
    is_valid = Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=timezone.now()))
    keys = ApiKey.objects.filter(is_valid, project_id=project_id, scopes__contains=[Scope.WRITE.value])
    return FirstSteps(has_key=keys.exists(), trace_id=_first_trace(project_id))


def is_empty(*, project_id: UUID) -> bool:
    """Return True if the project has no trace."""
    return _first_trace(project_id) is None


def _first_trace(project_id: UUID) -> UUID | None:
    return Trace.objects.filter(project_id=project_id).order_by().values_list("id", flat=True).first()
