"""Stage 3, resolve_refs: resolve names, pronouns and descriptions to entities, and phrases for times to dates."""

from collections.abc import Callable, Sequence
from uuid import UUID

from apps.pipeline.core.draft import Draft, Drop, KnownEntity
from apps.pipeline.core.enums import NOTE, Reason, Stage
from apps.pipeline.core.model_calls import Purpose
from apps.pipeline.core.ports import Ports
from apps.pipeline.core.predicates import with_canonical_predicate
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue
from apps.pipeline.prompts import references
from apps.pipeline.prompts.llm_judge import ask_judge, judge_of
from apps.pipeline.prompts.references import Reference
from apps.pipeline.resolution.dates import dated
from apps.pipeline.resolution.entity_index import USER, EntityIndex
from apps.pipeline.resolution.mentions import (
    ANIMATE,
    NAME_PREDICATES,
    Chosen,
    LinkedCandidate,
    introductions_first,
    link,
    mentions_of,
)
from apps.pipeline.resolution.names import is_description
from apps.pipeline.resolution.pronouns import dangling_in, holds, kind_of, replace_mentions

_ASSISTANT = "the assistant"
MOST_CALLS = 2  # per request, even if the plan is made again


def run(draft: Draft, ports: Ports) -> Draft:
    """Read the end user's entities, decide, and ask a judge about ambiguous phrases."""
    if not draft.candidates:
        return draft
    known = ports.memories.entities(
        end_user_id=draft.request.origin.end_user_id, limit=draft.policy.resolution.max_entities
    )
    decided = decide(draft, known=known, new_id=ports.new_id)
    judge = judge_of(draft, ports) if draft.policy.judges.references else None
    stable = {entity.id for entity in decided.entities}  # new ones have no stable id yet
    dropped = [drop for drop in decided.drops if drop.stage is Stage.RESOLVE_REFS and drop.candidate]
    found = ((drop, *tie) for drop in dropped for tie in drop.detail.get("ties", ()))
    ties = [(drop, phrase, choices) for drop, phrase, choices in found if {each.id for each in choices} <= stable]
    asked = ties[: draft.policy.judges.most_questions]
    calls = sum(call.purpose is Purpose.JUDGE_REFERENCES for call in draft.model_calls)
    if judge is None or not asked or calls >= MOST_CALLS:
        return decided
    turns = draft.request.session_turns
    shown: list[Reference] = []
    for drop, phrase, choices in asked:
        source_ids = drop.candidate.source_turn_ids if drop.candidate else ()
        last = max(index for index, turn in enumerate(turns) if turn.id in source_ids)
        before = tuple(turn.content for turn in turns[:last])
        names = tuple(f"{each.name} ({', '.join((each.type.value, *each.aliases))})" for each in choices)
        shown.append(Reference(phrase=phrase, turn=turns[last].content, before=before, choices=names))
    request = references.render(references=shown, model=draft.policy.extraction.model)
    verdicts, call = ask_judge(request, count=len(asked), judge=judge)
    chosen = {
        (drop.candidate.index, phrase): choices[place].id
        for (drop, phrase, choices), verdict in zip(asked, verdicts, strict=True)
        if drop.candidate and (place := references.choice_of(verdict, count=len(choices))) is not None
    }
    told = draft.evolve(model_calls=(*draft.model_calls, call))
    return decide(told, known=known, new_id=ports.new_id, chosen=chosen)


