"""Requests to forget: "please forget my address", "forget that I live in Lyon", in the user's own words.

A request names what is to be forgotten by a statement or by a noun. It is plain if it can mean nothing else: "forget my
diet, let's have pizza", "forget about my mother" (never mind her) and "don't remember my keys" (I don't) may be no
requests at all. What points ("forget it") names nothing and is no request.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import re2

from apps.pipeline.core.draft import Draft, ForgetRequest
from apps.pipeline.core.enums import Role
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.plain.extractor import extract
from apps.pipeline.lexicon.function_words import SMALL
from apps.pipeline.lexicon.verbs import stem
from apps.pipeline.provenance.own_words import words_of
from apps.pipeline.provenance.spans import Standing

_MAY_ASK = re2.compile(r"(?i)\b(?:forget|remember|know|memory|memories|notes|records?)\b")
_SENTENCE = re2.compile(r"[^.!?\n]+(?:\.\w[^.!?\n]*)*[.!?]*")
_LEAD = (
    r"(?P<lead>(?:(?:please|pls|ok|okay|hey|hi|also|and|oh|well|actually|by the way|btw|now|so|sorry),? )*"
    r"(?P<asking>(?:can|could|would|will) (?:you|u) (?:please |also )?|i(?:['’]d| would) like you to "
    r"|i (?:want|need) you to )?(?:you (?:can|should|may|must) )?(?:please |also |now |just )*)"
)
_VERB = r"(?:forget|stop remembering|(?P<negated>do not remember|don['’]t remember))"
_REMOVAL = (
    r"(?:delete|remove|erase|clear|wipe) (?P<removed>.{2,200}?) from (?:your|the) (?:memory|memories|notes|records?)"
)
_REQUEST = re2.compile(rf"(?i)^\W*{_LEAD}(?:{_VERB}(?: about)?:? (?P<what>.{{2,400}})|{_REMOVAL})[ .!?]*$")
_STATES = re2.compile(
    r"(?i)^(?:the fact )?that (?P<claim>.+)$|^(?:what i (?:said|told you) about"
    r"|everything (?:i (?:said|told you)|you know) about|anything about|all about"
    r"|about) (?P<topic>.+)$"
)
_POINTS = re2.compile(
    r"(?i)^(?:about )?(?:it|this|that|them|those|these|him|her|everything|all|anything|the (?:above"
    r"|last|previous)\b.*)(?:$|[ ,](?:all|one|please|then|now)\b.*$)"
    r"|^(?:what|everything|anything|all)(?: that)? (?:i|you|we)(?:['’]ve| have)?(?: just)?(?: said"
    r"| told| asked| wrote| know)?(?: you| me)?(?: just now| earlier| before)?$"
)
_NAMES = re2.compile(
    r"^(?:(?i:my|our|that my|that our|the fact|that|where (?:i|we)|how old i|what i|about"
    r"|everything about)\b|.*\b(?i:my|our)\b|\p{Lu}\p{Ll}+['’]s\b)"
)
_FOR_NOW = re2.compile(
    r"(?i)\b(?:for (?:a (?:moment|minute|second|while|bit)|now|today|tonight|once|this)|today"
    r"|tonight|this (?:once|time)|to \w+)\b"
)
_MORE = re2.compile(r"(?i)[,;:–—]|\b(?:because|since|and|but|so|as|let['’]?s)\b")
_PLEASE = re2.compile(r"(?i)\b(?:please|pls)\b")
_NEVER_MIND = re2.compile(r"(?i)\bforget (?:all )?about\b")
_POLITE = re2.compile(r"(?i)[, ]+(?:please|thanks|thank you|ok(?:ay)?|again|at all|for good|forever)[ .!?]*$")
_FIRST_PERSON = re2.compile(r"(?i)\b(?:i|i['’]m|im|i['’]ve|we)\b")
_WORD = re2.compile(r"[\p{L}\p{N}]{2,}")
_MEANS_NOTHING = SMALL | frozenset("my our me mine about fact everything anything told said know where".split())
_MOST_REQUESTS = 5  # of a turn


def with_forget_requests(draft: Draft) -> Draft:
    """Note what the user asks to forget, and leave out candidates that are read from such a request."""
    turns = [turn for turn in draft.turns if turn.role is Role.USER and _MAY_ASK.search(turn.content)]
    found = tuple(each for turn in turns for each in _requests(turn, draft))
    return draft.evolve(forget_requests=found) if found else draft


def is_read_from_request(candidate: Candidate, *, requests: Sequence[ForgetRequest]) -> bool:
    """Return True if the quote of a candidate stands in a request to forget, or holds one."""
    quote = candidate.evidence.strip(" .!?")
    return any(
        each.turn_id in candidate.source_turn_ids and bool(quote) and (quote in each.quote or each.quote in quote)
        for each in requests
    )


def _requests(turn: SourceTurn, draft: Draft) -> Iterator[ForgetRequest]:
    before = [each for each in draft.request.earlier_turns if (each.role, each.speaker) == (turn.role, turn.speaker)]
    words = words_of(turn, earlier=before)
    policy = draft.policy.extraction
    sentences = [each.strip() for each in _SENTENCE.findall(turn.content[: policy.max_turn_characters])]
    last = max((place for place, each in enumerate(sentences) if _says_something_else(each)), default=-1)
    number = 0
    for place, sentence in enumerate(sentences):
        request = _request(sentence, turn, policy, goes_on=place < last)
        if request is None or words.standing_of(request.quote) is not Standing.OWN:
            continue
        yield request
        number += 1
        if number == _MOST_REQUESTS:
            return


def _says_something_else(sentence: str) -> bool:
    """Return True unless a sentence asks to forget, or is a courtesy."""
    return bool(_WORD.search(sentence)) and not _REQUEST.match(sentence) and not _POLITE.match(f" {sentence}")


def _request(sentence: str, turn: SourceTurn, policy: ExtractionPolicy, *, goes_on: bool) -> ForgetRequest | None:
    found = _REQUEST.match(sentence)
    if found is None or (found.group("negated") and not found.group("asking") and sentence.endswith("?")):
        return None
    told = (found.group("what") or found.group("removed") or "").strip(" .!?")
    what = _POLITE.sub("", told)
    if _POINTS.match(what) or not _NAMES.match(what) or _FOR_NOW.search(what):
        return None
    stated = _STATES.match(what)
    claim = (stated.group("claim") if stated else None) or ""
    topic = (stated.group("topic") if stated else None) or ""
    claims = extract(turn=replace(turn, content=f"{claim[:1].upper()}{claim[1:]}."), policy=policy) if claim else ()
    more = _MORE.search(what) if not claim else None
    named = frozenset(_stems(claim or topic or (what[: more.start()] if more else what)))
    if not named and not claims:
        return None
    is_firm = _is_firm(found, tail=told[len(what) :], states=bool(claim), goes_on=goes_on)
    return ForgetRequest(
        turn_id=turn.id,
        said_at=turn.said_at,
        quote=sentence.strip(" .!?"),
        words=named,
        claims=claims,
        names_topic=bool(topic),
        is_own=_FIRST_PERSON.search(claim or topic or what) is not None,
        # Of several speakers, only a person can say whose address was meant.
        is_plain=not turn.speaker and more is None and is_firm,
    )


def _is_firm(found: "re2._Match[str]", *, tail: str, states: bool, goes_on: bool) -> bool:
    """Return True if a sentence can mean nothing but a request, by how it asks or by what it states.

    A bare "forget my diet" before something else, or "forget about my mother", may mean: never mind.
    """
    if _PLEASE.search(f"{found.group('lead')} {tail}"):
        return True
    if found.group("negated"):
        return False
    if found.group("asking") or found.group("removed") or states:
        return True
    sentence = found.group()
    return not (goes_on or sentence.endswith("?") or _NEVER_MIND.search(sentence))


def _stems(text: str) -> Iterator[str]:
    return (stem(word) for word in _WORD.findall(text.lower()) if word not in _MEANS_NOTHING)
