"""What reviewers decide about memories: what they had seen, and what came of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from apps.actions.errors import Conflict, NotFound, Refused
from apps.actions.get_or_create import actor_of
from apps.actions.memories.revise import find_memory
from apps.memories.models import Memory
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.enums import LIVE_STATUSES
from apps.pipeline.core.operations import Operation
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan

APPROVALS = frozenset({"approved", "kept", "took_over"})  # operations by which a person says that a memory is true


@dataclass(frozen=True, slots=True)
class SeenVersion:
    """A memory in the version that a person had on the screen, or that a decision left behind."""

    memory_id: UUID
    version: int

    def next(self) -> "SeenVersion":
        """Return the same memory one change later."""
        return SeenVersion(self.memory_id, self.version + 1)


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Who decides, in which project: a person in the console, or the holder of an API key."""

    project_id: UUID
    person_id: int | None = None
    api_key_id: UUID | None = None

    @property
    def actor(self) -> str:
        """Return who decides, as history and ledger record it."""
        return actor_of(self.api_key_id, self.person_id)


@dataclass(frozen=True, slots=True)
class DecisionRefusal:
    """A memory about which nothing was decided, with the reason."""

    memory_id: UUID
    why: Refused


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """What a decision left behind: enough to undo it."""

    memories: tuple[SeenVersion, ...] = ()
    link_id: UUID | None = None
    refused: tuple[DecisionRefusal, ...] = ()


def decide_each(*, seen: Sequence[SeenVersion], decide: Callable[[SeenVersion], None]) -> ReviewDecision:
    """Decide about memories one by one; one that can't be decided holds up no other."""
    done: list[SeenVersion] = []
    refused: list[DecisionRefusal] = []
    for each in seen:
        try:
            decide(each)
            done.append(each.next())
        except Refused as why:
            refused.append(DecisionRefusal(each.memory_id, why))
    return ReviewDecision(memories=tuple(done), refused=tuple(refused))


def find_seen(*, by: Reviewer, seen: SeenVersion) -> Memory:
    """Return a memory as it was seen. Raises NotFound, Conflict when it has changed since."""
    memory = find_memory(project_id=by.project_id, memory_id=seen.memory_id)
    if memory.version != seen.version:
        raise Conflict("somebody else has changed the memory meanwhile")
    return memory


def check_pair(one: Memory, other: Memory) -> None:
    """Raise NotFound for memories of two end users, Conflict if one isn't live or they are private to two agents."""
    if one.end_user_id != other.end_user_id or one.pk == other.pk:
        raise NotFound("there are no such two memories of one user")
    for memory in (one, other):
        if memory.status not in LIVE_STATUSES:
            raise Conflict(f"the memory is {memory.status} meanwhile")
    if one.private_to != other.private_to:
        raise Conflict("the memories are private to different agents")


def apply_decision(*, by: Reviewer, end_user_id: UUID, operations: Sequence[Operation]) -> None:
    """Apply a person's operations on what is kept of one end user. Raises Conflict if somebody was faster."""
    context = WriteContext(project_id=by.project_id, end_user_id=end_user_id, actor=by.actor)
    try:
        with transaction.atomic():
            apply_plan(plan=WritePlan(operations=tuple(operations)), context=context)
    except StalePlan as stale:
        raise Conflict("somebody else was faster") from stale
