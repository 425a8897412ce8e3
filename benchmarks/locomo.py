"""Recall of search on LoCoMo: the share of evidence turns among the first hits, with one memory per turn and no model.

Each conversation becomes an end user of a scratch project that is deleted at the end. A turn is stored directly as the
memory "Speaker: text" with the speaker as subject and the previous turn as context. Questions go through the search of
the API. Recall is averaged over the questions whose evidence is in the file.

Under `funnel` the memories are LoCoMo's observations, as if a model had extracted them: a memory finds the turns that
it cites, and turns without an observation can't be found.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median
from time import perf_counter_ns
from uuid import UUID

from apps.memories.models import Entity, EntityAlias, Memory
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import EntityType, MemoryType
from apps.pipeline.core.identifiers import end_user_id, new_id, session_id
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.ports import Embedder
from apps.projects.services import create_project
from apps.providers.registry import embedder as configured_embedder
from apps.retrieval.query import SearchQuery
from apps.retrieval.search import ranked
from apps.tenants.models import EndUser, Project
from apps.traces.models import Session
from benchmarks.data import find
from benchmarks.filling import store_vectors
from benchmarks.funnel import funnel
from benchmarks.locomo_data import Conversation, LocomoTurn, load
from benchmarks.scratch import scratch_database

NAME = "locomo"
LOCOMO = "locomo_dev.json"
DEPTHS = (5, 10, 20)
_NO_DATE = datetime(2023, 1, 1, tzinfo=UTC)


def run(*, data: Path | None, full: bool = False) -> dict[str, object]:
    """Return recall_at_5, _10 and _20, also by category and conversation, and the duration of a search.

    With `full`, also the recall without each part of the score. Raises FileNotFoundError if LoCoMo is missing.
    """
    conversations = load(find(data, LOCOMO))
    embedder = configured_embedder()
    with scratch_database():
        said = _remembered(conversations, _turns, "LoCoMo", embedder)
        found = list(_ask_all(said, embedder, RetrievalPolicy()))
        observed = list(_ask_all(_remembered(conversations, _observations, "Funnel", embedder), embedder))
        parts = {name: _recalled(_ask_all(said, embedder, policy)) for name, policy in _without()} if full else {}
    return {
        **_recalled(found),
        "embedder": embedder.name,
        "ms_p50": round(median(each.milliseconds for each in found), 2),
        "by_conversation": _recall_by(found, lambda each: each.conversation),
        "funnel": {**_recalled(observed), "store": funnel(conversations, embedder=embedder)},
        **({"without": parts} if parts else {}),
    }


def _without() -> Iterator[tuple[str, RetrievalPolicy]]:
    """Return each part of the score with a policy that disables it."""
    policy = RetrievalPolicy()
    for name in ("words", "meaning", "questions", "session", "named", "evidence"):
        yield name, policy.model_copy(update={"weights": policy.weights.model_copy(update={name: 0.0})})
    yield "context", policy.model_copy(update={"context_weight": 0.0})
    yield "neighbours", policy.model_copy(update={"neighbour_weight": 0.0})


@dataclass(frozen=True, slots=True)
class _Statement:
    """The content of a memory, and the turns that it counts as finding."""

    content: str
    speaker: str
    session: int
    said_at: datetime
    evidence: frozenset[str]
    context: str = ""


@dataclass(frozen=True, slots=True)
class _Remembered:
    """A conversation, its end user, and the turns that each memory counts as finding."""

    conversation: Conversation
    user: EndUser
    evidence: Mapping[UUID, frozenset[str]]


@dataclass(frozen=True, slots=True)
class _Answer:
    """The recall of one question by number of hits."""

    conversation: str
    category: int
    recall: Mapping[int, float]
    milliseconds: float


def _turns(conversation: Conversation) -> Iterator[_Statement]:
    for before, turn in zip((None, *conversation.turns), conversation.turns, strict=False):
        yield _Statement(
            content=_said(turn),
            speaker=turn.speaker,
            session=turn.session,
            said_at=turn.said_at or _NO_DATE,
            evidence=frozenset({turn.id}),
            context=_said(before) if before and before.session == turn.session else "",
        )


def _observations(conversation: Conversation) -> Iterator[_Statement]:
    turns = {turn.id: turn for turn in conversation.turns}
    for each in conversation.observations:
        cited = [turns[turn_id] for turn_id in each.evidence if turn_id in turns]
        yield _Statement(
            content=each.text,
            speaker=each.speaker,
            session=each.session,
            said_at=max((turn.said_at for turn in cited if turn.said_at), default=_NO_DATE),
            evidence=frozenset(turn.id for turn in cited),
            context=" ".join(_said(turn) for turn in cited),
        )


def _remembered(
    conversations: Sequence[Conversation],
    statements_of: Callable[[Conversation], Iterator[_Statement]],
    name: str,
    embedder: Embedder,
) -> list[_Remembered]:
    project = create_project(name=name, slug=name.lower())
    return [_remember(each, list(statements_of(each)), project, embedder) for each in conversations]


def _remember(
    conversation: Conversation, statements: Sequence[_Statement], project: Project, embedder: Embedder
) -> _Remembered:
    user = EndUser.objects.create(
        id=end_user_id(project_id=project.id, user_id=conversation.id), project=project, external_id=conversation.id
    )
    speakers = {name: _entity(name, user) for name in conversation.speakers}
    sessions = _sessions(conversation, user)
    memories = [
        Memory(
            end_user=user,
            project=project,
            type=MemoryType.FACT,
            subject=speakers.get(each.speaker),
            content=each.content,
            context=each.context,
            canonical_hash=new_id().hex,
            session_id=sessions[each.session],
            said_at=each.said_at,
            confidence=0.9,
        )
        for each in statements
    ]
    Memory.objects.bulk_create(memories, batch_size=500)
    store_vectors(memories, embedder=embedder)
    found = {memory.id: each.evidence for memory, each in zip(memories, statements, strict=True)}
    return _Remembered(conversation=conversation, user=user, evidence=found)


def _said(turn: LocomoTurn) -> str:
    shown = f" [shares {turn.caption}]" if turn.caption else ""
    return f"{turn.speaker}: {turn.text}{shown}"


def _entity(name: str, user: EndUser) -> Entity:
    entity = Entity.objects.create(end_user=user, project_id=user.project_id, name=name, type=EntityType.PERSON)
    EntityAlias.objects.create(end_user=user, entity=entity, alias=name, folded=canonical_text(name))
    return entity


def _sessions(conversation: Conversation, user: EndUser) -> dict[int, UUID]:
    numbers = sorted({turn.session for turn in conversation.turns})
    ids = {number: session_id(end_user_id=user.id, session_id=str(number)) for number in numbers}
    Session.objects.bulk_create(
        Session(id=each, end_user=user, project_id=user.project_id, external_id=str(number))
        for number, each in ids.items()
    )
    return ids


def _ask_all(
    remembered: Sequence[_Remembered], embedder: Embedder, policy: RetrievalPolicy | None = None
) -> Iterator[_Answer]:
    policy = policy or RetrievalPolicy()
    for each in remembered:
        now = datetime.now(UTC)
        known = {turn.id for turn in each.conversation.turns}
        for question in each.conversation.questions:
            evidence = set(question.evidence) & known
            if not evidence:
                continue
            started = perf_counter_ns()
            query = SearchQuery(text=question.question, limit=max(DEPTHS), min_score=0.0)
            with ranked(end_user_id=each.user.id, query=query, embedder=embedder, policy=policy, now=now) as ranking:
                hits = ranking.results()
            taken = (perf_counter_ns() - started) / 1e6
            found = [each.evidence[hit.memory.id] for hit in hits]
            recall = {depth: len(evidence & set().union(*found[:depth])) / len(evidence) for depth in DEPTHS}
            yield _Answer(each.conversation.id, question.category, recall, taken)


def _recalled(answers: Iterable[_Answer]) -> dict[str, object]:
    found = list(answers)
    return {
        **_recall(found),
        "questions": len(found),
        "by_category": _recall_by(found, lambda each: str(each.category)),
    }


def _recall(found: Sequence[_Answer]) -> dict[str, float]:
    return {f"recall_at_{depth}": round(mean(each.recall[depth] for each in found), 4) for depth in DEPTHS}


def _recall_by(found: Sequence[_Answer], key: Callable[[_Answer], str]) -> dict[str, dict[str, float]]:
    groups: dict[str, list[_Answer]] = defaultdict(list)
    for each in found:
        groups[key(each)].append(each)
    return {name: {**_recall(group), "questions": len(group)} for name, group in sorted(groups.items())}
