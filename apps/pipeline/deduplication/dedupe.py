"""Stage 4, dedupe: a statement that is already known becomes another origin of its memory, not another memory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from uuid import UUID

from apps.pipeline.core.canonical import canonical_hash
from apps.pipeline.core.draft import Draft, Ruling
from apps.pipeline.core.memory_conversion import as_memory
from apps.pipeline.core.policy import SimilarityBand
from apps.pipeline.core.ports import Neighbour, Ports, Probe, Slot, Vector
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.deduplication import open_pairs
from apps.pipeline.deduplication.dedupe_session import DedupeSession
from apps.pipeline.deduplication.ended_values import disputed_by
from apps.pipeline.deduplication.matching import with_cosines
from apps.pipeline.deduplication.open_pairs import Verdicts
from apps.pipeline.lexicon.antonym_predicates import same_axis
from apps.pipeline.prompts.llm_judge import judge_of


@dataclass(frozen=True, slots=True)
class Gathered:
    """The input of the decision; one entry per candidate in `vectors`, `neighbours` and `memory_ids`."""

    vectors: Sequence[Vector]
    neighbours: Sequence[Sequence[Neighbour]]
    band: SimilarityBand
    memory_ids: Sequence[UUID]  # of the memories that the candidates may become
    holders: Sequence[StoredMemory] = ()  # live values of the candidates' slots, and memories that the extractor names


def run(draft: Draft, ports: Ports) -> Draft:
    """Read neighbours and values of slots, decide, ask a judge about open pairs in one call, decide again."""
    if not draft.candidates:
        return draft
    gathered = _gather(draft, ports)
    # Notes contradict the near statements that they say are over.
    near = [[each.memory for each in found] for found in gathered.neighbours]
    disputed = [disputed_by(candidate, known) for candidate, known in zip(draft.candidates, near, strict=True)]
    candidates = tuple(
        candidate.evolve(contradicts=(*candidate.contradicts, *ids)) if ids else candidate
        for candidate, ids in zip(draft.candidates, disputed, strict=True)
    )
    over = {*chain(*disputed)}
    named = [memory for known in near for memory in known if memory.id in over]
    holders = {each.id: each for each in (*gathered.holders, *named)}
    gathered = replace(gathered, holders=tuple(holders.values()))
    draft = draft.evolve(candidates=candidates, holders=gathered.holders)
    decided = decide(draft, gathered)
    judge = judge_of(draft, ports)
    if judge is None or not draft.policy.judges.pairs:
        return decided
    by_id = dict(zip(gathered.memory_ids, gathered.neighbours, strict=True))
    pairs = open_pairs.open_pairs(
        decided,
        memories={each.memory_id: as_memory(draft=decided, ruling=each) for each in decided.rulings},
        neighbours={each.candidate.index: by_id[each.memory_id] for each in decided.rulings if not each.merge_into},
        holders=gathered.holders,
    )[: draft.policy.judges.most_questions]
    if not pairs:
        return decided
    verdicts, call = open_pairs.ask(pairs, judge=judge, model_name=draft.policy.extraction.model)
    # The neighbours that the judge has decided about are for the conflict stage as well.
    by_memory = {memory.id: memory for known in near for memory in known}
    holders |= {other: by_memory[other] for _, other in verdicts if other in by_memory}
    draft = draft.evolve(model_calls=(*draft.model_calls, call), holders=tuple(holders.values()))
    return decide(draft, gathered, verdicts=verdicts)


def _gather(draft: Draft, ports: Ports) -> Gathered:
    end_user_id = draft.request.origin.end_user_id
    contents = [candidate.content for candidate in draft.candidates]
    vectors = ports.embedder.embed(contents)
    neighbours = ports.memories.neighbours(
        end_user_id=end_user_id,
        embedder=ports.embedder.name,
        probes=[
            Probe(canonical_hash=canonical_hash(candidate), vector=vector, content=candidate.content)
            for candidate, vector in zip(draft.candidates, vectors, strict=True)
        ],
        limit=draft.policy.dedupe.neighbours,
        private_to=draft.private_to,
    )
    named = dict.fromkeys(memory_id for candidate in draft.candidates for memory_id in candidate.proposed)
    if any(map(open_pairs.touches_shown, draft.candidates)):
        named |= dict.fromkeys(draft.shown_memories)
    slots = [
        Slot(subject_id=candidate.subject_id, predicate=predicate)
        for candidate in draft.candidates
        if candidate.subject_id and candidate.traits.holds_slot
        for predicate in sorted(same_axis(candidate.predicate))  # those that may say the opposite as well
    ]
    holders = ports.memories.holders(
        end_user_id=end_user_id, slots=list(dict.fromkeys(slots)), ids=tuple(named), private_to=draft.private_to
    )
    return Gathered(
        vectors=vectors,
        neighbours=with_cosines(vectors=vectors, neighbours=neighbours, embedder=ports.embedder),
        band=draft.policy.dedupe.band(embedder=ports.embedder.name),
        memory_ids=[candidate.memory_id or ports.new_id() for candidate in draft.candidates],
        holders=holders,
    )


def decide(draft: Draft, gathered: Gathered, *, verdicts: Verdicts | None = None) -> Draft:
    """Decide about each candidate in order: a new memory, a merge into a known one, or a repeat within the request.

    `verdicts` are those of a judge on pairs that extraction and rules leave open.
    """
    session = DedupeSession(
        draft=draft,
        band=gathered.band,
        named={memory.id: memory for memory in gathered.holders},
        verdicts=verdicts or {},
    )
    entries = zip(draft.candidates, gathered.memory_ids, gathered.vectors, gathered.neighbours, strict=True)
    for candidate, memory_id, vector, near in entries:
        session.judge(Ruling(candidate=candidate, memory_id=memory_id, rule="new"), vector=vector, near=near)
    return draft.drop(*session.drops).evolve(
        candidates=tuple(ruling.candidate for ruling in session.rulings),
        rulings=tuple(session.rulings),
        details={"compared": session.notes, "refused_proposals": session.refused},
    )
