"""Which memories a request to forget names: clearly, to be retracted, or perhaps, for a person to decide."""

from collections.abc import Collection, Sequence
from uuid import UUID

import numpy as np

from apps.pipeline.core.draft import Draft, Drop, ForgetRequest, Ruling
from apps.pipeline.core.enums import Reason, Stage, Status
from apps.pipeline.core.memory_conversion import as_memory
from apps.pipeline.core.ports import Ports, RelevanceQuery
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.extraction.asked_sentences import content_words
from apps.pipeline.lexicon.personal_data import PREDICATES
from apps.pipeline.lexicon.word_stems import SYNONYMS, root
from apps.pipeline.resolution.mentions import mentions_of

_MOST_READ = 100  # memories that are compared with a request
_MOST_IN_DOUBT = 3  # more would be guessing
_MOST_ENTITIES = 200
_SAME_BEGINNING = 5  # letters
_LEAST_COSINE = 0.15  # of what a request may mean; chosen on eighty wordings of requests in four languages
_MOST_BY_A_MODEL = 5  # memories in one answer: more is a wish to forget everything, for a person to decide


def with_forgotten(draft: Draft, ports: Ports) -> Draft:
    """Return a draft with the memories that its requests to forget name, each once.

    What it would store itself, and was told before it was asked to forget it, is dropped or waits for review.
    """
    origin = draft.request.origin
    entities = draft.all_entities or ports.memories.entities(end_user_id=origin.end_user_id, limit=_MOST_ENTITIES)
    user = next((each.id for each in entities if each.is_user), None)
    # What a model was told to forget: of the memories that it was shown, and only a few.
    asked = tuple(each for each in draft.asked_to_forget if each in draft.shown_memories)
    sure: dict[UUID, StoredMemory] = {}
    if 0 < len(asked) <= _MOST_BY_A_MODEL:
        held = ports.memories.holders(end_user_id=origin.end_user_id, slots=(), ids=asked, private_to=draft.private_to)
        sure = {each.id: each for each in held}
    unsure: dict[UUID, StoredMemory] = {}
    taken_back: set[int] = set()
    places = {turn.id: place for place, turn in enumerate(draft.request.turns)}
    for request in draft.forget_requests:
        if request.names_all:
            continue
        asked_in = places[request.turn_id]
        text = draft.request.turns[asked_in].content
        told = []  # before the request: in an earlier turn, or earlier in its turn
        for each in draft.rulings:
            told_in = max(places[turn_id] for turn_id in each.candidate.source_turn_ids)
            if (told_in, text.find(each.candidate.evidence)) < (asked_in, text.find(request.quote)):
                told.append(each)
        named, perhaps = _meant_by(request, told, draft, ports, user=user)
        sure |= {memory.id: memory for memory in named}
        unsure |= {memory.id: memory for memory in perhaps}
        taken_back |= {each.candidate.index for each in told if each.memory_id in {memory.id for memory in named}}
    stored_now = {each.memory_id for each in draft.rulings if each.merge_into is None}
    forgotten = tuple(memory for key, memory in sure.items() if key not in stored_now)
    maybe = tuple(memory for key, memory in unsure.items() if key not in stored_now and key not in sure)
    counts = {"forget_requests": len(draft.forget_requests), "forgotten": len(forgotten), "taken_back": len(taken_back)}
    did = bool(sure or unsure or taken_back)
    return _settled(draft, taken_back, doubted=unsure, did=did).evolve(
        forgotten=forgotten,
        maybe_forgotten=maybe,
        details={**draft.details, **counts, Reason.ASKED_TO_FORGET.value: len(maybe)},
    )


def _meant_by(
    request: ForgetRequest, told: Sequence[Ruling], draft: Draft, ports: Ports, *, user: UUID | None
) -> tuple[Sequence[StoredMemory], Sequence[StoredMemory]]:
    """Return what a request surely means and what it may mean, of known memories and of what was told before it."""
    # Session-level extraction comes to requests that were decided when they were made.
    near = () if draft.request.is_session_level else _near(draft, request, ports)
    known = [each for each in near if each.said_at <= request.said_at]
    new = [as_memory(draft=draft, ruling=each) for each in told if each.merge_into is None]
    if request.points:
        last = told[-1].candidate.source_turn_ids[-1] if told else None  # candidates are in the order of turns
        just_told = {each.memory_id for each in told if each.candidate.source_turn_ids[-1] == last}
        told_now = [each for each in (*new, *known) if each.id in just_told]
        # Otherwise what the user told last in earlier requests of the session.
        of_session = [each for each in known if str(draft.request.origin.session_id) in dict(each.origins)]
        latest = max((each.said_at for each in of_session), default=None)
        meant = told_now or [each for each in of_session if each.said_at == latest]
        # "Don't store this" may also be about what comes.
        is_sure = request.is_plain and (bool(told_now) or not request.needs_all_words)
        named, perhaps = (meant, []) if is_sure else ([], meant[:_MOST_IN_DOUBT])
    else:
        named, perhaps = named_by(request, [*known, *new], user=user)
    if named or perhaps or request.needs_all_words:
        return named, perhaps
    # By other words the request may mean the active memory that is nearest in meaning: "my pseudonym" is a pen name.
    active = [each for each in known if each.status is Status.ACTIVE]
    words = " ".join(sorted(request.words)) or request.quote
    asked, *vectors = map(np.asarray, ports.embedder.embed([words, *(each.content for each in active)]))
    cosines = {each.id: float(asked @ vector) for each, vector in zip(active, vectors, strict=True)}
    nearest = max(active, key=lambda each: cosines[each.id], default=None)
    return [], [nearest] if nearest is not None and cosines[nearest.id] >= _LEAST_COSINE else []


