"""Stage 3, resolve_refs: resolve names, pronouns and descriptions to entities, and phrases for times to dates."""

from collections.abc import Callable, Sequence
from uuid import UUID

from apps.pipeline.core.draft import Draft, Drop, KnownEntity
from apps.pipeline.core.enums import Stage
from apps.pipeline.core.model_calls import ModelCallRecord, Purpose
from apps.pipeline.core.ports import Ports
from apps.pipeline.core.predicates import with_canonical_predicate
from apps.pipeline.core.statement import Candidate
from apps.pipeline.prompts import references
from apps.pipeline.prompts.llm_judge import AskedJudge, ask_judge, judge_of
from apps.pipeline.prompts.references import Reference
from apps.pipeline.resolution.discourse import source_turn
from apps.pipeline.resolution.entity_index import EntityIndex
from apps.pipeline.resolution.event_dates import dated
from apps.pipeline.resolution.link_mentions import Chosen, introductions_first, link, mentions_of
from apps.pipeline.resolution.write_candidate import Tie, write

DroppedTie = tuple[Drop, Tie]
MOST_CALLS = 2  # per request, even if the plan is made again


def run(draft: Draft, ports: Ports) -> Draft:
    """Read the end user's entities, decide, and ask a judge about ambiguous phrases."""
    if not draft.candidates:
        return draft
    known = ports.memories.entities(
        end_user_id=draft.request.origin.end_user_id, limit=draft.policy.resolution.max_entities
    )
    decided = decide(draft, known=known, new_id=ports.ids.new)
    judge = judge_of(draft, ports) if draft.policy.judges.references else None
    asked = _batches(draft, _ties(decided))
    if judge is None or not asked:
        return decided
    chosen: dict[tuple[int, str], UUID] = {}
    calls = list(draft.model_calls)
    for batch in asked:
        found, call = _judged(draft, batch, judge)
        chosen |= found
        calls.append(call)
    told = draft.evolve(model_calls=tuple(calls))
    return decide(told, known=known, new_id=ports.ids.new, chosen=chosen)


def _batches(draft: Draft, ties: Sequence[DroppedTie]) -> list[Sequence[DroppedTie]]:
    """Distribute ties over the calls that the request has left; further ties stay unresolved."""
    made = sum(call.purpose is Purpose.JUDGE_REFERENCES for call in draft.model_calls)
    most = draft.policy.judges.most_questions
    batches = [ties[start : start + most] for start in range(0, len(ties), most)]
    return batches[: max(0, MOST_CALLS - made)]


def _judged(draft: Draft, asked: Sequence[DroppedTie], judge: AskedJudge) -> tuple[Chosen, ModelCallRecord]:
    """Return the choices of a judge for some ties, and the record of its call."""
    request = references.render(
        references=[_reference(draft, drop, tie) for drop, tie in asked], model=draft.policy.extraction.model
    )
    judgement = ask_judge(request, count=len(asked), judge=judge)
    chosen = {
        (drop.candidate.index, tie.phrase): tie.choices[place]
        for (drop, tie), verdict in zip(asked, judgement.verdicts, strict=True)
        if drop.candidate and (place := references.choice_of(verdict, count=len(tie.choices))) is not None
    }
    return chosen, judgement.call


def _ties(decided: Draft) -> list[DroppedTie]:
    """Return the ties that candidates were dropped for; only known entities, because new ones have no stable id yet."""
    known = {entity.id for entity in decided.entities}
    dropped = [drop for drop in decided.drops if drop.stage is Stage.RESOLVE_REFS and drop.candidate]
    return [(drop, tie) for drop in dropped for tie in drop.detail.get("ties", ()) if set(tie.choices) <= known]


def _reference(draft: Draft, drop: Drop, tie: Tie) -> Reference:
    turns = (*draft.request.earlier_turns, *draft.request.turns)
    source_ids = drop.candidate.source_turn_ids if drop.candidate else ()
    place = max(index for index, turn in enumerate(turns) if turn.id in source_ids)
    return Reference(
        phrase=tie.phrase,
        turn=turns[place].content,
        before=tuple(turn.content for turn in turns[:place]),
        choices=tie.names,
    )


def decide(
    draft: Draft, *, known: Sequence[KnownEntity], new_id: Callable[[], UUID], chosen: Chosen | None = None
) -> Draft:
    """Give every mention its entity, rewrite the sentences with names, drop candidates with unresolved references.

    `chosen` are the choices of a judge for ties.

    There are two passes: first the entities, so that a name told late in a request is also used in the sentences before
    it; then the rewriting.
    """
    draft = draft.evolve(
        candidates=tuple(
            dated(
                with_canonical_predicate(each, policy=draft.policy.resolution),
                turn=source_turn(request=draft.request, candidate=each),
            )
            for each in draft.candidates
        )
    )
    entity_index = EntityIndex(entities=known, new_id=new_id)
    in_order = introductions_first(draft)
    links = {each.index: link(draft, each, entity_index=entity_index, chosen=chosen or {}) for each in in_order}
    written = [write(links[each.index], entity_index=entity_index) for each in draft.candidates]
    drops = tuple(each for each in written if isinstance(each, Drop))
    kept = tuple(each for each in written if isinstance(each, Candidate))
    pointed_at = frozenset(mention.entity_id for each in kept for mention in mentions_of(each))
    stored = pointed_at | {entity.id for entity in known}
    return draft.drop(*drops).evolve(
        candidates=kept,
        entities=tuple(known),
        new_entities=tuple(entity for entity in entity_index.new_entities if entity.id in pointed_at),
        new_aliases=entity_index.new_aliases,
        moved_aliases=tuple(pair for pair in entity_index.moved_aliases if pair[0] in stored),
        renamed=entity_index.renamed,
        details={"rules": {str(index): linked.rules for index, linked in sorted(links.items())}},
    )
