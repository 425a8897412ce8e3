"""Which memories a request to forget names: clearly, to be retracted, or perhaps, for a person to decide."""

from collections.abc import Sequence
from uuid import UUID

import re2

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import Draft, ForgetRequest
from apps.pipeline.core.enums import Reason
from apps.pipeline.core.ports import Ports, RelevanceQuery
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.lexicon.verbs import stem

_MOST_READ = 100  # memories that are compared with a request
_MOST_IN_DOUBT = 3  # more would be guessing
_MOST_ENTITIES = 200
_WORD = re2.compile(r"[\p{L}\p{N}]{2,}")
# Nouns for statements that don't contain them: "my address" is "lives in …".
_PREDICATES = {
    "address": frozenset({"lives_in", "address", "home"}),
    "job": frozenset({"works_as", "works_at"}),
    "employer": frozenset({"works_at"}),
    "diagnosis": frozenset({"has_condition"}),
    "allergy": frozenset({"allergic_to"}),
    "medication": frozenset({"takes_medication"}),
    "medicine": frozenset({"takes_medication"}),
}
_PREDICATES_BY_STEM = {stem(noun): predicates for noun, predicates in _PREDICATES.items()}


def with_forgotten(draft: Draft, ports: Ports) -> Draft:
    """Return a draft with the memories that its requests to forget name, each once."""
    sure: dict[UUID, StoredMemory] = {}
    unsure: dict[UUID, StoredMemory] = {}
    user = _user(draft, ports)
    for request in draft.forget_requests:
        known = [each for each in _near(draft, request, ports) if each.said_at <= request.said_at]
        named, perhaps = named_by(request, known, user=user)
        sure |= {each.id: each for each in named}
        unsure |= {each.id: each for each in perhaps}
    maybe = tuple(memory for key, memory in unsure.items() if key not in sure)
    noted = {"asked_to_forget": len(draft.forget_requests), "forgotten": len(sure), Reason.ASKED_TO_FORGET: len(maybe)}
    return draft.evolve(forgotten=tuple(sure.values()), maybe_forgotten=maybe, details={**draft.details, **noted})


def named_by(
    request: ForgetRequest, known: Sequence[StoredMemory], *, user: UUID | None
) -> tuple[list[StoredMemory], list[StoredMemory]]:
    """Return the memories that a request clearly names, and those that it may name.

    Named are those that say the same as its statement, or that hold all of its words: of one subject and predicate,
    unless it asks for all that is known of a topic.
    """
    named = [each for each in known if _is_stated(request, each) or _holds_words(request, each, user)]
    slots = {(each.subject_id, each.predicate) for each in named}
    is_clear = bool(request.claims) or request.names_topic or len(slots) == 1
    if named and is_clear and request.is_plain:
        return named, []
    if named:
        return [], named[:_MOST_IN_DOUBT]
    close = [each for each in known if 2 * len(request.words & _stems(each)) >= max(2, len(request.words))]
    return [], close if len(close) <= _MOST_IN_DOUBT else []


def _is_stated(request: ForgetRequest, memory: StoredMemory) -> bool:
    told = [(each.predicate, each.polarity, canonical_text(each.object_text)) for each in request.claims]
    if (memory.predicate, memory.polarity, canonical_text(memory.object_text)) in told:
        return True
    return any(canonical_text(each.content) == canonical_text(memory.content) for each in request.claims)


def _holds_words(request: ForgetRequest, memory: StoredMemory, user: UUID | None) -> bool:
    is_users = memory.subject_id is not None and memory.subject_id == user
    if not request.words or (request.is_own and not is_users):
        return False
    left = request.words - _stems(memory)
    if not left:
        return True
    return is_users and all(memory.predicate in _PREDICATES_BY_STEM.get(word, ()) for word in left)


def _stems(memory: StoredMemory) -> frozenset[str]:
    text = f"{memory.content} {memory.predicate.replace('_', ' ')}".lower()
    return frozenset(stem(word) for word in _WORD.findall(text))


def _user(draft: Draft, ports: Ports) -> UUID | None:
    end_user = draft.request.origin.end_user_id
    known = draft.entities or ports.memories.entities(end_user_id=end_user, limit=_MOST_ENTITIES)
    return next((each.id for each in known if each.is_user), None)


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
