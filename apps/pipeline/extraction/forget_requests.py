"""Requests to forget: "please forget my address", "lösch bitte meine Telefonnummer", in the user's own words.

A sentence asks the assistant with a verb of forgetting or deleting, or with a negated verb of knowing. It names a
statement, a topic, a datum about the user, what was told last, or everything. It is plain if it can mean nothing else:
"forget my diet, let's have pizza" and "forget about my mother" (never mind her) may be no requests at all.
"""

from collections.abc import Iterator
from dataclasses import replace

import re2

from apps.pipeline.core.draft import Draft, ForgetRequest
from apps.pipeline.core.enums import Role
from apps.pipeline.core.plain_letters import without_accents
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.asked_sentences import WORDS, asked_sentences, content_words
from apps.pipeline.extraction.not_to_store import wishes_of
from apps.pipeline.lexicon.personal_data import DATA, with_common_names
from apps.pipeline.redaction.finding import any_of, first_match

_MOST_REQUESTS = 5  # of a turn
_LEAD, _ALSO = rf"(?i)(?:(?:{WORDS['lead']})[, ]+)*", rf"(?: (?:{WORDS['also']}))*"
_YOU = rf"(?P<asking>{WORDS['you']})"
# "I don't want you to know …", "je veux plus que tu te souviennes de …"
_YOU_NOT = rf"(?P<asking>(?P<forget>{WORDS['you_not']}))"
_FORGET, _DELETE = rf"(?P<forget>{WORDS['forget']})", rf"(?:{WORDS['delete']})"
_NO_MORE = r"(?: (?:any ?more|any longer|mehr|langer|noch|zu|plus))*"
_DELETED = r"(?:deleted|forgotten|erased|removed)(?: from (?:your|the) (?:memory|notes|records?))?"
_DE_DELETE = r"(?:(?P<forget>vergessen|vergisst)|(?:losch|entfern|streich|(?:he)?rausnehm|(?:he)?rauswerf)(?:en|st))"
_WHAT, _END = r"(?P<what>.{2,}?)", r"[ .!?]*$"
_OUT_WITH_IT = (
    r"(?:(?:please|so|can|could|you|u|just) )*"
    rf"(?:(?:{_DELETE}|(?P<forget>forget)) (?:it|that|this|das|ca|eso)|out with it|weg damit|fuera"
    r"|(?P<free>(?:a|zum|zu) (?:oublier|effacer|vergessen)))"
)
# What follows `forget` can only be held by a memory; other things than memories are deleted. `free`: any thing is meant
# as a memory; `topical`: the words say nothing without "what I said about …".
_REQUESTS = tuple(
    without_accents(f"(?i:{each})")
    for each in (
        rf"(?:{_YOU}{_ALSO} )?{_FORGET}(?P<idly>(?: all)? about)?{_ALSO}[,:]? {_WHAT}",
        rf"(?:{_YOU}{_ALSO} )?{_DELETE}{_ALSO},? {_WHAT}",
        rf"{_YOU_NOT} (?:{WORDS['know']}) {_WHAT}",
        rf"(?P<topical>(?:do not|don'?t|no longer|never|ne|n') ?(?:{WORDS['keep']})(?: (?:plus|pas))?)"
        rf" {_WHAT}{_NO_MORE}",
        rf"{_WHAT}(?:[,:;]+| [–—-]) {_OUT_WITH_IT}(?:[, ]+(?:please|pls|merci|bitte|thanks|all gone))*",
        rf"(?P<asking>i (?:want|need|would like)|i'?d like) {_WHAT} (?:to be )?{_DELETED}(?:,? (?:please|pls|now))?",
        # The German verb stands last.
        rf"{_YOU}{_ALSO} {_WHAT} {_DE_DELETE}",
        rf"{_WHAT} (?:(?P<topical>(?:kannst|konntest|darfst) du{_ALSO}) )?{_DE_DELETE}(?: bitte)?(?:,.*)?",
    )
)
_WHOLE = tuple(rf"^\W*{_LEAD}{each}{_END}" for each in _REQUESTS)
_ALL = r"(?:everything|anything|all|alles?|tout|toutes|todo|todos)"
_IS_ALL = re2.compile(rf"(?i)^{_ALL}\b.*\b(?:me|my|mich|mir|meine|moi|mes|mi|mis|memor\w*|data|daten)\b|^your memory\b")
_IS_LAST = re2.compile(
    r"(?i)^(?:(?:about )?(?:that|this)(?: again)?|das(?: wieder)?|dies|ca|cela|eso|esto)$|(?P<last>\b(?:just|last"
    r"|previous|letzt\w*|dernier|gerade|eben|viens|acabo|ultimo)\b)"
)
_STATED = re2.compile(
    r"(?i)^(?:the fact )?(?:(?:that (?:(?:i|im|ive|we|he|she|they|my|our|his|her|their|the)\b|i'"
    r"|\pL+ (?:is|are|was|has)\b|(?-i:\p{Lu}))|dass |que |qu').*)$"
)
# "What I said about X", "the note about X", "das mit X", "lo que sabes de X"; "the X thing".
_TOPIC = re2.compile(
    rf"(?i)^(?:(?:{WORDS['topic']})(?: .*?)?|das|rien|lo)"
    r" (?:(?:about|on|over|regarding|with|uber|zu|mit|von|sur|avec|de|sobre|con) |d')(?P<topic>.+)$"
    r"|^(?:the|that|my) (?:whole )?(?P<thing>.+) (?:thing|stuff|part|bit|business|story)$"
)
_NAMED = re2.compile(rf"(?i)^(?:(?:{WORDS['named']})\b|\p{{L}}+'s\b).+$")
_NAME = re2.compile(r"^\p{Lu}\p{Ll}+$")
_FROM_MEMORY = re2.compile(
    r"(?i) (?:from|in|out of|aus|von|de)(?: (?:your|the|(?:dein|ihr)e?[mnr]?|tas?|tes|tu|votre|vos|sus?))?"
    r" (?:memor(?:y|ies)|notes?|records?|gedachtnis|notizen|memoire|memoria|notas)\b"
)
_FOR_NOW = re2.compile(r"(?i)\b(?:for (?:a \w+|now|today|tonight|once|this)|today|tonight|nicht|pas|heute)\b")
_MORE = re2.compile(r"(?i)[,;:–—]|\b(?:because|since|and|but|so|as|let'?s|und|weil|et|pero|porque)\b")
_COURTESY = re2.compile(rf"(?i)(?:[, ]+(?:{WORDS['courtesy']}))+$")
_PLEASE = re2.compile(r"(?i)\b(?:please|pl[sz]|bitte|stp|svp|s'il|por favor|any ?more)\b")
_OF = frozenset("of on from in du de des del vom von aus".split())
_OWN = re2.compile(r"(?i)\b(?:i|i'm|im|i've|we|ich|wir|je|j'\w+)\b")
_OF_REQUESTS = content_words(WORDS["of_requests"])


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
    may_ask = any_of(*_REQUESTS).search(without_accents(turn.content[: policy.max_turn_characters])) is not None
    sentences = list(asked_sentences(turn, earlier=earlier, most=policy.max_turn_characters)) if may_ask else []
    matches = [first_match(without_accents(each.text), *_WHOLE) for each in sentences]
    last = max(
        (place for place, each in enumerate(sentences) if not matches[place] and content_words(each.text)), default=-1
    )
    said: set[str] = set()
    for place, (sentence, found) in enumerate(zip(sentences, matches, strict=True)):
        if found is None or not sentence.is_own() or len(said) == _MOST_REQUESTS:
            continue
        if request := _request(found, sentence.text, turn, goes_on=place < last, is_alone=last < 0):
            said.add(request.quote)
            yield request
    for wish in wishes_of(turn, earlier=earlier, most=policy.max_turn_characters):
        if wish.quote not in said:  # it may be known
            claim = wish.told.strip(" .,:;!?()")
            yield ForgetRequest(
                turn_id=turn.id,
                said_at=turn.said_at,
                quote=wish.quote,
                words=content_words(claim),
                is_own=_OWN.search(claim) is not None,
                is_plain=not turn.speaker,
                points=not claim,
            )


