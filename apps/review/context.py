"""What a decision about memories can affect: the live memories of their slots, and the policy in force."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from apps.common.errors import Conflict
from apps.memories.models import Memory
from apps.memories.reading.postgres_reader import HolderProbe, PostgresMemoryReader, holders_of_several
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import Slot
from apps.pipeline.review.decisions import ReviewContext
from apps.traces.policies import active_policy


def review_context(
    *,
    memories: Sequence[Memory],
    linked: Collection[UUID] = (),
    contradicts: Collection[UUID] = (),
    policy: Policy | None = None,
) -> ReviewContext:
    """Read live memories of one end user, those that hold their slots and those linked to them (one round trip).

    `policy` is the active one, if the caller has it already. Memories that are no longer live are not in the answer.
    """
    slots = [Slot(subject_id=each.subject_id, predicate=each.predicate) for each in memories if each.subject_id]
    found = PostgresMemoryReader().holders(
        end_user_id=memories[0].end_user_id,
        slots=slots,
        ids=[*(each.pk for each in memories), *linked, *contradicts],
        private_to=memories[0].private_to,
    )
    return ReviewContext(
        memories={each.id: each for each in found},
        policy=policy or active_policy(project_id=memories[0].project_id),
        contradicts=frozenset(contradicts),
    )


def context_to_decide(memories: Sequence[Memory]) -> ReviewContext:
    """Read the same for a decision about all of these memories.

    Raises Conflict if one is no longer live: somebody has retracted it, or deleted its turn, since it was read.
    """
    context = review_context(memories=memories)
    if any(each.pk not in context.memories for each in memories):
        raise Conflict("somebody else has changed the memory meanwhile")
    return context


def review_contexts(
    *, memories: Sequence[Memory], contradicts: Mapping[UUID, Collection[UUID]], policy: Policy
) -> dict[UUID, ReviewContext]:
    """Read what approving each of some memories can affect, by memory, of any end users (one round trip)."""
    probes = [
        HolderProbe(
            end_user_id=each.end_user_id,
            slots=(Slot(subject_id=each.subject_id, predicate=each.predicate),) if each.subject_id else (),
            ids=(each.pk, *contradicts.get(each.pk, ())),
            private_to=each.private_to,
        )
        for each in memories
    ]
    found = holders_of_several(probes=probes)
    return {
        memory.pk: ReviewContext(
            memories={each.id: each for each in holders},
            policy=policy,
            contradicts=frozenset(contradicts.get(memory.pk, ())),
        )
        for memory, holders in zip(memories, found, strict=True)
    }
