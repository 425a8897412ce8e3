"""Stage 3, resolve_refs: resolve names, pronouns and descriptions to entities, and phrases for times to dates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from apps.pipeline.core.draft import Draft, Drop, KnownEntity
from apps.pipeline.core.enums import EntityType, Polarity, Reason, SpeechAct, Stage
from apps.pipeline.core.model_calls import ModelCallRecord, Purpose
from apps.pipeline.core.ports import Model, Ports
from apps.pipeline.core.predicates import in_known_words
from apps.pipeline.core.statement import PATTERNS, Candidate, Mention, ObjectValue
from apps.pipeline.lexicon.retractions import takes_back
from apps.pipeline.prompts import references
from apps.pipeline.prompts.llm_judge import ask_judge, judge_of
from apps.pipeline.prompts.references import Reference
from apps.pipeline.resolution.alias_introductions import introduce
from apps.pipeline.resolution.discourse import source_turn
from apps.pipeline.resolution.entity_index import USER, EntityIndex
from apps.pipeline.resolution.event_dates import dated
from apps.pipeline.resolution.grammar import apposition_of, describe, is_description, noun_of_relation
from apps.pipeline.resolution.pronouns import dangling_in, kind_of
from apps.pipeline.resolution.resolve_mention import ANIMATE, ResolutionStep, ResolvedMention, resolve
from apps.pipeline.resolution.rewriting import rewrite

# By candidate index and phrase: the entity that a judge has chosen.
Chosen = Mapping[tuple[int, str], UUID]


@dataclass(frozen=True, slots=True)
class Tie:
    """An ambiguous phrase: it may refer to any of several known entities."""

    phrase: str
    choices: tuple[UUID, ...]
    names: tuple[str, ...]


DroppedTie = tuple[Drop, Tie]
MOST_CALLS = 2  # per request, even if the plan is made again
NAME_PREDICATES = frozenset({"name", "has_name", "first_name", "is_named", "is_called"})


def run(draft: Draft, ports: Ports) -> Draft:
    """Read the end user's entities, decide, and ask a judge about ambiguous phrases."""
    if not draft.candidates:
        return draft
    known = ports.memories.entities(
        end_user_id=draft.request.origin.end_user_id, limit=draft.policy.resolution.max_entities
    )
    decided = decide(draft, known=known, new_id=ports.ids.new)
    model = judge_of(draft, ports) if draft.policy.judges.references else None
    asked = _batches(draft, _ties(decided))
    if model is None or not asked:
        return decided
    chosen: dict[tuple[int, str], UUID] = {}
    calls = list(draft.model_calls)
    for batch in asked:
        found, call = _judged(draft, batch, model)
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


def _judged(draft: Draft, asked: Sequence[DroppedTie], model: Model) -> tuple[Chosen, ModelCallRecord]:
    """Return the choices of a judge for some ties, and the record of its call."""
    request = references.render(
        references=[_reference(draft, drop, tie) for drop, tie in asked], model=draft.policy.extraction.model
    )
    judgement = ask_judge(request, count=len(asked), model=model)
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
                in_known_words(each, policy=draft.policy.resolution),
                turn=source_turn(request=draft.request, candidate=each),
            )
            for each in draft.candidates
        )
    )
    directory = EntityIndex(entities=known, new_id=new_id)
    links = {each.index: _link(draft, each, directory, chosen or {}) for each in _introductions_first(draft)}
    written = [_write(links[each.index], directory) for each in draft.candidates]
    drops = tuple(each for each in written if isinstance(each, Drop))
    kept = tuple(each for each in written if isinstance(each, Candidate))
    pointed_at = _pointed_at(kept)
    stored = pointed_at | {entity.id for entity in known}
    return draft.drop(*drops).evolve(
        candidates=kept,
        entities=tuple(known),
        new_entities=tuple(entity for entity in directory.new_entities if entity.id in pointed_at),
        new_aliases=directory.new_aliases,
        moved_aliases=tuple(pair for pair in directory.moved_aliases if pair[0] in stored),
        renamed=directory.renamed,
        details={"rules": {str(index): linked.rules for index, linked in sorted(links.items())}},
    )


def _pointed_at(candidates: Sequence[Candidate]) -> frozenset[UUID | None]:
    return frozenset(mention.entity_id for each in candidates for mention in _mentions(each))