def decide(
    draft: Draft, *, known: Sequence[KnownEntity], new_id: Callable[[], UUID], chosen: Chosen | None = None
) -> Draft:
    """Give every mention its entity, rewrite the sentences with names, drop candidates with unresolved references.

    `chosen` are the choices of a judge for ties.

    There are two passes: first the entities, so that a name told late in a request is also used in the sentences before
    it; then the rewriting.
    """
    named = (with_canonical_predicate(each, policy=draft.policy.resolution) for each in draft.candidates)
    draft = draft.evolve(candidates=tuple(dated(each, turn=draft.request.sources_of(each)[-1]) for each in named))
    entity_index = EntityIndex(entities=known, new_id=new_id)
    in_order = introductions_first(draft)
    links = {each.index: link(draft, each, entity_index=entity_index, chosen=chosen or {}) for each in in_order}
    written = [_written(links[each.index], entity_index=entity_index) for each in draft.candidates]
    drops = tuple(each for each in written if isinstance(each, Drop))
    kept = tuple(each for each in written if isinstance(each, Candidate))
    pointed_at = frozenset(mention.entity_id for each in kept for mention in mentions_of(each))
    stored = pointed_at | {entity.id for entity in known}
    return draft.drop(*drops).evolve(
        candidates=kept,
        entities=tuple(known),
        new_entities=tuple(entity for entity in entity_index.new_entities if entity.id in pointed_at),
        new_aliases=tuple(entity_index.new_aliases),
        moved_aliases=tuple(pair for pair in entity_index.moved_aliases.values() if pair[0] in stored),
        renamed=tuple(entity_index.renamed.items()),
        details={"rules": {str(index): linked.rules for index, linked in sorted(links.items())}},
    )


def _written(linked: LinkedCandidate, *, entity_index: EntityIndex) -> Candidate | Drop:
    """Return a candidate with the current names of its entities, or its drop if a reference stays unresolved."""
    candidate = linked.candidate
    entities = {text: entity_index.get(entity.id) for text, entity in linked.entities.items()}
    if NOTE in candidate.tags:
        return _with_entities(candidate, entities)  # a quote stays as it was said
    for mention, found in linked.resolutions:  # a plain object may stay a literal
        is_reference = kind_of(mention.text) is not None or found.rule == "tie"
        if found.entity is None and (mention is candidate.subject or is_reference):
            return _dropped(candidate, mention.text, linked)
    user = entity_index.known_user()
    names = {USER: user.name} if user else {}  # the current name of the user in place of "User" too
    names |= {text: entity.name for text, entity in entities.items()}
    if candidate.predicate in NAME_PREDICATES:  # a statement of a name says it of "User" or of a description
        subject = candidate.subject.text
        if entities[subject].is_user:
            names |= {USER: USER, subject: USER}
        else:
            described = next(filter(is_description, entities[subject].aliases), subject)
            names[subject] = replace_mentions(described, names={USER: names.get(USER, USER)})
    content = replace_mentions(candidate.content, names=names)
    people = {USER, _ASSISTANT}
    for each in entity_index:
        if each.type in ANIMATE:  # by the name that the sentence uses: the whole one, an alias, or its first word
            forms = (each.name, *each.aliases, *each.name.split()[:1])
            people.add(next((form for form in forms if form[:1].isupper() and holds(content, form)), each.name))
    written = _with_entities(candidate, entities).evolve(content=content)
    dangling = dangling_in(content, people=tuple(sorted(people)))
    return _dropped(written, dangling, linked) if dangling else written


def _dropped(candidate: Candidate, text: str, linked: LinkedCandidate) -> Drop:
    ties = tuple((mention.text, found.choices) for mention, found in linked.resolutions if found.choices)
    detail = {"dangling": text, "rules": linked.rules, "ties": ties}
    return Drop(stage=Stage.RESOLVE_REFS, reason=Reason.RESOLUTION_FAILED, candidate=candidate, detail=detail)


def _with_entities(candidate: Candidate, entities: dict[str, KnownEntity]) -> Candidate:
    def resolved(mention: Mention) -> Mention:
        entity = entities.get(mention.text)
        if entity is None:
            return mention
        return Mention(text=entity.name, type=entity.type, is_speaker=mention.is_speaker, entity_id=entity.id)

    value = candidate.object
    if value.entity is not None:
        mention = resolved(value.entity)
        value = ObjectValue(entity=mention) if mention.entity_id else ObjectValue(literal=value.entity.text)
    return candidate.evolve(
        subject=resolved(candidate.subject), object=value, mentions=tuple(map(resolved, candidate.mentions))
    )
