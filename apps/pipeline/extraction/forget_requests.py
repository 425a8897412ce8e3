"""Requests to forget: "please forget my address", "lösch bitte meine Telefonnummer", in the user's own words.

A few patterns read how a sentence asks and what it names: a statement, a topic, a datum about the user, what was told
last, or everything. It is plain if it can mean nothing else: "forget my diet, let's have pizza" and "forget about my
mother" (never mind her) may be no requests at all. What is asked not to be stored is forgotten where it is known.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import re2

from apps.pipeline.core.draft import Draft, ForgetRequest
from apps.pipeline.core.enums import Role
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction import forget_phrases as phrases
from apps.pipeline.extraction.asked_sentences import asked_sentences, content_words
from apps.pipeline.extraction.not_to_store import Wish, wishes_of
from apps.pipeline.extraction.plain import extractor as plain
from apps.pipeline.lexicon.personal_data import DATA

_MOST_REQUESTS = 5  # of a turn


def with_forget_requests(draft: Draft) -> Draft:
    """Note what the user asks to forget, or not to store although it may be known."""
    turns = [turn for turn in draft.turns if turn.role is Role.USER]
    found = tuple(each for turn in turns for each in _requests(turn, draft))
    return draft.evolve(forget_requests=found) if found else draft


def is_read_from_request(candidate: Candidate, *, requests: "tuple[ForgetRequest, ...]") -> bool:
    """Return True if the quote of a candidate stands in a request to forget, or holds one."""
    quote = candidate.evidence.strip(" .!?")
    return any(
        each.turn_id in candidate.source_turn_ids and bool(quote) and (quote in each.quote or each.quote in quote)
        for each in requests
    )


def _requests(turn: SourceTurn, draft: Draft) -> Iterator[ForgetRequest]:
    policy, earlier = draft.policy.extraction, draft.request.earlier_turns
    asked = list(_asked(turn, draft)) if phrases.MAY_ASK.search(turn.content) else []
    said = {each.quote for each in asked}
    wishes = wishes_of(turn, earlier=earlier, most=policy.max_turn_characters)
    yield from (*asked, *(_unwanted(each, turn, policy) for each in wishes if each.quote not in said))


def _asked(turn: SourceTurn, draft: Draft) -> Iterator[ForgetRequest]:
    policy, earlier = draft.policy.extraction, draft.request.earlier_turns
    sentences = list(asked_sentences(turn, earlier=earlier, most=policy.max_turn_characters))
    last = max((place for place, each in enumerate(sentences) if _says_something_else(each.text)), default=-1)
    found = (
        _request(sentence.text, turn, policy, goes_on=place < last, is_alone=last < 0)
        for place, sentence in enumerate(sentences)
        if sentence.is_own()
    )
    for number, request in enumerate(each for each in found if each is not None):
        if number == _MOST_REQUESTS:
            return
        yield request


def _says_something_else(sentence: str) -> bool:
    """Return True unless a sentence asks to forget, or is a courtesy."""
    return _match(sentence) is None and not phrases.POLITE.match(f" {sentence.rstrip(' .!?')}")


def _match(sentence: str) -> "re2._Match[str] | None":
    if not phrases.MAY_ASK.search(sentence):
        return None
    return next((found for each in phrases.REQUESTS if (found := each.match(sentence))), None)


def _request(
    sentence: str, turn: SourceTurn, policy: ExtractionPolicy, *, goes_on: bool, is_alone: bool
) -> ForgetRequest | None:
    """Return the request of a sentence; `goes_on`: more is said after it, `is_alone`: nothing else is said at all."""
    found = _match(sentence)
    if found is None or _is_remark(found):
        return None
    asks = found.groupdict()
    told = (asks.get("claim") or asks.get("what") or "").strip(" .!?")
    asked = _without_courtesy(told)
    what = phrases.FROM_MEMORY.sub("", asked)
    request = ForgetRequest(turn_id=turn.id, said_at=turn.said_at, quote=sentence.strip(" .!?"), words=frozenset())
    if phrases.ALL.match(what):
        return replace(request, names_all=True)
    if phrases.LAST.match(what):
        is_plain = bool(phrases.LAST_TOLD.search(what) or (asks.get("forget") and is_alone))
        return replace(request, points=True) if is_plain else None
    named = _named_by(what)
    if named is None:
        return None
    is_of_memory = bool(named.claim or named.topic or what != asked)
    # "Can you delete my phone photos?" asks for work on something else than a memory.
    if not (is_of_memory or phrases.FORGETS.search(request.quote) or named.words <= DATA):
        return None
    claims = _claims(named.claim, turn, policy) if named.claim else ()
    if not (named.words or claims):
        return None
    courtesy = f"{asks['lead']} {told[len(what) :]} {asks.get('polite') or ''} {asks.get('asking') or ''}"
    is_firm = is_of_memory or bool(asks.get("asking") or phrases.PLEASE.search(courtesy))
    is_idle = goes_on or sentence.endswith("?") or bool(asks.get("idly"))
    return replace(
        request,
        words=named.words,
        claims=claims,
        names_topic=bool(named.topic),
        is_own=phrases.OWN_CLAIM.search(named.claim or named.topic or what) is not None,
        # Of several speakers, only a person can say whose address was meant.
        is_plain=not turn.speaker and not named.has_more and (is_firm or not is_idle),
    )


def _is_remark(found: "re2._Match[str]") -> bool:
    """Return True for "don't remember my keys": without a "please" it says that the user doesn't."""
    asks, sentence = found.groupdict(), found.group()
    return bool(asks.get("negated")) and (not phrases.PLEASE.search(sentence) or sentence.endswith("?"))