@dataclass(frozen=True, slots=True)
class _Linked:
    """A candidate with the results of its mentions."""

    candidate: Candidate
    resolutions: tuple[tuple[Mention, ResolvedMention], ...]

    @property
    def rules(self) -> dict[str, str]:
        return {mention.text: resolution.rule.value for mention, resolution in self.resolutions}

    @property
    def entities(self) -> dict[str, KnownEntity]:
        return {mention.text: found.entity for mention, found in self.resolutions if found.entity}


def _introductions_first(draft: Draft) -> list[Candidate]:
    """Order by turn; within a turn, "Lena is User's sister" precedes other statements about Lena."""
    places = {turn.id: place for place, turn in enumerate(draft.request.turns)}

    def order(candidate: Candidate) -> tuple[int, bool, int]:
        place = max(places[turn_id] for turn_id in candidate.source_turn_ids if turn_id in places)
        return place, not _introduces(candidate) and candidate.predicate not in NAME_PREDICATES, candidate.index

    return sorted(draft.candidates, key=order)


def _link(draft: Draft, candidate: Candidate, directory: EntityIndex, chosen: Chosen) -> _Linked:
    def settle(mention: Mention) -> ResolvedMention:
        if introduced := _introduced_in_passing(draft, candidate, mention, directory):
            return introduced
        found = resolve(
            mention, request=draft.request, candidate=candidate, directory=directory, policy=draft.policy.resolution
        )
        entity_id = chosen.get((candidate.index, mention.text)) if found.rule is ResolutionStep.TIE else None
        return ResolvedMention(ResolutionStep.JUDGE, directory.get(entity_id)) if entity_id else found

    if linked := _introduced(draft, candidate, settle, directory):
        return linked
    resolutions = tuple((mention, settle(mention)) for mention in _mentions(candidate))
    linked = _Linked(candidate, resolutions)
    _learn_name(linked, directory)
    return linked


def _mentions(candidate: Candidate) -> tuple[Mention, ...]:
    named = (candidate.object.entity,) if candidate.object.entity else ()
    return candidate.subject, *named, *candidate.mentions


def _introduces(candidate: Candidate) -> bool:
    """Return True if a relation connects a name with a description: "Priya is User's manager"."""
    other = candidate.object.entity
    if not candidate.traits.ties_entities or other is None:
        return False
    read = noun_of_relation(candidate.predicate)
    if read is None:
        return False
    holder = candidate.subject if read[1] else other
    return not holder.is_speaker and kind_of(holder.text) is None and describe(holder.text) is None


def _introduced(
    draft: Draft, candidate: Candidate, settle: Callable[[Mention], ResolvedMention], directory: EntityIndex
) -> _Linked | None:
    read, other = noun_of_relation(candidate.predicate), candidate.object.entity
    if not _introduces(candidate) or read is None or other is None:
        return None
    noun, subject_holds = read
    holder, owner = (candidate.subject, other) if subject_holds else (other, candidate.subject)
    owned = settle(owner)
    if owned.entity is None:
        return _Linked(candidate, ((owner, owned), (holder, ResolvedMention(ResolutionStep.NOTHING))))
    said_at = source_turn(request=draft.request, candidate=candidate).said_at
    found = introduce(
        name=holder.text, owner=owned.entity, noun=noun, candidate=candidate, said_at=said_at, directory=directory
    )
    resolution = ResolvedMention(ResolutionStep.DESCRIPTION, found) if found else ResolvedMention(ResolutionStep.TIE)
    more = tuple((mention, settle(mention)) for mention in candidate.mentions)
    return _Linked(candidate, ((owner, owned), (holder, resolution), *more))


def _introduced_in_passing(
    draft: Draft, candidate: Candidate, mention: Mention, directory: EntityIndex
) -> ResolvedMention | None:
    """Add the alias that an apposition in a model's sentence gives: "Lena, User's sister, lives in York"."""
    if candidate.extractor.startswith(PATTERNS) or mention.is_speaker or mention.entity_id is not None:
        return None
    described = apposition_of(mention.text, sentence=candidate.content)
    if described is None:
        return None
    owner = Mention(text=described.owner, type=EntityType.PERSON, is_speaker=described.owner == USER)
    owned = resolve(
        owner, request=draft.request, candidate=candidate, directory=directory, policy=draft.policy.resolution
    )
    if owned.entity is None:
        return None
    said_at = source_turn(request=draft.request, candidate=candidate).said_at
    found = introduce(
        name=mention.text,
        owner=owned.entity,
        noun=described.noun,
        candidate=candidate,
        said_at=said_at,
        directory=directory,
    )
    return ResolvedMention(ResolutionStep.DESCRIPTION, found) if found else None