def _settled(draft: Draft, taken_back: Collection[int], *, doubted: Collection[UUID], did: bool) -> Draft:
    """Drop candidates, and the new entities that no other candidate mentions; new memories in doubt wait for review.

    A request to forget everything has an outcome, and the others have one if nothing known is named.
    """
    rulings = list(draft.rulings)
    for place, each in enumerate(rulings):
        if each.merge_into is None and each.memory_id in doubted:
            rulings[place] = each.evolve(review_reasons=(*each.review_reasons, Reason.ASKED_TO_FORGET))
    told = {each.turn_id for each in draft.drops if each.reason == Reason.ASKED_NOT_TO_STORE}
    outcomes: list[Drop] = []
    for request in () if draft.request.is_session_level else draft.forget_requests:
        if request.names_all:
            outcomes.append(Drop(Stage.CONFLICT, Reason.FORGET_ALL_REQUESTED, turn_id=request.turn_id))
        elif not did and request.turn_id not in told:
            why = {"why": "nothing that is known was named"}
            outcomes.append(Drop(Stage.CONFLICT, Reason.ASKED_TO_FORGET, turn_id=request.turn_id, detail=why))
    gone = [each for each in draft.candidates if each.index in taken_back]
    drops = [
        Drop(Stage.CONFLICT, Reason.ASKED_TO_FORGET, turn_id=each.source_turn_ids[-1], candidate=each) for each in gone
    ]
    left = draft.evolve(rulings=tuple(rulings)).drop(*drops)
    named = {each.entity_id for candidate in gone for each in mentions_of(candidate)}
    named -= {each.entity_id for candidate in left.candidates for each in mentions_of(candidate)}
    unused = {each.id for each in draft.new_entities if each.id in named and not each.is_user}
    return left.evolve(
        drops=(*left.drops, *outcomes),
        new_entities=tuple(each for each in draft.new_entities if each.id not in unused),
        new_aliases=tuple(each for each in draft.new_aliases if each[0] not in unused),
        moved_aliases=tuple(each for each in draft.moved_aliases if each[0] not in unused),
        renamed=tuple(each for each in draft.renamed if each[0] not in unused),
    )


def named_by(
    request: ForgetRequest, known: Sequence[StoredMemory], *, user: UUID | None
) -> tuple[list[StoredMemory], list[StoredMemory]]:
    """Return the memories that a request clearly names, and the active ones that it may name.

    Named are those that hold all of its words, the user's before those of others: of one subject and predicate, unless
    it asks for all that is known of a topic. Those with the most of its words, in any form, may be meant; a wish not to
    store tells something new, of which a name may be known.
    """
    named = [each for each in known if request.words and request.words <= _held(request.words, each, user)]
    named = [each for each in named if each.subject_id == user] or named
    slots = {(each.subject_id, each.predicate) for each in named}
    if named and request.is_plain and (request.names_topic or len(slots) == 1):
        return named, []
    if request.needs_all_words:
        return [], named[:_MOST_IN_DOUBT]
    alike = {each.id: len(_held(request.words, each, user, in_any_form=True)) for each in known}
    most = max(alike.values(), default=0)
    close = [each for each in known if most and alike[each.id] == most and each.status is Status.ACTIVE]
    return [], close[:_MOST_IN_DOUBT] if named or len(close) <= _MOST_IN_DOUBT else []


def _held(
    words: frozenset[str], memory: StoredMemory, user: UUID | None, *, in_any_form: bool = False
) -> frozenset[str]:
    """Return the words that a memory holds, or as what kind of datum; with `in_any_form` also by another form of it."""
    held = content_words(f"{memory.content} {memory.predicate.replace('_', ' ')}")
    is_users = memory.subject_id is not None and memory.subject_id == user
    found = (words & held) | {word for word in words if is_users and memory.predicate in PREDICATES.get(word, ())}
    if in_any_form:
        forms = held.union(*map(_forms, held))
        found |= {word for word in words if not forms.isdisjoint(_forms(word))}
    return found


def _forms(word: str) -> tuple[str, ...]:
    """Return what a word shares with its forms and synonyms: "migraine" and "Migräne" begin with the same letters."""
    meaning = SYNONYMS.get(root(word))
    return (*((word[:_SAME_BEGINNING],) if len(word) >= _SAME_BEGINNING else ()), *((meaning,) if meaning else ()))


def _near(draft: Draft, request: ForgetRequest, ports: Ports) -> tuple[StoredMemory, ...]:
    """Return all live memories where they are few, else those that the request's words and meaning are near to."""
    origin = draft.request.origin
    _, few = ports.memories.all_if_few(
        end_user_id=origin.end_user_id, entities=0, memories=_MOST_READ, private_to=draft.private_to
    )
    if few is not None:
        return few
    query = RelevanceQuery(
        end_user_id=origin.end_user_id,
        session_id=origin.session_id,
        embedder=ports.embedder.name,
        vectors=tuple(ports.embedder.embed([request.quote])),
        text=request.quote,
        words=(tuple(sorted(request.words)),),
        private_to=draft.private_to,
    )
    return ports.memories.relevant(query=query, memories=_MOST_READ)
