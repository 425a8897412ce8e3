"""Stage 4, dedupe: a statement that is already known becomes one more source of it, not one more memory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from apps.pipeline.core.canonical import canonical_hash
from apps.pipeline.core.draft import Draft, Drop, Ruling
from apps.pipeline.core.enums import Reason, Stage
from apps.pipeline.core.memory_conversion import as_memory
from apps.pipeline.core.policy import SimilarityBand
from apps.pipeline.core.ports import Neighbour, Ports, Probe, Vector
from apps.pipeline.core.statement import Candidate, StoredMemory
from apps.pipeline.deduplication.difference_checks import precision_of
from apps.pipeline.deduplication.lexical_diff import distinct_words
from apps.pipeline.deduplication.matching import Match, MatchVerdict, compare
from apps.pipeline.deduplication.similarity import ResidualCosines, alike, cosine, residual_cosines, with_cosines
from apps.pipeline.prompts import duplicates
from apps.pipeline.prompts.duplicates import DuplicateVerdict
from apps.pipeline.prompts.llm_judge import ask_judge, judge_of
from apps.pipeline.resolution.rewriting import rewrite

# A judge's verdict on a pair of sentences.
Verdicts = Mapping[frozenset[str], MatchVerdict]
_MOST_FLAGGED = 3  # possible duplicates that one memory is linked to


def run(draft: Draft, ports: Ports) -> Draft:
    """Embed the sentences in one call, read their neighbours in one, look closely at what is near, then decide."""
    if not draft.candidates:
        return draft
    contents = [candidate.content for candidate in draft.candidates]
    vectors = ports.embedder.embed(contents)
    neighbours = ports.memories.neighbours(
        end_user_id=draft.request.origin.end_user_id,
        embedder=ports.embedder.name,
        probes=[_probe(candidate, vector) for candidate, vector in zip(draft.candidates, vectors, strict=True)],
        limit=draft.policy.dedupe.neighbours,
    )
    band = draft.policy.dedupe.band(embedder=ports.embedder.name)
    near = with_cosines(vectors=vectors, neighbours=neighbours, embedder=ports.embedder)
    residuals = residual_cosines(
        pairs=alike(contents=contents, vectors=vectors, neighbours=near, least=band.unsure), embedder=ports.embedder
    )
    decided = decide(draft, vectors=vectors, neighbours=near, residuals=residuals, band=band, new_id=ports.ids.new)
    model = judge_of(draft, ports)
    asked = _unsure_pairs(decided)[: draft.policy.judges.most_questions]
    if model is None or not asked or not draft.policy.judges.duplicates:
        return decided
    request = duplicates.render(pairs=asked, model=draft.policy.extraction.model)
    judgement = ask_judge(request, count=len(asked), model=model, words=DuplicateVerdict)
    verdicts = dict(zip(map(frozenset, asked), map(MatchVerdict, judgement.verdicts), strict=True))
    return decide(
        draft.evolve(model_calls=(*draft.model_calls, judgement.call)),
        vectors=vectors, neighbours=near, residuals=residuals, band=band, new_id=ports.ids.new, verdicts=verdicts,
    )  # fmt: skip


def _unsure_pairs(decided: Draft) -> list[tuple[str, str]]:
    """Return the pairs of sentences that the rules could not settle, each once."""
    pairs = [
        (memory.content, ruling.candidate.content)
        for ruling in decided.rulings
        for memory in ruling.possible_duplicates
    ]
    return list(dict.fromkeys(pairs))


def _probe(candidate: Candidate, vector: Vector) -> Probe:
    key = canonical_hash(candidate)
    return Probe(type=candidate.type, canonical_hash=key, vector=vector, content=candidate.content)


def decide(
    draft: Draft,
    *,
    vectors: Sequence[Vector],
    neighbours: Sequence[Sequence[Neighbour]],
    residuals: ResidualCosines,
    band: SimilarityBand,
    new_id: Callable[[], UUID],
    verdicts: Verdicts | None = None,
) -> Draft:
    """Rule on each candidate in order: a new memory, a merge into a known one, or a repeat within the request.

    `verdicts` are a judge's, on pairs of sentences that the rules leave unsure.
    """
    session = DedupeSession(draft=draft, band=band, residuals=residuals, verdicts=verdicts or {})
    for candidate, vector, near in zip(draft.candidates, vectors, neighbours, strict=True):
        session.judge(Ruling(candidate=candidate, memory_id=new_id(), rule="new"), vector=vector, near=near)
    return draft.drop(*session.drops).evolve(
        candidates=tuple(ruling.candidate for ruling in session.rulings),
        rulings=tuple(session.rulings),
        details={"compared": session.notes},
    )


class DedupeSession:
    """The rulings of one request as they grow; built for one trace and thrown away after it."""

    def __init__(self, *, draft: Draft, band: SimilarityBand, residuals: ResidualCosines, verdicts: Verdicts) -> None:
        self._verdicts = verdicts
        self._draft = draft
        self._band = band
        self._rests = residuals
        self._names = _current_names(draft)
        self._vectors: list[Vector] = []
        self._held: set[str] = set()  # hashes of known memories that were compared
        self.rulings: list[Ruling] = []
        self.drops: list[Drop] = []
        self.notes: dict[str, Any] = {}

    def judge(self, fresh: Ruling, *, vector: Vector, near: Sequence[Neighbour]) -> None:
        """Settle one candidate against those before it, then against what is known."""
        mine = self._seen(as_memory(draft=self._draft, ruling=fresh))
        before = [
            (place, self._compare(mine, self._as_memory(ruling), cosine(vector, theirs)))
            for place, (ruling, theirs) in enumerate(zip(self.rulings, self._vectors, strict=True))
        ]
        known = [(each.memory, self._compare(mine, self._seen(each.memory), each.cosine)) for each in near]
        self._held.update(memory.canonical_hash for memory, _ in known)
        repeated = next((place for place, match in before if match.verdict is MatchVerdict.SAME), None)
        if repeated is not None:
            return self._join(repeated, fresh.candidate)
        ruling = self._rule(fresh, known=known, before=before)
        self.notes[str(fresh.candidate.index)] = _note(ruling, known)
        taken = self._merging_into(ruling.merge_into)
        if taken is not None:
            return self._join(taken, fresh.candidate)
        self.rulings.append(ruling)
        self._vectors.append(vector)
        return None

    def _rule(
        self, fresh: Ruling, *, known: list[tuple[StoredMemory, Match]], before: list[tuple[int, Match]]
    ) -> Ruling:
        same = [(memory, match) for memory, match in known if match.verdict is MatchVerdict.SAME]
        if same:
            return _merge(fresh, *min(same, key=_hash_first_then_nearest))
        others = [memory for memory, _ in known] + [self._as_memory(self.rulings[place]) for place, _ in before]
        mine = as_memory(draft=self._draft, ruling=fresh).canonical_hash
        fresh = fresh.evolve(hash_salted=any(other.canonical_hash == mine for other in others))
        unsure = [memory for memory, match in known if match.verdict is MatchVerdict.UNSURE]
        unsure += [
            self._as_memory(self.rulings[place]) for place, match in before if match.verdict is MatchVerdict.UNSURE
        ]
        flags = (Reason.UNSURE_DUPLICATE,) if unsure else ()
        return fresh.evolve(possible_duplicates=tuple(unsure[:_MOST_FLAGGED]), flags=(*fresh.flags, *flags))

    def _join(self, place: int, candidate: Candidate) -> None:
        """Let an earlier candidate speak for a repeat: both turns are its sources, the more precise wording wins."""
        ruling = self.rulings[place]
        first = ruling.candidate
        better = candidate if precision_of(candidate.content) > precision_of(first.content) else first
        sources = tuple(dict.fromkeys((*first.source_turn_ids, *candidate.source_turn_ids)))
        joined = first.evolve(content=better.content, evidence=better.evidence, source_turn_ids=sources)
        ruling = ruling.evolve(candidate=joined)
        # Without an object the words make the hash, and these are others now.
        ruling = ruling.evolve(hash_salted=ruling.hash_salted or self._as_memory(ruling).canonical_hash in self._held)
        self.rulings[place] = _merge(ruling, ruling.merge_into) if ruling.merge_into else ruling
        detail = {"same_as": first.index}
        self.drops.append(Drop(stage=Stage.DEDUPE, reason=Reason.DUPLICATE, candidate=candidate, detail=detail))

    def _merging_into(self, known: StoredMemory | None) -> int | None:
        """Return the place of the ruling that already merges into a memory: one plan touches its version once."""
        targets = [ruling.merge_into.id if ruling.merge_into else None for ruling in self.rulings]
        return targets.index(known.id) if known is not None and known.id in targets else None

    def _compare(self, mine: StoredMemory, theirs: StoredMemory, cosine: float | None) -> Match:
        residual = self._rests.get(distinct_words(mine.content, theirs.content))
        match = compare(mine, theirs, cosine=cosine, residual=residual, band=self._band)
        if match.verdict is not MatchVerdict.UNSURE:
            return match
        told = self._verdicts.get(frozenset((mine.content, theirs.content)), MatchVerdict.UNSURE)
        return match if told is MatchVerdict.UNSURE else replace(match, verdict=told, tier="judge")

    def _as_memory(self, ruling: Ruling) -> StoredMemory:
        return self._seen(as_memory(draft=self._draft, ruling=ruling))

    def _seen(self, memory: StoredMemory) -> StoredMemory:
        """See a memory with the names that its entities have now, so that a name told later tells nothing apart."""
        return replace(memory, content=rewrite(memory.content, names=self._names))


def _hash_first_then_nearest(pair: tuple[StoredMemory, Match]) -> tuple[bool, float]:
    _, match = pair
    return match.tier != "hash", -(match.cosine or 0.0)


def _merge(fresh: Ruling, known: StoredMemory, match: Match | None = None) -> Ruling:
    more_precise = precision_of(fresh.candidate.content) > precision_of(known.content)
    return fresh.evolve(
        memory_id=known.id,
        merge_into=known,
        content=fresh.candidate.content if more_precise else known.content,
        rule=f"merge_by_{match.tier}" if match else fresh.rule,
    )


def _note(ruling: Ruling, matches: Sequence[tuple[StoredMemory, Match]]) -> dict[str, Any]:
    """Say for the span what a candidate was compared with, nearest first, and what came of it."""
    nearest = sorted(matches, key=_hash_first_then_nearest)[:_MOST_FLAGGED]
    return {
        "rule": ruling.rule,
        "near": [
            {
                "memory": str(memory.id),
                "verdict": match.verdict.value,
                "tier": match.tier,
                "cosine": None if match.cosine is None else round(match.cosine, 4),
                "rest": None if match.residual is None else round(match.residual, 4),
                "guards": sorted(match.guards),
            }
            for memory, match in nearest
        ],
    }


def _current_names(draft: Draft) -> Mapping[str, str]:
    """Map each alias that one entity only has to the name that it has now."""
    renamed = dict(draft.renamed)
    names: dict[str, set[str]] = {}
    for entity in (*draft.entities, *draft.new_entities):
        name = renamed.get(entity.id, entity.name)
        for alias in (entity.name, *entity.aliases, name):
            names.setdefault(alias, set()).add(name)
    return {alias: found.pop() for alias, found in names.items() if len(found) == 1}