def _request(
    found: "re2._Match[str]", sentence: str, turn: SourceTurn, *, goes_on: bool, is_alone: bool
) -> ForgetRequest | None:
    """Return the request of a sentence; `goes_on`: more is said after it, `is_alone`: nothing else is said at all."""
    asks, is_polite = found.groupdict(), _PLEASE.search(sentence) is not None
    what: str = _COURTESY.sub("", asks["what"].strip(" .!?").replace(", was ", " was "))
    left = _FROM_MEMORY.sub("", what)
    is_of_memory, what = left != what, left
    request = ForgetRequest(turn_id=turn.id, said_at=turn.said_at, quote=sentence.strip(" .!?"), words=frozenset())
    if not content_words(what) - _OF_REQUESTS:
        if _IS_ALL.match(what):
            return replace(request, names_all=True)
        points = _IS_LAST.search(what)
        is_plain = (
            points is not None and not asks.get("topical") and bool(points["last"] or (asks.get("forget") and is_alone))
        )
        return replace(request, points=True) if is_plain else None

    claim = what if _STATED.match(what) else ""
    more = None if claim else _MORE.search(what)
    named, rest = (what[: more.start()], what[more.end() :]) if more else (what, "")
    topical = None if claim else _TOPIC.match(named)
    topic = next(filter(None, topical.groups()), "") if topical else ""
    is_named = _NAMED.match(named) or asks.get("free") or (asks.get("asking") and _NAME.match(named))
    if not (claim or topic or (is_named and not asks.get("topical") and not _FOR_NOW.search(named))):
        return None
    words = content_words(claim or topic or named) - (_OF_REQUESTS if topic else frozenset())
    if not words:
        return None
    is_of_memory = is_of_memory or bool(claim or topic or asks.get("free"))
    if not (is_of_memory or asks.get("forget") or _is_datum(named)):
        return None
    is_firm = is_of_memory or bool(asks.get("asking")) or is_polite
    is_idle = goes_on or sentence.endswith("?") or bool(asks.get("idly"))
    return replace(
        request,
        words=words,
        names_topic=bool(topic),
        is_own=_OWN.search(topic or named) is not None,
        # Of several speakers, only a person can say whose address was meant.
        is_plain=not turn.speaker and not content_words(rest) - _OF_REQUESTS and (is_firm or not is_idle),
    )


def _is_datum(named: str) -> bool:
    """Return True for "my old address", but not for "my phone photos"."""
    words = with_common_names(named).split()
    is_of_relative = len(words) >= 4 and words[1] in DATA  # "die Telefonnummer meiner Tochter"
    return is_of_relative or (len(words) <= 4 and words[-1] in DATA and _OF.isdisjoint(words))
