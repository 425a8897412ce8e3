"""Requests to forget: "please forget my address", "lösch bitte meine Telefonnummer", in the user's own words.

A model says whether a sentence asks for it. What it names are its words without those of asking. A sentence without
such words points to the one before it, or to what was told last, or names everything. "Forget my diet. Let's have
pizza." and "forget about my mother" may mean "never mind": a person decides.
"""

from collections.abc import Sequence

import re2

from apps.pipeline.core.draft import Draft, ForgetRequest
from apps.pipeline.core.enums import Role
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.asked_sentences import AskedSentence, asked_sentences, content_words
from apps.pipeline.extraction.not_to_store import wishes_of
from apps.pipeline.extraction.wishes import LIKELY, SURE, words_of

_MOST_REQUESTS = 5  # of a turn
_ALL = re2.compile(r"(?i)\b(?:everything|anything|all|whatever|alles?|ganze\w*|tout|toute?s?|todo|todos|toda)\b")

# Of a polite request, of one to the assistant, of one that names its memory, and of "forget that I …".
_FIRM = re2.compile(
    r"(?i)\b(?:please|pl[sz]|kindly|bitte|stp|svp|s'il|por favor|porfa|can|could|would|want|kannst|k[oö]nntest|peux"
    r"|pourrais|puedes|podr[ií]as|memor\w*|notes?|records?|ged[aä]chtnis|notizen|m[eé]moire|notas|that|dass|que|qu)\b"
)
_IDLE = re2.compile(r"(?i)\bforget(?: all)? about\b")
_COURTESY = frozenset("thank thanks thx cheers you please pls ok danke bitte dir merci stp gracias".split())


def with_forget_requests(draft: Draft) -> Draft:
    """Note what the user asks to forget, or not to store although it may be known."""
    found: list[ForgetRequest] = []
    earlier, most = draft.request.earlier_turns, draft.policy.extraction.max_turn_characters
    for turn in (each for each in draft.turns if each.role is Role.USER):
        sentences = list(asked_sentences(turn, earlier=earlier, most=most))
        said: set[str] = set()
        for place, sentence in enumerate(sentences):
            if sentence.wishes.forget >= LIKELY and sentence.is_own() and len(said) < _MOST_REQUESTS:
                found.append(_request(sentences, place, turn))
                said.add(found[-1].quote)
        for wish in wishes_of(sentences):
            if wish.quote not in said:  # it may be known
                request = ForgetRequest(
                    turn_id=turn.id,
                    said_at=turn.said_at,
                    quote=wish.quote,
                    words=content_words(wish.told),
                    is_plain=not turn.speaker,
                    points=not wish.told,
                    needs_all_words=True,
                )
                found.append(request)
    return draft.evolve(forget_requests=tuple(found)) if found else draft


def is_read_from_request(candidate: Candidate, *, requests: "tuple[ForgetRequest, ...]") -> bool:
    """Return True if the quote of a candidate stands in a request to forget, or holds one."""
    quote = candidate.evidence.strip(" .!?")
    return any(
        each.turn_id in candidate.source_turn_ids and bool(quote) and (quote in each.quote or each.quote in quote)
        for each in requests
    )


def _request(sentences: Sequence[AskedSentence], place: int, turn: SourceTurn) -> ForgetRequest:
    """Return the request of the sentence at a place."""
    sentence, before = sentences[place], sentences[:place]
    words, is_pointing = content_words(sentence.text), False
    names_all = not words and _ALL.search(sentence.text) is not None
    if not words and not names_all:  # "…, can you lose it?"
        words = content_words(" ".join(each.text for each in before if each.is_own()))
        is_pointing = bool(words)
    # What follows is neither another request nor thanks.
    tells_more = any(
        each.wishes.forget < LIKELY and not _COURTESY.issuperset(words_of(each.text.strip(" .!?")))
        for each in sentences[place + 1 :]
    )
    is_idle = _IDLE.search(sentence.text) is not None or tells_more
    is_clear = _FIRM.search(sentence.text) is not None or not is_idle
    return ForgetRequest(
        turn_id=turn.id,
        said_at=turn.said_at,
        quote=sentence.text.strip(" .!?"),
        words=words,
        names_topic=bool(words) and _ALL.search(sentence.text) is not None,
        # Of several speakers, only a person can say whose address was meant.
        is_plain=is_clear and sentence.wishes.forget >= SURE and not turn.speaker and not is_pointing,
        points=not words and not names_all,
        names_all=names_all,
    )