@dataclass(frozen=True, slots=True)
class _Named:
    """What a request names: a statement, a topic, or a datum."""

    claim: str
    topic: str
    words: frozenset[str]
    has_more: bool  # another clause follows, which may change what is meant


def _named_by(what: str) -> _Named | None:
    """Return what a text names, or None where it names nothing that a memory could hold."""
    stated, topical = phrases.STATED.match(what), phrases.TOPIC.match(what)
    claim = stated["claim"] if stated else ""
    topic = next(filter(None, topical.groups()), "") if topical else ""
    if not (claim or topic or phrases.NAMED.match(what)) or (not claim and phrases.FOR_NOW.search(what)):
        return None
    more = None if claim else phrases.MORE.search(topic or what)
    words = content_words(claim or (topic or what)[: more.start() if more else None])
    return _Named(claim, topic, words, has_more=more is not None)


def _without_courtesy(text: str) -> str:
    """Return what is to be forgotten without thanks, and without a wish that only says it again."""
    what: str = phrases.POLITE.sub("", text)
    more = what.find(",")
    if more > 0 and phrases.SAYS_AGAIN.search(what[more:]):
        what = phrases.POLITE.sub("", what[:more])
    return what


def _claims(claim: str, turn: SourceTurn, policy: ExtractionPolicy) -> tuple[Candidate, ...]:
    """Read a statement by itself; a message that is only kept as a quote states nothing."""
    said = replace(turn, content=f"{claim[:1].upper()}{claim[1:]}.")
    return tuple(each for each in plain.extract(turn=said, policy=policy) if each.predicate != "said")


def _unwanted(wish: Wish, turn: SourceTurn, policy: ExtractionPolicy) -> ForgetRequest:
    """Return the request to forget what the user does not want stored, in case it is known."""
    claim = wish.told.strip(" .,:;!?()")
    return ForgetRequest(
        turn_id=turn.id,
        said_at=turn.said_at,
        quote=wish.quote,
        words=content_words(claim),
        claims=_claims(claim, turn, policy) if claim else (),
        is_own=phrases.OWN_CLAIM.search(claim) is not None,
        is_plain=not turn.speaker and bool(claim or phrases.OF_MEMORY.search(wish.quote)),
        points=not claim,
    )
