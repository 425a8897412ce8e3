"""Memories that wait for review, stored directly."""

from django.utils import timezone

from apps.memories.models import Memory
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import MemoryType, Status
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.tenants.models import Project


def pending(project: Project, content: str, *, user: str = "rui", predicate: str = "said") -> Memory:
    """Store a memory that waits for review; its object is the last word, and no two triples of a user are the same."""
    new = NewMemory(
        type=MemoryType.FACT,
        subject=Mention("User"),
        predicate=predicate,
        object=ObjectValue(literal=content.split()[-1]),
        content=content,
        status=Status.PENDING_REVIEW,
        said_at=timezone.now(),
    )
    request = StoreRequest(project_id=project.pk, api_key_id=None, user_id=user, memories=(new,))
    return Memory.objects.get(pk=store(request=request)[0])


def queue_of(project: Project, count: int) -> list[Memory]:
    """Store memories that wait, in the order in which they are shown."""
    return [pending(project, f"Rui counts sheep {number}") for number in range(count)]
