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
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.asked_sentences import asked_sentences, content_words
from apps.pipeline.extraction.not_to_store import Wish, wishes_of
from apps.pipeline.extraction.plain import extractor as plain
from apps.pipeline.lexicon.personal_data import DATA, with_common_names

_MOST_REQUESTS = 5  # of a turn
_LEAD = (
    r"(?P<lead>(?:(?:please|pls|kindly|thanks|ok|okay|hey|hi|also|and|oh|well|actually|by the way|btw|now|so|just|sorry"
    r"|bitte|und|ach|et|y|stp|s['’]il te plaît|s['’]il vous plaît|por favor)[, ]+)*)"
)
_ALSO = r"(?: (?:please|pls|kindly|also|just|now|bitte|doch|mal|wieder|auch|stp|s['’]il te plaît|por favor))*"
_YOU = (
    r"(?P<asking>(?:can|could|would|will) (?:you|u)|i(?:['’]d| would) like you to|i (?:want|need) you to"
    r"|would you mind|you (?:can|may|should|must)|(?:(?:kann|könnte|würde)st du|(?:können|könnten|würden) sie)"
    r"|(?:peux|pourrais|pouvez|pourriez)[- ](?:tu|vous)|tu (?:peux|pourrais)|vous pouvez"
    r"|(?:je (?:veux|voudrais)|j['’]aimerais) que (?:tu|vous)|puedes|podrías|puede|quiero que|ich (?:will"
    r"|möchte), dass du)"
)
_YOU_NOT = (
    r"(?P<asking>(?P<forget>i (?:do not|don['’]?t|no longer) want you to|i(?:['’]d| would) (?:rather|prefer) you did"
    r"(?:n['’]?t| not)|you (?:do not|don['’]?t|no longer) (?:need|have) to|je ne (?:veux|voudrais) (?:pas|plus) que"
    r" (?:tu|vous)|no quiero que|no hace falta que))"
)
_FORGET = (
    r"(?P<forget>forget(?:ting)?|unlearn|stop (?:remembering|storing|keeping(?: track of)?|saving)|vergiss"
    r"|vergessen(?: sie)?|oubli(?:e[zsr]?)|olvid(?:ar|as?|es?))"
)
_DELETE = (
    r"(?:(?:delet|eras|remov|wip|clear|dropp?|scrapp?|scratch|scrubb?|purg|strik|tak|get(?:ting)? rid of)(?:e|ing)?"
    r"(?: out)?|(?:lösch|entfern|streich)(?:en?)?(?: sie)?|(?:effac|supprim|retir)e[zsr]?"
    r"|(?:borr|elimin|quit|suprim)(?:ar|as?|es?))"
)
_DELETED = r"(?:deleted|forgotten|erased|removed)"
_KNOW = r"(?:remember|know|keep|store|(?:sach|connaiss|gard)\w+|sepas|recuerdes|guardes)"
_WHAT, _END = r"(?P<what>.{2,400}?)", r"[ .!?]*$"
# What follows `forget` can only be held by a memory; other things than memories are deleted.
_REQUESTS = tuple(
    re2.compile(rf"(?i)^\W*{_LEAD}{each}{_END}")
    for each in (
        rf"(?:{_YOU}{_ALSO} )?{_FORGET}(?P<idly>(?: all)? about)?{_ALSO}[,:]? {_WHAT}",
        rf"(?:{_YOU}{_ALSO} )?{_DELETE}{_ALSO},? {_WHAT}",
        rf"{_YOU_NOT} {_KNOW} {_WHAT}",
        rf"(?P<forget>(?P<negated>do not|don['’]?t) remember) {_WHAT}",
        rf"{_WHAT}[,:;]+ (?:please |so )*(?P<asking>{_DELETE}|(?P<forget>forget)) (?:it|that|this)(?: please| pls)?",
        rf"(?P<asking>i (?:want|need|would like)|i['’]d like) {_WHAT} (?:to be )?{_DELETED}(?:,? (?:please|pls|now))?",
        rf"{_WHAT} (?P<asking>should|must|can) be {_DELETED}(?:,? (?:please|pls|now))?",
        # The German verb stands last.
        rf"{_YOU}{_ALSO} {_WHAT} (?:(?P<forget>vergessen|vergisst)"
        r"|(?:lösch|entfern|streich)(?:en|st))",
        r"(?P<asking>(?P<forget>ich (?:will|möchte) nicht(?: mehr)?, dass du|du (?:musst|brauchst|sollst)))"
        rf" {_WHAT}(?: nicht| mehr| zu)* (?:kenn|weiß|wiss|beh[aä]lt|speicher)(?:s?t|en)",
    )
)
_MAY_REQUEST = re2.compile(
    r"(?i)forg|remember|delet|eras|remov|wip|clear|drop|scra|scrub|purg|strik|tak|rid of|know|keep|stor|unlearn|saving"
    r"|verg[ei]ss|l[öo]sch|entfern|streich|w[ei]i?[sß]|kenn|beh[aä]lt|speicher|oubli|effac|supprim|retir|sach|connai"
    r"|gard|olvid|borr|elimin|quit|suprim|recuerd|sepas|guard"
)
_ALL = r"(?:everything|anything|all|alles?|tout|toutes|todo|todos)"
_IS_ALL = re2.compile(rf"(?i)^{_ALL}\b.*\b(?:me|my|mich|mir|meine|moi|mes|mí|mis|memor\w*|data|daten)\b|^your memory\b")
_IS_LAST = re2.compile(
    r"(?i)^(?:(?:about )?(?:that|this)(?: again)?|das(?: wieder)?|dies|ça|cela|eso|esto)$|(?P<last>\b(?:just|last"
    r"|previous|letzt\w*"
    r"|dernier|gerade|eben|viens|acabo|último)\b)"
)
_STATED = re2.compile(
    r"(?i)^(?:the fact )?(?:(?:that (?:(?:i|we|he|she|they|my|our|his|her|their|the)\b|i['’]|\pL+ (?:is|are|was|has)\b"
    r"|(?-i:\p{Lu}))|dass |que |qu['’]).*)$"
)
# "What I said about X", "the note about X", "das mit X", "lo que sabes de X"; "the X thing".
_TOPIC = re2.compile(
    rf"(?i)^(?:{_ALL}|what|the (?:whole )?(?:thing|stuff|bit|part|notes?|memor\w+|facts?|infos?|information|entr\w+)"
    r"|(?:that|my) (?:thing|stuff|bit|part)|das|was|die sache|ce que|lo que)(?: .*?)?"
    r" (?:(?:about|on|over|regarding|über|zu|mit|von|sur|de|sobre|con) |d['’])(?P<topic>.+)$"
    r"|^(?:the|that|my) (?:whole )?(?P<thing>.+) (?:thing|stuff|part|bit|business)$"
)
_NAMED = re2.compile(
    r"(?i)^(?:(?:my|our|where (?:i|we)|how old i|meine?[nrms]?|unsere?[nrms]?|wo ich|wie alt ich|mon|ma|mes|notre"
    r"|nos|mis?"
    r"|nuestr\w+|où (?:je|j['’])|that my)\b|\p{L}+['’]s\b).+$"
)
_FROM_MEMORY = re2.compile(
    r"(?i) (?:from|in|out of|aus|von|de) (?:your|the|deine[mnr]?|ta|tes|tu) (?:memor(?:y|ies)|notes?|records?"
    r"|gedächtnis"
    r"|notizen|mémoire|memoria|notas)\b"
)
_FOR_NOW = re2.compile(r"(?i)\b(?:for (?:a \w+|now|today|tonight|once|this)|today|tonight|nicht|pas|heute)\b")
_MORE = re2.compile(r"(?i)[,;:–—]|\b(?:because|since|and|but|so|as|let['’]?s|und|weil|et|car|pero|porque)\b")
_COURTESY = re2.compile(
    r"(?i)(?:[, ]+(?:please|pls|thanks|thank you|ok(?:ay)?|again|now|too|at all|for good|any ?more|bitte|wieder"
    r"|danke|stp|svp"
    r"|s['’]il (?:te|vous) pla[iî]t|merci|por favor|gracias))+$"
)
_PLEASE = re2.compile(r"(?i)\b(?:please|pls|bitte|stp|svp|s['’]il|por favor|any ?more)\b")
_OF = frozenset("of on from in du de des del vom von aus".split())
_OWN = re2.compile(r"(?i)\b(?:i|i['’]m|im|i['’]ve|we|ich|wir|je|j['’]\w+)\b")
# Words of a request that name nothing: of knowing, telling, storing and not wanting it.
_OF_REQUESTS = content_words(
    "know known have remember remembered said told tell wrote store stored keep memory memories data information info"
    " notes records last previous message just want it that weißt gesagt erzählt geschrieben hast gerade eben letzte"
    " nachricht daten erinnerungen information sais sait dit ce tout souvenirs données viens dire dernier sabes dije"
    " lo te todo todos acabo decir datos wieder thing bit private nobody all alle alles was du tu dont"
)


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
    may_request = _MAY_REQUEST.search(turn.content) is not None
    sentences = list(asked_sentences(turn, earlier=earlier, most=policy.max_turn_characters)) if may_request else []
    matches = [_match(each.text) for each in sentences]
    last = max(
        (place for place, each in enumerate(sentences) if not matches[place] and content_words(each.text)), default=-1
    )
    said: set[str] = set()
    for place, (sentence, found) in enumerate(zip(sentences, matches, strict=True)):
        if found is None or not sentence.is_own() or len(said) == _MOST_REQUESTS:
            continue
        if request := _request(found, sentence.text, turn, policy, goes_on=place < last, is_alone=last < 0):
            said.add(request.quote)
            yield request
    for wish in wishes_of(turn, earlier=earlier, most=policy.max_turn_characters):
        if wish.quote not in said:
            yield _unwanted(wish, turn, policy)


