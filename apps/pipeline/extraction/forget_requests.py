"""Requests to forget: "please forget my address", "lösch bitte meine Telefonnummer", in the user's own words.

A model says whether a sentence asks for it. What it names are its words without those of asking. A sentence without
such words points to the one before it, or to what was told last, or names everything.
"""

from collections.abc import Iterator, Sequence

import re2

from apps.pipeline.core.draft import Draft, ForgetRequest
from apps.pipeline.core.enums import Role
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.asked_sentences import AskedSentence, asked_sentences, content_words
from apps.pipeline.extraction.not_to_store import wishes_of
from apps.pipeline.extraction.wishes import LIKELY, SURE

_MOST_REQUESTS = 5  # of a turn
_ALL = re2.compile(r"(?i)\b(?:everything|anything|all|whatever|alles?|ganze\w*|tout|toute?s?|todo|todos|toda)\b")


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
    earlier, most = draft.request.earlier_turns, draft.policy.extraction.max_turn_characters
    sentences = list(asked_sentences(turn, earlier=earlier, most=most))
    said: set[str] = set()
    for place, sentence in enumerate(sentences):
        if sentence.wishes.forget >= LIKELY and sentence.is_own() and len(said) < _MOST_REQUESTS:
            request = _request(sentences[: place + 1], turn)
            said.add(request.quote)
            yield request
    for wish in wishes_of(sentences):
        if wish.quote not in said:  # it may be known
            yield ForgetRequest(
                turn_id=turn.id,
                said_at=turn.said_at,
                quote=wish.quote,
                words=content_words(wish.told),
                is_plain=not turn.speaker,
                points=not wish.told,
            )


def _request(sentences: Sequence[AskedSentence], turn: SourceTurn) -> ForgetRequest:
    """Return the request of the last of some sentences."""
    *before, sentence = sentences
    words, is_pointing = content_words(sentence.text), False
    names_all = not words and _ALL.search(sentence.text) is not None
    if not words and not names_all:  # "…, can you lose it?"
        words = content_words(" ".join(each.text for each in before if each.is_own()))
        is_pointing = bool(words)
    return ForgetRequest(
        turn_id=turn.id,
        said_at=turn.said_at,
        quote=sentence.text.strip(" .!?"),
        words=words,
        names_topic=bool(words) and _ALL.search(sentence.text) is not None,
        # Of several speakers, only a person can say whose address was meant.
        is_plain=sentence.wishes.forget >= SURE and not turn.speaker and not is_pointing,
        points=not words and not names_all,
        names_all=names_all,
    )
