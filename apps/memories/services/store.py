"""Store memories directly: without extraction, but without duplicates and with one value per slot."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import or_
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.common.errors import Conflict, ProviderError, Unfit
from apps.memories.ledger.actor import current_actor
from apps.memories.live_ports import live
from apps.memories.models import Memory
from apps.memories.services.revising import BulkOutcome, retried
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.rows import WriteContext
from apps.pipeline import flow
from apps.pipeline.conflict.slots import takes_slot
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import Draft, Origin, Request, Ruling
from apps.pipeline.core.enums import Reason, Status
from apps.pipeline.core.input_validation import BadInput
from apps.pipeline.core.operations import AddEntity, EnqueueWork
from apps.pipeline.core.plan import WritePlan, plan_from
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import Embedder, Ports, Vector
from apps.pipeline.core.statement import Candidate
from apps.pipeline.direct_write.new_memory import (
    EXTRACTOR,
    MAX_ENTITIES,
    NewMemory,
    becomes_live,
    candidates_of,
    check_new,
    on_own_word,
    redacted_memory,
)
from apps.pipeline.direct_write.outcomes import StoreOutcome, outcomes_of
from apps.pipeline.resolution.entity_index import EntityIndex
from apps.tenants.models import EndUser
from apps.traces.get_or_create import open_end_user, open_session
from apps.traces.policies import active_policy


class ForgivingEmbedder:
    """Embeds each text once; if the provider fails, the vector is zero, which is similar to nothing."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.dimension = embedder.name, embedder.dimension
        self._embedder = embedder
        self._known: dict[str, Vector] = {}

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text."""
        missing = [each for each in dict.fromkeys(texts) if each not in self._known]
        if missing:
            try:
                vectors = self._embedder.embed(missing)
            except ProviderError:
                vectors = [[0.0] * self.dimension for _ in missing]
            self._known |= zip(missing, vectors, strict=True)
        return [self._known[each] for each in texts]


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """Memories of one end user to store together."""

    project_id: UUID
    api_key_id: UUID | None
    user_id: str
    memories: tuple[NewMemory, ...]
    is_trusted: bool = True  # whether the caller's word counts like a person's
    extractor: str = EXTRACTOR  # of the memories of callers who are not trusted to name one
    may_replace: bool = True  # whether they may close or reword what is known; else a person decides


def store(*, request: StoreRequest) -> tuple[UUID, ...]:
    """Store memories in one transaction; return the identifiers of the memories that say them, in their order."""
    return tuple(each.memory_id for each in store_with_outcomes(request=request))


def store_with_outcomes(*, request: StoreRequest) -> tuple[StoreOutcome, ...]:
    """Store memories in one transaction; return what became of each, in the order of the request.

    They pass the stages of deduplication and conflict: a statement that a live memory makes already is not stored
    again, and of the values of a stateful predicate the latest stays active. If the caller is not trusted, rules for
    agents and values that would replace what a user said or a person approved are stored for review. Entities are
    found by name or created. Sensitive data is replaced as the policy says.

    Raises BadInput and Unfit for values that contradict each other, Conflict if other writers change the same memories
    again and again; nothing is written then.
    """
    for index, new in enumerate(request.memories):
        check_new(new, at=f"/memories/{index}", now=timezone.now())
    if not request.is_trusted:
        limited = tuple(on_own_word(new, extractor=request.extractor) for new in request.memories)
        request = replace(request, memories=limited)
    policy = active_policy(project_id=request.project_id)
    memories = tuple(redacted_memory(new, policy=policy.redaction) for new in request.memories)
    request = replace(request, memories=memories)
    ports = live()
    embedder = ForgivingEmbedder(ports.embedder)
    embedder.embed([new.content for new in memories])  # before the transaction
    return retried(partial(_store_once, request, policy, replace(ports, embedder=embedder, model=None)))


@transaction.atomic
def _store_once(request: StoreRequest, policy: Policy, ports: Ports) -> tuple[StoreOutcome, ...]:
    """Settle and write the memories. Raises StalePlan and Unfit."""
    end_user = open_end_user(project_id=request.project_id, user_id=request.user_id)
    names = dict.fromkeys(new.session_id for new in request.memories)
    sessions = {name: open_session(end_user=end_user, session_id=name) for name in names}  # before memories
    _check_successors(request.memories, end_user)
    known = ports.memories.entities(end_user_id=end_user.id, limit=MAX_ENTITIES)
    index = EntityIndex(entities=known, new_id=ports.new_id)
    candidates = candidates_of(
        request.memories,
        entity_index=index,
        policy=policy,
        now=timezone.now(),
        is_trusted=request.is_trusted,
        may_replace=request.may_replace,
    )
    if not request.is_trusted:
        candidates = _doubting_retracted(candidates, end_user)
    context = WriteContext(request.project_id, end_user.id, current_actor(), api_key_id=request.api_key_id)
    apply_plan(plan=WritePlan(tuple(AddEntity(entity=each) for each in index.new_entities)), context=context)
    unsure = policy.dedupe.band(embedder=ports.embedder.name).unsure
    origin = Origin(
        project_id=request.project_id,
        end_user_id=end_user.id,
        session_id=ports.new_id(),  # nothing refers to it, nor to the trace, because there are no turns
        api_key_id=request.api_key_id,
    )
    draft = Draft.start(request=Request(trace_id=ports.new_id(), origin=origin, turns=()), policy=policy)
    draft = draft.evolve(entities=tuple(index))
    outcomes: dict[int, StoreOutcome] = {}
    work: list[EnqueueWork] = []
    for part in _parts(request.memories, candidates, policy):
        told = draft.evolve(
            request=replace(draft.request, private_to=part.private_to),
            candidates=tuple(each for each in part.candidates if becomes_live(each)),
        )
        settled = flow.settle_given(told, ports)
        # What does not become live is stored as it is.
        kept = (Ruling(candidate=each, memory_id=ports.new_id()) for each in part.candidates if not becomes_live(each))
        settled = settled.evolve(rulings=(*settled.rulings, *kept))
        # A repetition that changes nothing is not written. Possible duplicates are named to the caller, who can settle
        # them, instead of to a reviewer.
        written = (each for each in settled.rulings if each.merge_into is None or each.changes)
        plan = plan_from(settled.evolve(rulings=tuple(each.evolve(possible_duplicates=()) for each in written)))
        apply_plan(plan=plan.without(EnqueueWork), context=replace(context, session_id=sessions[part.session_id]))
        work += plan.of(EnqueueWork)
        outcomes |= outcomes_of(settled, unsure=unsure)
    apply_plan(plan=WritePlan(tuple(work)), context=context)  # the lease of the work is locked after all memories
    return tuple(outcomes[index] for index in range(len(request.memories)))


def _doubting_retracted(candidates: Sequence[Candidate], end_user: EndUser) -> list[Candidate]:
    """Send a value to review if one that a user said or a person approved was retracted in its slot."""
    slots = {(each.subject_id, each.predicate) for each in candidates if takes_slot(each)}
    if not slots:
        return list(candidates)
    rows = Memory.objects.for_end_user(end_user.id).filter(
        reduce(or_, (Q(subject_id=subject, predicate=predicate) for subject, predicate in slots)),
        Q(origins__withdrawn=False) | Q(confidence_parts__review__gt=0),
        status=Status.RETRACTED,
    )
    retracted = set(rows.values_list("subject_id", "predicate"))
    found: list[Candidate] = []
    for each in candidates:
        given = each.given
        if given and not given.doubts and takes_slot(each) and (each.subject_id, each.predicate) in retracted:
            each = each.evolve(given=replace(given, doubts=(Reason.LESS_TRUSTED,)))
        found.append(each)
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    """Memories that are settled and written together: of one session, known to the same agents."""

    session_id: str
    private_to: str
    candidates: list[Candidate]


def _parts(memories: Sequence[NewMemory], candidates: Sequence[Candidate], policy: Policy) -> Iterator[_Part]:
    """Split memories where one repeats a sentence or gives a slot another value.

    It is settled against what the ones before have become, so that each keeps its own time and source.
    """
    part, taken = _Part("", "", []), set[object]()
    for new, candidate in zip(memories, candidates, strict=True):
        private_to = new.private_to or policy.sharing.private_to(new.agent_scope)
        slot = (candidate.subject_id, candidate.predicate)
        said = {canonical_text(candidate.content), *([slot] if takes_slot(candidate) else [])}
        if (part.session_id, part.private_to) != (new.session_id, private_to) or taken & said:
            if part.candidates:
                yield part
            part, taken = _Part(new.session_id, private_to, []), set()
        part.candidates.append(candidate)
        taken |= said
    if part.candidates:
        yield part


def _check_successors(memories: Sequence[NewMemory], end_user: EndUser) -> None:
    """Raise Unfit for a `superseded_by` that is not a memory of the same end user."""
    named = {new.superseded_by for new in memories if new.superseded_by is not None}
    known = set(Memory.objects.for_end_user(end_user.id).filter(id__in=named).values_list("id", flat=True))
    for index, new in enumerate(memories):
        if new.superseded_by is not None and new.superseded_by not in known:
            raise Unfit("is no memory of this end user", at=f"/memories/{index}/superseded_by")


CHUNK = 100  # memories per transaction
_PLACE = re.compile(r"/memories/(\d+)")


def store_batch(*, request: StoreRequest) -> list[BulkOutcome]:
    """Store memories in transactions of CHUNK; return what became of each, in the order of the request."""
    outcomes: dict[int, BulkOutcome] = {}
    places = range(len(request.memories))
    for first in places[::CHUNK]:
        left = list(places[first : first + CHUNK])
        while left:
            try:
                stored = store(request=replace(request, memories=tuple(request.memories[place] for place in left)))
            except Conflict as error:
                outcomes |= dict.fromkeys(left, BulkOutcome(None, error))
            except (Unfit, BadInput) as error:
                if wrong := _PLACE.match(error.at):  # the others are tried again without it
                    error.at = error.at[wrong.end() :]  # within the memory
                    outcomes[left.pop(int(wrong[1]))] = BulkOutcome(None, error)
                    continue
                outcomes |= dict.fromkeys(left, BulkOutcome(None, error))
            else:
                outcomes |= {place: BulkOutcome(each) for place, each in zip(left, stored, strict=True)}
            break
    return [outcomes[place] for place in places]
