"""Store memories directly: without extraction, but without duplicates and with one value per slot."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.actions.errors import Conflict, Unfit
from apps.actions.get_or_create import actor_of, open_end_user, open_session
from apps.actions.live_ports import live
from apps.actions.memories.forgiving_embedder import ForgivingEmbedder
from apps.actions.memories.revise import MOST_TRIES
from apps.memories.models import Memory
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.write_context import WriteContext
from apps.pipeline import flow
from apps.pipeline.conflict.slots import takes_slot
from apps.pipeline.core.draft import Draft, Origin, Request, Ruling
from apps.pipeline.core.enums import LIVE_STATUSES, LinkKind, Reason, Status
from apps.pipeline.core.operations import (
    AddEntity,
    AddMemory,
    EnqueueWork,
    FlagForReview,
    LinkMemories,
    MergeInto,
    Operation,
)
from apps.pipeline.core.plan import WritePlan, plan_from
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import Ports, StalePlan
from apps.pipeline.core.statement import Candidate
from apps.pipeline.direct_write.new_memory import EXTRACTOR, MAX_ENTITIES, NewMemory, candidate_of, check_new
from apps.pipeline.direct_write.outcomes import StoreOutcome, outcomes_of
from apps.pipeline.direct_write.redaction import redacted_memory
from apps.pipeline.direct_write.trust import on_own_word
from apps.pipeline.resolution.entity_index import EntityIndex
from apps.tenants.models import EndUser
from apps.traces.policies import active_policy


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """Memories of one end user to store together."""

    project_id: UUID
    api_key_id: UUID | None
    user_id: str
    memories: tuple[NewMemory, ...]
    is_trusted: bool = True  # whether the caller's word counts like a person's
    person_id: int | None = None  # who stores them in the console, instead of a key
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
        check_new(new, at=f"/memories/{index}")
    if not request.is_trusted:
        limited = tuple(on_own_word(new, extractor=request.extractor) for new in request.memories)
        request = replace(request, memories=limited)
    policy = active_policy(project_id=request.project_id)
    memories = tuple(redacted_memory(new, policy=policy.redaction) for new in request.memories)
    request = replace(request, memories=memories)
    embedder = ForgivingEmbedder(live().embedder)
    embedder.embed([new.content for new in memories])  # before the transaction
    for _ in range(MOST_TRIES):
        try:
            return _DirectWrite(request, policy, replace(live(), embedder=embedder, model=None)).run()
        except StalePlan:
            continue
    raise Conflict("the memories are being changed by others; try again")


class _DirectWrite:
    """One try to store the memories of a request."""

    def __init__(self, request: StoreRequest, policy: Policy, ports: Ports) -> None:
        self._request, self._policy, self._ports = request, policy, ports

    @transaction.atomic
    def run(self) -> tuple[StoreOutcome, ...]:
        """Settle and write the memories. Raises StalePlan and Unfit."""
        memories = self._request.memories
        self._end_user = open_end_user(project_id=self._request.project_id, user_id=self._request.user_id)
        names = dict.fromkeys(new.session_id for new in memories)
        sessions = {name: open_session(end_user=self._end_user, session_id=name) for name in names}  # before memories
        _check_successors(memories, self._end_user)
        known = self._ports.memories.entities(end_user_id=self._end_user.id, limit=MAX_ENTITIES)
        self._entities = EntityIndex(entities=known, new_id=self._ports.ids.new)
        candidates = self._candidates()
        agents = [new.private_to or self._policy.sharing.private_to(new.agent_scope) for new in memories]
        self._apply([AddEntity(entity=each) for each in self._entities.new_entities])
        unsure = self._policy.dedupe.band(embedder=self._ports.embedder.name).unsure
        outcomes: dict[int, StoreOutcome] = {}
        work: list[Operation] = []
        for agent in dict.fromkeys(agents):
            for part in _with_one_value_each([each for each in candidates if agents[each.index] == agent]):
                draft = self._settled(part, private_to=agent)
                work += self._write(draft, sessions)
                outcomes |= outcomes_of(draft, unsure=unsure)
        self._apply(work)  # the lease of the work is locked after all memories
        return tuple(outcomes[index] for index in range(len(memories)))

    def _candidates(self) -> list[Candidate]:
        """Return the memories as candidates, with the reasons why a person has to review them."""
        request, now = self._request, timezone.now()
        candidates = [
            candidate_of(
                new,
                index=index,
                entity_index=self._entities,
                policy=self._policy,
                now=now,
                is_trusted=request.is_trusted,
                may_replace=request.may_replace,
            )
            for index, new in enumerate(request.memories)
        ]
        return candidates if request.is_trusted else [self._doubting_retracted(each) for each in candidates]

    def _doubting_retracted(self, candidate: Candidate) -> Candidate:
        """Send a value to review if one that a user said or a person approved was retracted in its slot."""
        given = candidate.given
        if given is None or given.doubts or not takes_slot(candidate):
            return candidate
        rows = Memory.objects.for_end_user(self._end_user.id).filter(
            subject_id=candidate.subject_id, predicate=candidate.predicate, status=Status.RETRACTED
        )
        if not rows.filter(Q(origins__withdrawn=False) | Q(confidence_parts__review__gt=0)).exists():
            return candidate
        return candidate.evolve(given=replace(given, doubts=(Reason.LESS_TRUSTED,)))

    def _settled(self, candidates: Sequence[Candidate], *, private_to: str) -> Draft:
        """Settle candidates that become live; the others are stored as they are."""
        ids = self._ports.ids
        origin = Origin(
            project_id=self._request.project_id,
            end_user_id=self._end_user.id,
            session_id=ids.new(),  # nothing refers to it, nor to the trace, because there are no turns
            api_key_id=self._request.api_key_id,
        )
        written = Request(trace_id=ids.new(), origin=origin, turns=(), private_to=private_to)
        draft = Draft.start(request=written, policy=self._policy).evolve(
            candidates=tuple(filter(_becomes_live, candidates)), entities=tuple(self._entities)
        )
        settled = flow.settle_given(draft, self._ports)
        others = (Ruling(candidate=each, memory_id=ids.new()) for each in candidates if not _becomes_live(each))
        return settled.evolve(rulings=(*settled.rulings, *others))

    def _write(self, draft: Draft, sessions: dict[str, UUID | None]) -> list[EnqueueWork]:
        """Write the memories of each session, then what changes known memories; return the work to do afterwards."""
        planned = list(_operations(draft))
        session_of = {
            each.memory_id: self._request.memories[each.candidate.index].session_id
            for each in planned
            if isinstance(each, AddMemory)
        }
        for name, session_id in sessions.items():
            new = [each for each in planned if isinstance(each, AddMemory | FlagForReview)]
            self._apply([each for each in new if session_of[each.memory_id] == name], session_id=session_id)
        self._apply([each for each in planned if not isinstance(each, AddMemory | FlagForReview | EnqueueWork)])
        return [each for each in planned if isinstance(each, EnqueueWork)]

    def _apply(self, operations: Sequence[Operation], *, session_id: UUID | None = None) -> None:
        request = self._request
        context = WriteContext(
            project_id=request.project_id,
            end_user_id=self._end_user.id,
            actor=actor_of(request.api_key_id, request.person_id),
            session_id=session_id,
            api_key_id=request.api_key_id,
        )
        apply_plan(plan=WritePlan(operations=tuple(operations)), context=context)


def _with_one_value_each(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """Split candidates where a slot gets another value, which is settled against what the ones before have become."""
    parts: list[list[Candidate]] = [[]]
    taken: set[tuple[UUID | None, str]] = set()
    for each in candidates:
        slot = (each.subject_id, each.predicate)
        if slot in taken:
            parts.append([])
            taken.clear()
        if takes_slot(each):
            taken.add(slot)
        parts[-1].append(each)
    return parts


def _becomes_live(candidate: Candidate) -> bool:
    given = candidate.given
    return given is None or given.status is None or given.status in LIVE_STATUSES


def _operations(draft: Draft) -> Iterator[Operation]:
    """Yield the operations of a settled draft, apart from repetitions that change nothing.

    Possible duplicates are named to the caller, who can settle them, instead of to a reviewer.
    """
    for each in plan_from(draft).operations:
        changes_nothing = isinstance(each, MergeInto) and not each.changes
        is_hint = isinstance(each, LinkMemories) and each.kind is LinkKind.POSSIBLE_DUPLICATE
        if not changes_nothing and not is_hint:
            yield each


def _check_successors(memories: Sequence[NewMemory], end_user: EndUser) -> None:
    """Raise Unfit for a `superseded_by` that is not a memory of the same end user."""
    named = {new.superseded_by for new in memories if new.superseded_by is not None}
    known = set(Memory.objects.for_end_user(end_user.id).filter(id__in=named).values_list("id", flat=True))
    for index, new in enumerate(memories):
        if new.superseded_by is not None and new.superseded_by not in known:
            raise Unfit("is no memory of this end user", at=f"/memories/{index}/superseded_by")
