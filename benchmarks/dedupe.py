"""Share of paraphrases that are merged, and number of different statements that are merged wrongly.

Each labelled pair of `pairs.jsonl` is two statements of one end user, made on one day in two sessions: the first is
stored, the second goes through stage 4 with the default band. They have no triples, so only the sentences differ. The
second statement is merged, flagged as a possible duplicate (unsure) or stored as a different one. Half of the pairs
(`develop`) were used while the rules were written, the others (`check`) were not.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from uuid import UUID

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.enums import EntityType, Role
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.plan import plan_from
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import Embedder, Model, Ports
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.deduplication import dedupe
from apps.pipeline.deduplication.matching import MatchVerdict
from apps.pipeline.prompts.memory_pairs import PairVerdict
from apps.providers.fake import ScriptedModel
from apps.providers.registry import embedder as configured_embedder
from apps.tuning.calibrate import LabelledPair, PairLabel, read_pairs

NAME = "dedupe"
PAIRS = Path(__file__).with_name("pairs.jsonl")
_MONDAY = datetime(2025, 6, 2, 9, tzinfo=UTC)
_ANA = Mention(text="User", type=EntityType.PERSON, is_speaker=True, entity_id=UUID(int=7))


class _World:
    """Clock and identifiers of a run."""

    def now(self) -> datetime:
        return _MONDAY

    def new(self) -> UUID:
        return new_id()


def run(*, data: Path | None, full: bool = False) -> dict[str, object]:
    """Return merged_wrongly (a count) and the shares of paraphrases that are merged, unsure or different, per half.

    `merged_with_judge` is the share that is merged when a scripted judge decides every unsure pair correctly.
    """
    pairs = list(read_pairs(PAIRS.read_text(encoding="utf-8").splitlines()))
    embedder = configured_embedder()
    verdicts = [_verdict(pair, embedder) for pair in pairs]
    judged = _figures(pairs, [_verdict(pair, embedder, judge=_rightly(pair)) for pair in pairs])
    halves = groupby(
        sorted(zip(pairs, verdicts, strict=True), key=lambda each: each[0].half), lambda each: each[0].half
    )
    return {
        **_figures(pairs, verdicts),
        "merged_with_judge": judged["merged_share"],
        "merged_wrongly_with_judge": judged["merged_wrongly"],
        "pairs": len(pairs),
        "embedder": embedder.name,
        "by_half": {half: _figures(*zip(*group, strict=True)) for half, group in halves},
    }


def _figures(pairs: Sequence[LabelledPair], verdicts: Sequence[MatchVerdict]) -> dict[str, float]:
    of_same = Counter(_of(pairs, verdicts, same=True))
    of_others = Counter(_of(pairs, verdicts, same=False))
    total = of_same.total()
    return {
        "merged_wrongly": of_others[MatchVerdict.SAME],
        "merged_share": round(of_same[MatchVerdict.SAME] / total, 4),
        "unsure_share": round(of_same[MatchVerdict.UNSURE] / total, 4),
        "different_share": round(of_same[MatchVerdict.DIFFERENT] / total, 4),
        "flagged_wrongly": of_others[MatchVerdict.UNSURE],
    }


def _of(pairs: Iterable[LabelledPair], verdicts: Iterable[MatchVerdict], *, same: bool) -> list[MatchVerdict]:
    labelled = zip(pairs, verdicts, strict=True)
    return [verdict for pair, verdict in labelled if (pair.label is PairLabel.PARAPHRASE) is same]


def _rightly(pair: LabelledPair) -> ScriptedModel:
    """Return a judge that answers with the label."""
    verdict = PairVerdict.SAME if pair.label is PairLabel.PARAPHRASE else PairVerdict.BOTH_HOLD
    answer = {"answers": [{"id": "q1", "reason": "as labelled", "verdict": verdict.value}]}
    return ScriptedModel(lambda _: json.dumps(answer))


def _verdict(pair: LabelledPair, embedder: Embedder, *, judge: Model | None = None) -> MatchVerdict:
    """Store one statement and return the outcome of stage 4 for the other."""
    store, world, user = InMemoryStore(), _World(), new_id()
    ports = Ports(now=world.now, new_id=world.new, embedder=embedder, memories=store, writer=store, model=judge)
    first = dedupe.run(_said(pair.one, pair, user=user), ports)
    store.apply(draft=first, plan=plan_from(first))
    rulings = dedupe.run(_said(pair.two, pair, user=user), ports).rulings
    if not rulings or any(ruling.merge_into for ruling in rulings):
        return MatchVerdict.SAME
    (ruling,) = rulings
    return MatchVerdict.UNSURE if ruling.possible_duplicates else MatchVerdict.DIFFERENT


def _said(content: str, pair: LabelledPair, *, user: UUID) -> Draft:
    turn = SourceTurn(id=new_id(), position=0, role=Role.USER, content=content, received_at=_MONDAY)
    origin = Origin(project_id=UUID(int=1), end_user_id=user, session_id=new_id())
    request = Request(trace_id=new_id(), origin=origin, turns=(turn,))
    candidate = Candidate(
        index=0,
        type=pair.type,
        subject=_ANA,
        predicate="says",
        object=ObjectValue(),
        content=content,
        source_turn_ids=(turn.id,),
        evidence=content,
        extractor="plain:pairs",
        reliability=0.9,
    )
    return Draft.start(request=request, policy=Policy()).evolve(candidates=(candidate,))