def _learn_name(linked: _Linked, directory: EntityIndex) -> None:
    """Rename the end user to the name that they have given, and others to a corrected name."""
    candidate, name = linked.candidate, linked.candidate.object.text.strip()
    named = linked.entities.get(candidate.subject.text)
    told = candidate.speech_act is SpeechAct.ASSERTED and candidate.polarity is Polarity.POSITIVE
    if not (name and told and named and candidate.predicate in NAME_PREDICATES):
        return
    if named.is_user or takes_back(candidate.evidence, value=name, former=named.name):
        directory.rename(named, name)


def _write(linked: _Linked, directory: EntityIndex) -> Candidate | Drop:
    """Rewrite a candidate with the current names, or drop it."""
    candidate = linked.candidate
    entities = {text: directory.get(entity.id) for text, entity in linked.entities.items()}
    if (unsettled := _unsettled(linked)) is not None:
        return _drop(candidate, unsettled, linked)
    rewritten = _with_entities(candidate, entities)
    content = rewrite(candidate.content, names=_shown_names(candidate, entities, directory))
    people = {USER} | {entity.name for entity in entities.values() if entity.type in ANIMATE}
    others = tuple(entity.name for entity in directory if entity.type in ANIMATE)
    if not candidate.extractor.startswith(PATTERNS):
        people |= set(others)  # models write self-contained sentences: a name before a pronoun is its antecedent
    if dangling := dangling_in(content, people=tuple(sorted(people)), others=others):
        return _drop(rewritten.evolve(content=content), dangling, linked)
    return rewritten.evolve(content=content)


def _unsettled(linked: _Linked) -> str | None:
    """Return the first unresolved mention that must be an entity; a plain object may stay a literal."""
    for mention, resolution in linked.resolutions:
        is_subject = mention is linked.candidate.subject
        is_reference = kind_of(mention.text) is not None or resolution.rule is ResolutionStep.TIE
        if resolution.entity is None and (is_subject or is_reference):
            return mention.text
    return None


def _drop(candidate: Candidate, text: str, linked: _Linked) -> Drop:
    ties = tuple(
        Tie(
            phrase=mention.text,
            choices=tuple(each.id for each in found.choices),
            names=tuple(map(_told, found.choices)),
        )
        for mention, found in linked.resolutions
        if found.choices
    )
    detail = {"dangling": text, "rules": linked.rules, "ties": ties}
    return Drop(stage=Stage.RESOLVE_REFS, reason=Reason.RESOLUTION_FAILED, candidate=candidate, detail=detail)


def _told(entity: KnownEntity) -> str:
    """Describe an entity for a judge: name, type and other names."""
    return f"{entity.name} ({', '.join((entity.type.value, *entity.aliases))})"


def _shown_names(candidate: Candidate, entities: dict[str, KnownEntity], directory: EntityIndex) -> dict[str, str]:
    """Return the names to write: of the user "User" too; in a statement of a name, "User" or a description."""
    user = directory.known_user()
    names = {USER: user.name} if user else {}
    names |= {text: entity.name for text, entity in entities.items()}
    if candidate.predicate not in NAME_PREDICATES:
        return names
    named = entities[candidate.subject.text]
    if named.is_user:
        return {**names, USER: USER, candidate.subject.text: USER}
    described = next(filter(is_description, named.aliases), candidate.subject.text)
    return {**names, candidate.subject.text: rewrite(described, names={USER: names.get(USER, USER)})}


def _with_entities(candidate: Candidate, entities: dict[str, KnownEntity]) -> Candidate:
    def settled(mention: Mention) -> Mention:
        entity = entities.get(mention.text)
        if entity is None:
            return mention
        return Mention(text=entity.name, type=entity.type, is_speaker=mention.is_speaker, entity_id=entity.id)

    return candidate.evolve(
        subject=settled(candidate.subject),
        object=_settled_object(candidate.object, settled),
        mentions=tuple(map(settled, candidate.mentions)),
    )


def _settled_object(value: ObjectValue, settled: Callable[[Mention], Mention]) -> ObjectValue:
    if value.entity is None:
        return value
    mention = settled(value.entity)
    return ObjectValue(entity=mention) if mention.entity_id else ObjectValue(literal=value.entity.text)