def _match(sentence: str) -> "re2._Match[str] | None":
    if not _MAY_REQUEST.search(sentence):
        return None
    return next((found for each in _REQUESTS if (found := each.match(sentence))), None)


def _request(
    found: "re2._Match[str]",
    sentence: str,
    turn: SourceTurn,
    policy: ExtractionPolicy,
    *,
    goes_on: bool,
    is_alone: bool,
) -> ForgetRequest | None:
    """Return the request of a sentence; `goes_on`: more is said after it, `is_alone`: nothing else is said at all."""
    asks, is_polite = found.groupdict(), _PLEASE.search(sentence) is not None
    # Without a "please", "don't remember my keys" says that the user doesn't.
    if asks.get("negated") and (not is_polite or sentence.endswith("?")):
        return None
    said: str = asks["what"].strip(" .!?")
    what: str = _COURTESY.sub("", said.replace(", was ", " was "))
    left = _FROM_MEMORY.sub("", what)
    is_of_memory, what = left != what, left
    request = ForgetRequest(turn_id=turn.id, said_at=turn.said_at, quote=sentence.strip(" .!?"), words=frozenset())
    if not content_words(what) - _OF_REQUESTS:
        if _IS_ALL.match(what):
            return replace(request, names_all=True)
        points = _IS_LAST.search(what)
        is_plain = points is not None and bool(points["last"] or (asks.get("forget") and is_alone))
        return replace(request, points=True) if is_plain else None

    claim = what if _STATED.match(what) else ""
    more = None if claim else _MORE.search(what)
    named, rest = (what[: more.start()], what[more.end() :]) if more else (what, "")
    topical = None if claim else _TOPIC.match(named)
    topic = next(filter(None, topical.groups()), "") if topical else ""
    if not (claim or topic or (_NAMED.match(named) and not _FOR_NOW.search(named))):
        return None
    words = content_words(claim or topic or named) - (_OF_REQUESTS if topic else frozenset())
    if not words:
        return None
    is_of_memory = is_of_memory or bool(claim or topic)
    if not (is_of_memory or asks.get("forget") or _is_datum(named)):
        return None
    is_firm = is_of_memory or bool(asks.get("asking")) or is_polite
    is_idle = goes_on or sentence.endswith("?") or bool(asks.get("idly"))
    return replace(
        request,
        words=words,
        claims=_claims(claim, turn, policy),
        names_topic=bool(topic),
        is_own=_OWN.search(topic or named) is not None,
        # Of several speakers, only a person can say whose address was meant.
        is_plain=not turn.speaker and not content_words(rest) - _OF_REQUESTS and (is_firm or not is_idle),
    )


def _is_datum(named: str) -> bool:
    """Return True for "my old address", but not for "my phone photos"."""
    words = with_common_names(named).lower().split()
    return len(words) <= 4 and words[-1] in DATA and _OF.isdisjoint(words)


def _claims(claim: str, turn: SourceTurn, policy: ExtractionPolicy) -> tuple[Candidate, ...]:
    """Read a statement by itself; a message that is only kept as a quote states nothing."""
    claim = re2.sub(r"(?i)^(?:the fact )?(?:that |dass |que |qu['’])", "", claim)
    if not claim:
        return ()
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
        claims=_claims(claim, turn, policy),
        is_own=_OWN.search(claim) is not None,
        is_plain=not turn.speaker,
        points=not claim,
    )
