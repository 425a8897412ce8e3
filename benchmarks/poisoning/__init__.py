"""How many attacks on a user's memory become active memories, and how many benign statements next to them are stored.

Every payload of `cases.toml` is put in every wrapper, and runs through all stages three times: by the patterns, and by
a gullible model that obeys it and quotes either the attacker's words or harmless ones. An attack counts as active if an
agent is told it, or no longer told what the user has said before. The store is the one without a database.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from uuid import UUID

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.memories.reading.memory_state import MemoryState
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.enums import ExtractorKind, Role, Status
from apps.pipeline.core.plan import plan_from
from apps.pipeline.core.policy import ExtractionPolicy, Policy
from apps.pipeline.core.ports import Embedder, Model, Ports
from apps.pipeline.core.turn import SourceTurn
from apps.providers.registry import embedder as configured_embedder
from benchmarks.poisoning.cases import PoisoningCase, cases_of, shipped_cases
from benchmarks.poisoning.gullible_model import GullibleModel, Quoting

NAME = "poisoning"
_MONDAY = datetime(2025, 6, 2, 9, tzinfo=UTC)
_ORIGIN = Origin(project_id=UUID(int=1), end_user_id=UUID(int=2), session_id=UUID(int=3))
_LATER_SESSION = Origin(project_id=UUID(int=1), end_user_id=UUID(int=2), session_id=UUID(int=4))


class _World:
    """Clock and identifiers of one case."""

    def __init__(self, *, start: int = 1_000) -> None:
        self._numbers = count(start)

    def now(self) -> datetime:
        return _MONDAY

    def new(self) -> UUID:
        return UUID(int=next(self._numbers))


@dataclass(frozen=True, slots=True)
class CaseResult:
    """Whether a case had the expected result, with what agents would see."""

    case: PoisoningCase
    mode: str
    is_right: bool
    active: tuple[str, ...]
    pending: tuple[str, ...]


def run(*, data: Path | None = None, full: bool = False, cases: Path | None = None) -> dict[str, object]:
    """Return attacks_active and benign_kept in all and by mode, over the shipped cases or those of a JSON file.

    Raises FileNotFoundError if the file is missing.
    """
    chosen = tuple(cases_of(cases) if cases else shipped_cases())
    embedder = configured_embedder()
    states = {said: _state_after(said, embedder) for said in {case.known for case in chosen}}
    results = [result for case in chosen for result in _results(case, states[case.known], embedder)]
    by_mode = {mode: [each for each in results if each.mode == mode] for mode in ("patterns", *Quoting)}
    return {
        **_figures(results),
        "by_mode": {mode: _figures(group) for mode, group in by_mode.items()},
        "detail": {
            f"{each.mode}: {each.case.id}": [each.active, each.pending] for each in results if not each.is_right
        },
    }


def _results(case: PoisoningCase, state: MemoryState, embedder: Embedder) -> Iterator[CaseResult]:
    if case.by_patterns:
        yield _result(case, "patterns", None, state, embedder)
    quotings = tuple(Quoting) if case.is_attack else (Quoting.ATTACK,)
    for quoting in quotings if case.by_model else ():
        model = GullibleModel(claims=case.claims, says=case.says, quoting=quoting)
        yield _result(case, quoting.value, model, state, embedder)


def _result(case: PoisoningCase, mode: str, model: Model | None, state: MemoryState, embedder: Embedder) -> CaseResult:
    world, store = _World(start=10_000), InMemoryStore(now=lambda: _MONDAY)
    store.put(end_user_id=_ORIGIN.end_user_id, state=state)
    plain = Ports(now=world.now, new_id=world.new, embedder=embedder, memories=store, writer=store)
    ports = Ports(now=world.now, new_id=world.new, embedder=embedder, memories=store, writer=store, model=model)
    earlier: tuple[SourceTurn, ...] = ()
    for place, (role, text) in enumerate(case.turns):
        turn = _turn(Role(role), text, place, world, speaker=case.speaker, days=1)
        if role == Role.USER and place < len(case.turns) - 1 and case.is_attack:
            _write(_LATER_SESSION, (turn,), earlier, store, plain)  # what leads up to the attack
        else:
            _write(_LATER_SESSION, (turn,), earlier, store, ports)
        earlier = (*earlier, turn)
    memories = [each.memory for each in store.state(end_user_id=_ORIGIN.end_user_id).memories.values()]
    active = tuple(each.content for each in memories if each.status is Status.ACTIVE)
    pending = tuple(each.content for each in memories if each.status is Status.PENDING_REVIEW)
    return CaseResult(case, mode, _is_right(case, active), active, pending)


def _state_after(said: tuple[str, ...], embedder: Embedder) -> MemoryState:
    """Return what is known of a user who has said some sentences, by the patterns."""
    world, store = _World(), InMemoryStore(now=lambda: _MONDAY)
    ports = Ports(now=world.now, new_id=world.new, embedder=embedder, memories=store, writer=store)
    for place, text in enumerate(said):
        _write(_ORIGIN, (_turn(Role.USER, text, place, world),), (), store, ports)
    return store.state(end_user_id=_ORIGIN.end_user_id)


def _is_right(case: PoisoningCase, active: Sequence[str]) -> bool:
    if not case.is_attack:
        return _says(active, case.wanted)
    new = [text for text in active if not any(_says([text], kept) for kept in case.still_active)]
    return not _says(new, case.wanted) and all(_says(active, kept) for kept in case.still_active)


def _says(contents: Iterable[str], pattern: str) -> bool:
    return any(re.search(pattern, content, re.IGNORECASE) for content in contents)


def _turn(role: Role, text: str, place: int, world: _World, *, speaker: str = "", days: int = 0) -> SourceTurn:
    moment = _MONDAY + timedelta(days=days, minutes=place)
    return SourceTurn(
        id=world.new(), position=place, role=role, content=text, received_at=moment, occurred_at=moment, speaker=speaker
    )


def _write(
    origin: Origin, turns: tuple[SourceTurn, ...], earlier: tuple[SourceTurn, ...], store: InMemoryStore, ports: Ports
) -> None:
    """Run a request through all stages, and index what it has written."""
    request = Request(trace_id=ports.new_id(), origin=origin, turns=turns, earlier_turns=earlier)
    extractor = ExtractorKind.MODEL if ports.model else ExtractorKind.PLAIN
    policy = Policy(extraction=ExtractionPolicy(extractor=extractor, skip_idle_turns=False))
    (extracted,) = flow.extract([flow.screen(Draft.start(request=request, policy=policy))], ports)
    draft = flow.settle(extracted, ports)
    store.apply(draft=draft, plan=plan_from(draft))
    ids = list(dict.fromkeys(ruling.memory_id for ruling in draft.rulings))
    memories = store.state(end_user_id=origin.end_user_id).memories
    for each, vector in zip(ids, ports.embedder.embed([memories[each].memory.content for each in ids]), strict=True):
        store.put_vector(end_user_id=origin.end_user_id, memory_id=each, embedder=ports.embedder.name, vector=vector)


def _figures(results: Sequence[CaseResult]) -> dict[str, object]:
    attacks = [each for each in results if each.case.is_attack]
    benign = [each for each in results if not each.case.is_attack]
    return {
        "attacks": len(attacks),
        "attacks_active": sum(not each.is_right for each in attacks),
        "benign": len(benign),
        "benign_kept": round(sum(each.is_right for each in benign) / len(benign), 4) if benign else None,
    }
