"""Comparison of the candidates of one request, one after the other, with known memories and earlier candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from apps.pipeline.core.agent_scope import with_source
from apps.pipeline.core.draft import Draft, Drop, Ruling
from apps.pipeline.core.enums import Reason, Stage
from apps.pipeline.core.memory_conversion import as_memory, source_of
from apps.pipeline.core.policy import SimilarityBand
from apps.pipeline.core.ports import Neighbour, Vector
from apps.pipeline.core.statement import Candidate, StoredMemory
from apps.pipeline.deduplication.guard import tells_more
from apps.pipeline.deduplication.matching import Match, MatchVerdict, compare, cosine
from apps.pipeline.deduplication.merging import merged_fields
from apps.pipeline.deduplication.open_pairs import Verdicts
from apps.pipeline.deduplication.proposals import ProposalRefusal, refused_proposals
from apps.pipeline.prompts.memory_pairs import PairVerdict
from apps.pipeline.resolution.pronouns import replace_mentions

_MOST_FLAGGED = 3  # maximum of possible duplicates that a memory is linked to
_PROVEN = ("words", "hash")  # tiers that need no cosine


class DedupeSession:
    """The growing list of rulings of one request; created for one trace and discarded after it."""

    def __init__(
        self, *, draft: Draft, band: SimilarityBand, named: Mapping[UUID, StoredMemory], verdicts: Verdicts
    ) -> None:
        self._draft = draft
        self._band = band
        self._named = named  # live memories that the extractor could name
        self._verdicts = verdicts
        renamed = dict(draft.renamed)
        names: dict[str, set[str]] = {}
        for entity in draft.all_entities:
            name = renamed.get(entity.id, entity.name)
            for alias in (entity.name, *entity.aliases, name):
                names.setdefault(alias, set()).add(name)
        # The current name for each alias that belongs to one entity only.
        self._names = {alias: found.pop() for alias, found in names.items() if len(found) == 1}
        self._became: dict[UUID, UUID] = {}  # memories of earlier candidates
        self._earlier: list[StoredMemory] = []  # of the rulings, in their order
        self._vectors: list[Vector] = []
        self._known_hashes: set[str] = set()  # of known memories that were compared
        self.rulings: list[Ruling] = []
        self.drops: list[Drop] = []
        self.notes: dict[str, Any] = {}
        self.refused: dict[str, list[dict[str, str]]] = {}

    def judge(self, fresh: Ruling, *, vector: Vector, near: Sequence[Neighbour]) -> None:
        """Settle one candidate, first against earlier ones, then against known memories."""
        fresh = self._with_proposals(fresh)
        mine = self._as_memory(fresh)
        before = [
            (memory, self._compare(fresh, mine, memory, cosine(vector, theirs)))
            for memory, theirs in zip(self._earlier, self._vectors, strict=True)
        ]
        places = [place for place, (_, match) in enumerate(before) if match.verdict is MatchVerdict.SAME]
        comparable = {each.memory.id: (each.memory, each.cosine) for each in near}
        index, same_as = fresh.candidate.index, fresh.candidate.same_as
        same = {other for (place, other), verdict in self._verdicts.items() if (place, verdict) == (index, "same")}
        if same_as is not None:
            same.add(same_as)
        for each in same & self._named.keys() - comparable.keys():
            comparable[each] = self._named[each], None
        known = [
            (memory, self._compare(fresh, mine, self._with_current_names(memory), found))
            for memory, found in comparable.values()
        ]
        self._known_hashes.update(memory.canonical_hash for memory, _ in known)
        if places:
            return self._join(places[0], fresh.candidate)
        ruling = self._rule(fresh, mine, known=known, before=before)
        # A plan changes each version once, so further repeats of a memory join the first one.
        targets = [each.merge_into.id if each.merge_into else None for each in self.rulings]
        if ruling.merge_into is not None and ruling.merge_into.id in targets:
            return self._join(targets.index(ruling.merge_into.id), fresh.candidate)
        self.rulings.append(ruling)
        self._earlier.append(self._as_memory(ruling))
        self._vectors.append(vector)
        if ruling.candidate.memory_id is not None:
            self._became[ruling.candidate.memory_id] = ruling.memory_id
        return None

    def _with_proposals(self, fresh: Ruling) -> Ruling:
        """Follow what the extractor and a judge say about other memories, unless it is refused.

        Refusals are recorded in the span; a link to an unrelated memory is for a person. If a judge says that both
        statements are true, it isn't asked again.
        """
        index, became = fresh.candidate.index, self._became
        candidate = fresh.candidate.evolve(  # with the memories that earlier candidates have become
            replaces=tuple(dict.fromkeys(became.get(each, each) for each in fresh.candidate.replaces)),
            contradicts=tuple(dict.fromkeys(became.get(each, each) for each in fresh.candidate.contradicts)),
            same_as=became.get(fresh.candidate.same_as, fresh.candidate.same_as) if fresh.candidate.same_as else None,
        )
        named = {**self._named, **{memory.id: memory for memory in self._earlier}}
        refused = list(refused_proposals(self._draft, candidate, named=named))
        if refused:
            self.refused[str(index)] = [each.to_json() for each in refused]
            ids = {each.memory_id for each in refused}
            unrelated = {each.memory_id for each in refused if each.reason is ProposalRefusal.UNRELATED}
            candidate = candidate.evolve(
                same_as=None if candidate.same_as in ids else candidate.same_as,
                replaces=tuple(each for each in candidate.replaces if each not in ids),
                contradicts=tuple(each for each in candidate.contradicts if each not in ids),
            )
            fresh = fresh.evolve(
                possible_duplicates=tuple(named[each] for each in unrelated if (index, each) not in self._verdicts),
                flags=(*fresh.flags, Reason.PROPOSAL_REFUSED),
            )
        judged = [(other, verdict) for (place, other), verdict in self._verdicts.items() if place == index]
        replaced = (other for other, verdict in judged if verdict is PairVerdict.REPLACES)
        contradicted = (other for other, verdict in judged if verdict is PairVerdict.CONTRADICTS)
        return fresh.evolve(
            candidate=candidate.evolve(
                replaces=(*candidate.replaces, *replaced), contradicts=(*candidate.contradicts, *contradicted)
            ),
            coexists=frozenset(other for other, verdict in judged if verdict is PairVerdict.BOTH_HOLD),
        )

    def _compare(self, fresh: Ruling, mine: StoredMemory, theirs: StoredMemory, cosine: float | None) -> Match:
        """Compare by words first: equal sentences are one memory, whatever an extractor or a judge says."""
        candidate = fresh.candidate
        subjects = {mine.subject_id, theirs.subject_id}
        is_apart = mine.valid_until != theirs.valid_until or (None not in subjects and len(subjects) > 1)
        if candidate.given is not None and is_apart:  # whatever the sentence says
            return Match(MatchVerdict.DIFFERENT, "facts", cosine)
        match = compare(mine, theirs, cosine=cosine, band=self._band)
        if match.verdict is MatchVerdict.SAME and match.tier == "words":
            return match
        verdict = self._verdicts.get((candidate.index, theirs.id))
        if verdict is PairVerdict.SAME:
            return Match(MatchVerdict.SAME, "judge", cosine)
        if verdict is not None:
            return Match(MatchVerdict.DIFFERENT, "judge", cosine)
        if theirs.id == candidate.same_as:
            return Match(MatchVerdict.SAME, "extractor", cosine)
        if theirs.id in candidate.proposed:
            return Match(MatchVerdict.DIFFERENT, "extractor", cosine)
        # The model saw the memory, said nothing about it, and it is too different to ask a judge.
        gate = self._draft.policy.judges.shown_gate
        was_left_apart = theirs.id in self._draft.shown_memories and (match.cosine or 0.0) < gate
        if match.verdict is MatchVerdict.UNSURE and was_left_apart:
            return replace(match, verdict=MatchVerdict.DIFFERENT, tier="extractor")
        return match

    def _rule(
        self,
        fresh: Ruling,
        mine: StoredMemory,
        *,
        known: Sequence[tuple[StoredMemory, Match]],
        before: Sequence[tuple[StoredMemory, Match]],
    ) -> Ruling:
        """Decide about a candidate by what it was compared with, and note the nearest of that for the span."""
        compared = (*known, *before)
        same = [(memory, match) for memory, match in known if match.verdict is MatchVerdict.SAME]
        if same:
            ruling = self._merge(fresh, *min(same, key=_proven_first_then_nearest))
        else:
            unsure = [memory for memory, match in compared if match.verdict is MatchVerdict.UNSURE]
            possible = {memory.id: memory for memory in (*fresh.possible_duplicates, *unsure)}
            flags = (Reason.UNSURE_DUPLICATE,) if possible else ()
            ruling = fresh.evolve(
                hash_salted=any(memory.canonical_hash == mine.canonical_hash for memory, _ in compared),
                possible_duplicates=tuple(possible.values())[:_MOST_FLAGGED],
                flags=(*fresh.flags, *flags),
            )
        near = [
            {
                "memory": str(memory.id),
                "verdict": match.verdict.value,
                "tier": match.tier,
                "cosine": None if match.cosine is None else round(match.cosine, 4),
                "guards": sorted(match.differences),
            }
            for memory, match in sorted(compared, key=_proven_first_then_nearest)[:_MOST_FLAGGED]
        ]
        self.notes[str(fresh.candidate.index)] = {"rule": ruling.rule, "near": near}
        return ruling

    def _merge(self, fresh: Ruling, known: StoredMemory, match: Match) -> Ruling:
        changes = merged_fields(known, fresh.candidate, policy=self._draft.policy.confidence)
        if changes.get("canonical_hash") in self._known_hashes:
            changes.pop("canonical_hash")  # another memory has the hash
        told = source_of(self._draft, fresh.candidate)
        changes |= with_source(first=known.source, further=known.further_sources, told=told)
        rule = f"merge_by_{match.tier}"
        return fresh.evolve(memory_id=known.id, merge_into=known, changes=changes, rule=rule, possible_duplicates=())

    def _join(self, place: int, candidate: Candidate) -> None:
        """Join a repeat to an earlier candidate: both turns are its sources, the more precise wording wins."""
        ruling = self.rulings[place]
        first = ruling.candidate
        rewords = tells_more(candidate.content, than=first.content) and not (candidate.given and candidate.given.doubts)
        better = candidate if rewords else first
        joined = better.evolve(
            index=first.index,
            source_turn_ids=tuple(dict.fromkeys((*first.source_turn_ids, *candidate.source_turn_ids))),
            replaces=tuple(dict.fromkeys((*first.replaces, *candidate.replaces))),
            contradicts=tuple(dict.fromkeys((*first.contradicts, *candidate.contradicts))),
        )
        ruling = ruling.evolve(candidate=joined)
        if candidate.memory_id is not None:
            self._became[candidate.memory_id] = ruling.memory_id
        if ruling.merge_into is not None:
            ruling = self._merge(ruling, ruling.merge_into, Match(MatchVerdict.SAME, "repeat")).evolve(rule=ruling.rule)
        else:
            # Another wording may have another hash, which may belong to another memory.
            taken = self._as_memory(ruling).canonical_hash in self._known_hashes
            ruling = ruling.evolve(hash_salted=ruling.hash_salted or taken)
        self.rulings[place] = ruling
        self._earlier[place] = self._as_memory(ruling)
        detail = {"same_as": first.index}
        self.drops.append(Drop(stage=Stage.DEDUPE, reason=Reason.DUPLICATE, candidate=candidate, detail=detail))

    def _as_memory(self, ruling: Ruling) -> StoredMemory:
        return self._with_current_names(as_memory(draft=self._draft, ruling=ruling))

    def _with_current_names(self, memory: StoredMemory) -> StoredMemory:
        """Use the current names of entities, so that a name that became known later makes no difference.

        A sentence that contains the name stays as it is: "Lena is User's sister" must not become "Lena is Lena".
        """
        names = {alias: name for alias, name in self._names.items() if name not in memory.content}
        content = replace_mentions(memory.content, names=names)
        return memory if content == memory.content else replace(memory, content=content)


def _proven_first_then_nearest(pair: tuple[StoredMemory, Match]) -> tuple[int, float]:
    _, match = pair
    rank = _PROVEN.index(match.tier) if match.tier in _PROVEN else len(_PROVEN)
    return rank, -(match.cosine or 0.0)
