"""Comparison of the candidates of one request, one after the other, with known memories and earlier candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from apps.pipeline.core.agent_scope import with_source
from apps.pipeline.core.draft import Draft, Drop, Ruling
from apps.pipeline.core.enums import Reason, Stage, Status
from apps.pipeline.core.memory_conversion import as_memory
from apps.pipeline.core.policy import SimilarityBand
from apps.pipeline.core.ports import Neighbour, Vector
from apps.pipeline.core.statement import Candidate, StoredMemory
from apps.pipeline.deduplication.containment import is_said_in_passing
from apps.pipeline.deduplication.lexical_diff import distinct_words
from apps.pipeline.deduplication.matching import Match, MatchVerdict, compare
from apps.pipeline.deduplication.merging import merged_fields, tells_more
from apps.pipeline.deduplication.open_pairs import Verdicts
from apps.pipeline.deduplication.proposals import (
    animate_entities,
    refusal_of_merge,
    refused_proposals,
    with_repeat_named,
)
from apps.pipeline.deduplication.similarity import ResidualCosines, cosine
from apps.pipeline.prompts.memory_pairs import PairVerdict
from apps.pipeline.resolution.pronouns import replace_mentions

_MOST_FLAGGED = 3  # maximum of possible duplicates that a memory is linked to
_DIFFERENT_BY_JUDGE = frozenset({PairVerdict.REPLACES, PairVerdict.CONTRADICTS, PairVerdict.BOTH_HOLD})


class DedupeSession:
    """The growing list of rulings of one request; created for one trace and discarded after it."""

    def __init__(
        self,
        *,
        draft: Draft,
        band: SimilarityBand,
        residuals: ResidualCosines,
        named: Mapping[UUID, StoredMemory],
        verdicts: Verdicts,
        proposed_cosines: Mapping[tuple[int, UUID], float],
    ) -> None:
        self._draft = draft
        self._band = band
        self._residuals = residuals
        self._named = named  # live memories that the extractor could name
        self._verdicts = verdicts
        self._proposed_cosines = proposed_cosines  # of candidates, by index, and what the extractor names
        self._animate = animate_entities(draft)
        self._became: dict[UUID, UUID] = {}  # memories of earlier candidates
        self._names = _current_names(draft)
        self._vectors: list[Vector] = []
        self._held: set[str] = set()  # hashes hashes of known memories that were compared
        self.rulings: list[Ruling] = []
        self.drops: list[Drop] = []
        self.notes: dict[str, Any] = {}
        self.refused: dict[str, list[dict[str, str]]] = {}

    def judge(self, fresh: Ruling, *, vector: Vector, near: Sequence[Neighbour]) -> None:
        """Settle one candidate, first against earlier ones, then against known memories."""
        fresh = self._with_verdicts(self._with_refusals(self._with_earlier(fresh)))
        mine = self._with_current_names(as_memory(draft=self._draft, ruling=fresh))
        before = [
            (place, self._compare_within_request(fresh, mine, self._as_memory(ruling), cosine(vector, theirs)))
            for place, (ruling, theirs) in enumerate(zip(self.rulings, self._vectors, strict=True))
        ]
        known = [
            (each.memory, self._compare(fresh, mine, self._with_current_names(each.memory), each.cosine))
            for each in near
        ]
        self._held.update(memory.canonical_hash for memory, _ in known)
        repeated = next((place for place, match in before if match.verdict is MatchVerdict.SAME), None)
        if repeated is not None:
            return self._join(repeated, fresh.candidate)
        holder = self._holder_in_passing(fresh, mine, near)
        if holder is not None:
            return self._drop_known(fresh.candidate, holder)
        ruling = self._rule(fresh, known=known, before=before)
        if ruling.merge_into is None:
            ruling = ruling.evolve(absorbs=self._said_in_passing(mine, near))
        self.notes[str(fresh.candidate.index)] = _note(ruling, known)
        taken = self._merging_into(ruling.merge_into)
        if taken is not None:
            return self._join(taken, fresh.candidate)
        self.rulings.append(ruling)
        self._vectors.append(vector)
        self._note_memory(ruling.candidate, ruling)
        return None

    def _with_earlier(self, fresh: Ruling) -> Ruling:
        """Replace the planned ids of earlier candidates by the memories that they have become."""
        candidate = fresh.candidate
        became = self._became
        return fresh.evolve(
            candidate=candidate.evolve(
                replaces=tuple(dict.fromkeys(became.get(each, each) for each in candidate.replaces)),
                contradicts=tuple(dict.fromkeys(became.get(each, each) for each in candidate.contradicts)),
                same_as=became.get(candidate.same_as, candidate.same_as) if candidate.same_as else None,
            )
        )

    def _note_memory(self, candidate: Candidate, ruling: Ruling) -> None:
        if candidate.memory_id is not None:
            self._became[candidate.memory_id] = ruling.memory_id

    def _with_refusals(self, fresh: Ruling) -> Ruling:
        """Record refused proposals of the extractor in the span and flag them; the pair is open again."""
        before = {ruling.memory_id: self._as_memory(ruling) for ruling in self.rulings}
        named = {**self._named, **before}
        fresh = fresh.evolve(candidate=with_repeat_named(fresh.candidate, named=named))
        mine = fresh.candidate.index
        cosines = {other: found for (index, other), found in self._proposed_cosines.items() if index == mine}
        refused = list(refused_proposals(fresh.candidate, named=named, animate=self._animate, cosines=cosines))
        if not refused:
            return fresh
        self.refused[str(fresh.candidate.index)] = [each.to_json() for each in refused]
        ids = {each.memory_id for each in refused}
        candidate = fresh.candidate.evolve(
            same_as=None if fresh.candidate.same_as in ids else fresh.candidate.same_as,
            replaces=tuple(each for each in fresh.candidate.replaces if each not in ids),
            contradicts=tuple(each for each in fresh.candidate.contradicts if each not in ids),
        )
        return fresh.evolve(candidate=candidate, flags=(*fresh.flags, Reason.PROPOSAL_REFUSED))

    def _with_verdicts(self, fresh: Ruling) -> Ruling:
        """Treat a judge's verdicts as the extractor's; if both statements are true, the judge isn't asked again."""
        candidate = fresh.candidate
        found = {other: verdict for (index, other), verdict in self._verdicts.items() if index == candidate.index}
        said = {
            verdict: tuple(other for other, told in found.items() if told is verdict) for verdict in _DIFFERENT_BY_JUDGE
        }
        candidate = candidate.evolve(
            replaces=(*candidate.replaces, *said[PairVerdict.REPLACES]),
            contradicts=(*candidate.contradicts, *said[PairVerdict.CONTRADICTS]),
        )
        return fresh.evolve(candidate=candidate, coexists=frozenset(said[PairVerdict.BOTH_HOLD]))

    def _rule(
        self, fresh: Ruling, *, known: list[tuple[StoredMemory, Match]], before: list[tuple[int, Match]]
    ) -> Ruling:
        same = [(memory, match) for memory, match in known if match.verdict is MatchVerdict.SAME]
        named = self._named_duplicate(fresh.candidate)
        if named is not None:
            return self._merge(fresh, named, Match(MatchVerdict.SAME, "extractor"))
        if same:
            return self._merge(fresh, *min(same, key=_hash_first_then_nearest))
        others = [memory for memory, _ in known] + [self._as_memory(self.rulings[place]) for place, _ in before]
        mine = as_memory(draft=self._draft, ruling=fresh).canonical_hash
        fresh = fresh.evolve(hash_salted=any(other.canonical_hash == mine for other in others))
        unsure = [memory for memory, match in known if match.verdict is MatchVerdict.UNSURE]
        unsure += [
            self._as_memory(self.rulings[place]) for place, match in before if match.verdict is MatchVerdict.UNSURE
        ]
        flags = (Reason.UNSURE_DUPLICATE,) if unsure else ()
        return fresh.evolve(possible_duplicates=tuple(unsure[:_MOST_FLAGGED]), flags=(*fresh.flags, *flags))

    def _compare_within_request(
        self, fresh: Ruling, mine: StoredMemory, theirs: StoredMemory, cosine: float | None
    ) -> Match:
        """Compare with an earlier candidate; a mere introduction joins a candidate that says it in passing."""
        match = self._compare(fresh, mine, theirs, cosine)
        is_named = theirs.id in fresh.candidate.proposed
        if not is_named and (is_said_in_passing(mine, by=theirs) or is_said_in_passing(theirs, by=mine)):
            return Match(MatchVerdict.SAME, "in_passing", cosine)
        return match

    def _holder_in_passing(self, fresh: Ruling, mine: StoredMemory, near: Sequence[Neighbour]) -> StoredMemory | None:
        """Return the known memory that says a candidate in passing, unless the extractor names another one."""
        if fresh.candidate.proposed:
            return None
        known = (each.memory for each in near if each.memory.status is Status.ACTIVE)
        return next((each for each in known if is_said_in_passing(mine, by=self._with_current_names(each))), None)

    def _said_in_passing(self, mine: StoredMemory, near: Sequence[Neighbour]) -> tuple[StoredMemory, ...]:
        """Return known memories that only say what a candidate says in passing."""
        known = (each.memory for each in near if each.memory.status is Status.ACTIVE)
        return tuple(each for each in known if is_said_in_passing(self._with_current_names(each), by=mine))

    def _drop_known(self, candidate: Candidate, holder: StoredMemory) -> None:
        detail = {"held_by": str(holder.id), "why": f"said in passing by: {holder.content}"}
        self.drops.append(Drop(stage=Stage.DEDUPE, reason=Reason.DUPLICATE, candidate=candidate, detail=detail))

    def _named_duplicate(self, candidate: Candidate) -> StoredMemory | None:
        """Return the live memory that the extractor considers the same, unless a rule is certain that it is not."""
        known = self._named.get(candidate.same_as) if candidate.same_as else None
        return known if known is not None and refusal_of_merge(candidate, known) is None else None

    def _merge(self, fresh: Ruling, known: StoredMemory, match: Match) -> Ruling:
        changes = merged_fields(known, fresh.candidate, policy=self._draft.policy.confidence)
        if changes.get("canonical_hash") in self._held:
            changes.pop("canonical_hash")  # another memory has the hash
        changes |= with_source(first=known.source, further=known.further_sources, told=self._draft.request.source)
        return fresh.evolve(memory_id=known.id, merge_into=known, changes=changes, rule=f"merge_by_{match.tier}")

    def _join(self, place: int, candidate: Candidate) -> None:
        """Join a repeat to an earlier candidate: both turns are its sources, the more precise wording wins."""
        ruling = self.rulings[place]
        first = ruling.candidate
        better = candidate if tells_more(candidate.content, than=first.content) else first
        sources = tuple(dict.fromkeys((*first.source_turn_ids, *candidate.source_turn_ids)))
        joined = better.evolve(
            index=first.index,
            source_turn_ids=sources,
            replaces=tuple(dict.fromkeys((*first.replaces, *candidate.replaces))),
            contradicts=tuple(dict.fromkeys((*first.contradicts, *candidate.contradicts))),
        )
        ruling = ruling.evolve(candidate=joined)
        self._note_memory(candidate, ruling)
        if ruling.merge_into is not None:
            ruling = self._merge(ruling, ruling.merge_into, Match(MatchVerdict.SAME, "repeat")).evolve(rule=ruling.rule)
        else:
            # Another wording may have another hash, which may belong to another memory.
            taken = self._as_memory(ruling).canonical_hash in self._held
            ruling = ruling.evolve(hash_salted=ruling.hash_salted or taken)
        self.rulings[place] = ruling
        detail = {"same_as": first.index}
        self.drops.append(Drop(stage=Stage.DEDUPE, reason=Reason.DUPLICATE, candidate=candidate, detail=detail))

    def _merging_into(self, known: StoredMemory | None) -> int | None:
        """Return the index of the ruling that already merges into a memory: a plan changes each version once."""
        targets = [ruling.merge_into.id if ruling.merge_into else None for ruling in self.rulings]
        return targets.index(known.id) if known is not None and known.id in targets else None

    def _compare(self, fresh: Ruling, mine: StoredMemory, theirs: StoredMemory, cosine: float | None) -> Match:
        candidate = fresh.candidate
        verdict = self._verdicts.get((candidate.index, theirs.id))
        if theirs.id in (*candidate.replaces, *candidate.contradicts) or verdict in _DIFFERENT_BY_JUDGE:
            return Match(MatchVerdict.DIFFERENT, "extractor" if verdict is None else "judge", cosine)
        if verdict is PairVerdict.SAME and refusal_of_merge(candidate, theirs) is None:
            return Match(MatchVerdict.SAME, "judge", cosine)
        residual = self._residuals.get(distinct_words(mine.content, theirs.content))
        match = compare(mine, theirs, cosine=cosine, residual=residual, band=self._band)
        if match.verdict is MatchVerdict.UNSURE and self._was_left_apart(theirs, match):
            return replace(match, verdict=MatchVerdict.DIFFERENT, tier="extractor")
        return match

    def _was_left_apart(self, theirs: StoredMemory, match: Match) -> bool:
        """Return True if the model saw a memory, said nothing about it, and it is too different to ask a judge."""
        gate = self._draft.policy.judges.shown_gate
        return theirs.id in self._draft.shown_memories and (match.cosine or 0.0) < gate

    def _as_memory(self, ruling: Ruling) -> StoredMemory:
        return self._with_current_names(as_memory(draft=self._draft, ruling=ruling))

    def _with_current_names(self, memory: StoredMemory) -> StoredMemory:
        """Use the current names of entities, so that a name that became known later makes no difference.

        A sentence that contains the name stays as it is: "Lena is User's sister" must not become "Lena is Lena".
        """
        names = {alias: name for alias, name in self._names.items() if name not in memory.content}
        content = replace_mentions(memory.content, names=names)
        return memory if content == memory.content else replace(memory, content=content)


def _hash_first_then_nearest(pair: tuple[StoredMemory, Match]) -> tuple[bool, float]:
    _, match = pair
    return match.tier != "hash", -(match.cosine or 0.0)


def _note(ruling: Ruling, matches: Sequence[tuple[StoredMemory, Match]]) -> dict[str, Any]:
    """Return the span's record of what a candidate was compared with, nearest first, and of the outcome."""
    nearest = sorted(matches, key=_hash_first_then_nearest)[:_MOST_FLAGGED]
    return {
        "rule": ruling.rule,
        "near": [
            {
                "memory": str(memory.id),
                "verdict": match.verdict.value,
                "tier": match.tier,
                "cosine": None if match.cosine is None else round(match.cosine, 4),
                "residual": None if match.residual is None else round(match.residual, 4),
                "guards": sorted(match.differences),
            }
            for memory, match in nearest
        ],
    }


def _current_names(draft: Draft) -> Mapping[str, str]:
    """Map each alias that belongs to one entity only to its current name."""
    renamed = dict(draft.renamed)
    names: dict[str, set[str]] = {}
    for entity in (*draft.entities, *draft.new_entities):
        name = renamed.get(entity.id, entity.name)
        for alias in (entity.name, *entity.aliases, name):
            names.setdefault(alias, set()).add(name)
    return {alias: found.pop() for alias, found in names.items() if len(found) == 1}
