"""Requests to forget: "please forget my address", "lösch bitte meine Telefonnummer", in the user's own words.

A few patterns read how a sentence asks and what it names: a statement, a topic, a datum about the user, what was told
last, or everything. It is plain if it can mean nothing else: "forget my diet, let's have pizza" and "forget about my
mother" (never mind her) may be no requests at all. What is asked not to be stored is forgotten where it is known.
"""

from collections.abc import Iterator
from dataclasses import replace

import re2

from apps.pipeline.core.draft import Draft, ForgetRequest
from apps.pipeline.core.enums import Role
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.asked_sentences import content_words, own_sentences_of
from apps.pipeline.extraction.not_to_store import Wish, wishes_of
from apps.pipeline.extraction.plain import extractor as plain
from apps.pipeline.lexicon.personal_data import DATA

_MAY_ASK = re2.compile(
    r"(?i)forg[eo]t|remember|delet|eras|remov|wipe|clear|drop|get rid|keep|stor|know|verg[ei]ss|l[öo]sch|entfern"
    r"|streich"
    r"|oubli|effac|supprim|retir|scrub|purge|strike|unlearn|take|kenn|weißt|behält|sach|connai|gard"
)
_LEAD = (
    r"(?P<lead>(?:(?:please|pls|kindly|thanks|ok|okay|hey|hi|also|and|oh|well|actually|by the way|btw|now|so|sorry"
    r"|bitte|und|ach|et|stp"
    r"|s['’]il te plaît|s['’]il vous plaît),? )*)"
)
_ASKING = (
    r"(?P<asking>(?:(?:can|could|would|will) (?:you|u)|i(?:['’]d| would) like you to|i (?:want|need) you to"
    r"|would you mind|you (?:can|may|should|must)|i (?:do not|don['’]?t|no longer) want you to keep)(?: please| pls"
    r"| kindly| also| just| now)* )?"
)
_FORGET = r"(?P<forget>forget|forgetting|unlearn|stop (?:remembering|storing|keeping(?: track of)?|saving))"
_DELETE = (
    r"(?:delete|erase|remove|wipe|clear|drop|scrub|purge|strike|take|get rid of|(?:delet|eras|remov|wip|clear|dropp"
    r"|forgett)ing)"
)
_END = r"[ .!?]*$"
_WHAT = r"(?P<what>.{2,400}?)"
_REQUESTS = tuple(
    re2.compile(rf"(?i)^\W*{_LEAD}{each}{_END}")
    for each in (
        rf"{_ASKING}(?:please |also |now |just )*{_FORGET}(?P<idly>(?: all)? about)?:? {_WHAT}",
        rf"{_ASKING}(?:please |also |now |just )*{_DELETE} {_WHAT}",
        rf"(?P<negated>do not|don['’]?t) remember {_WHAT}",
        rf"{_WHAT}[,:;]+ (?:please |so )*(?P<asking>{_DELETE}|forget) (?:it|that|this)(?P<polite>,? (?:please|pls))?",
        rf"(?P<asking>i (?:do not|don['’]?t|no longer) want you to|i(?:['’]d| would) (?:rather"
        rf"|prefer) you did(?:n['’]?t| not))"
        rf" (?:remember|know|keep|store) {_WHAT}",
        rf"(?P<asking>i (?:want|need|would like)|i['’]d like) {_WHAT} (?:to be )?(?:deleted|forgotten|erased"
        rf"|removed)(?P<polite>,? (?:please|pls|now))?",
        rf"{_WHAT} (?P<asking>should|must|can) be (?:deleted|forgotten|erased)(?P<polite>,? (?:please|pls|now))?",
        rf"(?P<forget>vergiss|vergessen sie)(?: (?:bitte|doch|mal|wieder|auch))*,? {_WHAT}",
        rf"(?:lösche?|löschen sie|entferne?|streiche?)(?: (?:bitte|doch|mal|auch))*,? {_WHAT}",
        rf"(?P<asking>(?:kannst|könntest|würdest) du)(?: (?:bitte|mal))* (?:{_WHAT} )?(?:vergessen|löschen"
        rf"|entfernen)(?:, (?P<claim>dass .+?))?",
        rf"(?P<asking>ich (?:will|möchte|hätte gern)), dass du {_WHAT} (?:vergisst|löschst|entfernst)",
        rf"(?P<asking>ich (?:will|möchte)) nicht(?: mehr)?, dass du {_WHAT} (?:kennst|weißt|behältst|speicherst)",
        rf"(?P<forget>oublie[zs]?) {_WHAT}",
        rf"(?:efface[zs]?|supprime[zs]?|retire[zs]?) {_WHAT}",
        rf"(?P<asking>(?:peux|pourrais|pouvez|pourriez)[- ](?:tu|vous))(?: (?:stp|s['’]il te plaît))? (?:oublier"
        rf"|effacer|supprimer) {_WHAT}",
        rf"(?P<asking>(?:je (?:veux|voudrais)|j['’]aimerais) que (?:tu|vous)) (?:oubli|effac|supprim)\w+ {_WHAT}",
        rf"(?P<asking>je ne (?:veux|voudrais) (?:pas|plus) que (?:tu|vous)) (?:sach|connaiss|gard)\w+ {_WHAT}",
    )
)
_ABOUT = r"(?:about|on|regarding|über|zu|sur|de|à propos de) "
_TOLD = (
    r"(?:(?:what|everything|anything|all)(?: that)? (?:i|you|we)(?:['’]ve| have)? ?(?:just )?(?:said|told you|know"
    r"|have|got|remember|stored)?(?: that)?"
    r"|(?:everything|anything|all|alles)|(?:the )?(?:notes?|memor(?:y|ies)|entry|entries|facts?|infos?|information)"
    r"|(?:alles|das), was|was ich|ce que (?:je|tu)|tout ce que (?:je|tu))"
)
_ALL = re2.compile(
    r"(?i)^(?:everything|all(?: of it)?|tout|alles)(?:,? (?:that )?(?:you (?:know|have|remember|stored)|about me"
    r"|on me|über mich"
    r"|was du (?:über mich|von mir)(?: \w+)?|ce que tu sais|sur moi|de moi|from your memory"
    r"|von mir)\b,?)+ *(?:(?:about|on|of|über|sur|de) (?:me|moi|mich))?"
    r"(?: \w+)?$|^(?:all )?(?:of )?(?:my|meine|toutes mes) (?:\w+ )?(?:data|memories|information|infos?|daten"
    r"|erinnerungen|données|souvenirs)$"
    r"|^all(?:e)? (?:of )?(?:my|meine|the|your) (?:\w+ )?(?:data|memories|notes|information|daten"
    r"|erinnerungen)(?: (?:about|on) me)?$"
    r"|^your memory(?: of me)?$"
)
_LAST = re2.compile(
    r"(?i)^(?:(?:about )?(?:that|this)(?: again)?|das|dies|ça|cela|(?:what|everything|that) i(?:['’]ve"
    r"| have)? just (?:said|told you|wrote)"
    r"|was ich (?:dir )?(?:gerade|eben) \w+ habe|ce que je viens de (?:te )?dire|my (?:last|previous) message"
    r"|the last (?:thing|bit) i said|meine letzte nachricht|mon dernier message)$"
)
_LAST_TOLD = re2.compile(r"(?i)just|last|previous|letzt|dernier|gerade|eben|viens")
_STATED = re2.compile(r"(?i)^(?:the fact )?(?:that |dass |que |qu['’])(?P<claim>.+)$")
_TOPIC = re2.compile(
    rf"(?i)^{_TOLD}(?: (?:je |tu )?(?:t['’]ai dit|sais|sait|(?:du |ich )?(?:dir )?))?(?: ?(?:du"
    rf"|ich))? ?{_ABOUT}(?P<topic>.+)$"
    r"|^das (?:mit|über|von) (?P<matter>.+)$|^(?:the|that|my) (?:stuff|thing|bit|part) about (?P<subject>.+)$"
    r"|^(?:the|that|my) (?P<thing>.+) (?:thing|stuff|part|bit|business)$"
)
_NAMED = re2.compile(
    r"(?i)^(?:(?:my|our|where (?:i|we)|how old i|meine?[nrms]?|unsere?[nrms]?|wo ich|wie alt ich|mon|ma|mes|notre"
    r"|nos|où (?:je|j['’])"
    r"|that my)\b|\p{L}+['’]s\b).+$"
)
_FROM_MEMORY = re2.compile(
    r"(?i) (?:from|in|out of|aus|von|de) (?:your|the|deine[mnr]?|ta|tes) (?:memor(?:y|ies)|notes?|records?"
    r"|gedächtnis|notizen|mémoire|notes)$"
)
_FOR_NOW = re2.compile(
    r"(?i)\b(?:for (?:a (?:moment|minute|second|while|bit)|now|today|tonight|once|this)|today|tonight"
    r"|this (?:once|time)|to \w+|nicht|pas|heute)\b"
)
_MORE = re2.compile(r"(?i)[,;:–—]|\b(?:because|since|and|but|so|as|let['’]?s|und|weil|et|car)\b")
_POLITE = re2.compile(
    r"(?i)(?:[, ]+(?:please|pls|thanks|thank you|ok(?:ay)?|again|now|too|at all|for good|forever|bitte|wieder|danke"
    r"|weißt|any ?more|(?:gesagt|erzählt|geschrieben) habe"
    r"|stp|svp|s['’]il (?:te|vous) pla[iî]t|merci))+$"
)
_PLEASE = re2.compile(r"(?i)\b(?:please|pls|bitte|stp|svp|s['’]il)\b")
_FIRST_PERSON = re2.compile(r"(?i)\b(?:i|i['’]m|im|i['’]ve|we|ich|wir|je|j['’]\w+|my|our|meine?\w?|mon|ma|mes)\b")
_OWN_CLAIM = re2.compile(r"(?i)\b(?:i|i['’]m|im|i['’]ve|we|ich|wir|je|j['’]\w+)\b")
_OF_MEMORY = re2.compile(r"(?i)stor|remember|record|memor|speicher|merk|enregistr|retien|mémoris")
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
    asked = list(_asked(turn, draft)) if _MAY_ASK.search(turn.content) else []
    said = {each.quote for each in asked}
    wishes = wishes_of(turn, earlier=earlier, most=policy.max_turn_characters)
    yield from (*asked, *(_unwanted(each, turn, policy) for each in wishes if each.quote not in said))


def _asked(turn: SourceTurn, draft: Draft) -> Iterator[ForgetRequest]:
    policy, earlier = draft.policy.extraction, draft.request.earlier_turns
    sentences = list(own_sentences_of(turn, earlier=earlier, most=policy.max_turn_characters))
    last = max((place for place, (each, _) in enumerate(sentences) if _says_something_else(each.text)), default=-1)
    found = (
        _request(sentence.text, turn, policy, goes_on=place < last, is_alone=last < 0)
        for place, (sentence, is_own) in enumerate(sentences)
        if is_own
    )
    for number, request in enumerate(each for each in found if each is not None):
        if number == _MOST_REQUESTS:
            return
        yield request


def _says_something_else(sentence: str) -> bool:
    """Return True unless a sentence asks to forget, or is a courtesy."""
    return _match(sentence) is None and not _POLITE.match(f" {sentence.rstrip(' .!?')}")


def _match(sentence: str) -> "re2._Match[str] | None":
    return next((found for each in _REQUESTS if (found := each.match(sentence))), None)


def _request(
    sentence: str, turn: SourceTurn, policy: ExtractionPolicy, *, goes_on: bool, is_alone: bool
) -> ForgetRequest | None:
    found = _match(sentence)
    if found is None or _is_remark(found):
        return None
    asks = found.groupdict()
    told = (asks.get("claim") or asks.get("what") or "").strip(" .!?")
    what, is_remembered = _without_place(_without_courtesy(told))
    bare = ForgetRequest(turn_id=turn.id, said_at=turn.said_at, quote=sentence.strip(" .!?"), words=frozenset())
    if _ALL.match(what):
        return replace(bare, names_all=True)
    if _LAST.match(what):
        firm = bool(_LAST_TOLD.search(what) or (asks.get("forget") and is_alone))
        return replace(bare, points=True) if firm else None
    return _naming(
        bare,
        what,
        turn,
        policy,
        asks=asks,
        told=told,
        is_remembered=is_remembered,
        goes_on=goes_on or sentence.endswith("?"),
    )


def _is_remark(found: "re2._Match[str]") -> bool:
    """Return True for "don't remember my keys": without a "please" it says that the user doesn't."""
    asks, sentence = found.groupdict(), found.group()
    return bool(asks.get("negated")) and (not _PLEASE.search(sentence) or sentence.endswith("?"))


def _naming(
    bare: ForgetRequest,
    what: str,
    turn: SourceTurn,
    policy: ExtractionPolicy,
    *,
    asks: dict[str, str | None],
    told: str,
    is_remembered: bool,
    goes_on: bool,
) -> ForgetRequest | None:
    """Return the request with what it names, or None where it names nothing that a memory could hold."""
    stated, topical = _STATED.match(what), _TOPIC.match(what)
    claim = stated["claim"] if stated else ""
    topic = next(filter(None, topical.groups()), "") if topical else ""
    if not (claim or topic or _NAMED.match(what)) or (not claim and _FOR_NOW.search(what)):
        return None
    more = None if claim else _MORE.search(topic or what)
    named = claim or (topic or what)[: more.start() if more else None]
    words = content_words(named)
    if (
        not (asks.get("forget") or asks.get("negated") or asks.get("asking") or claim or topic or is_remembered)
        and not words <= DATA
    ):
        return None
    claims = _claims(claim, turn, policy) if claim else ()
    polite = bool(
        _PLEASE.search(f"{asks['lead']} {told[len(what) :]} {asks.get('polite') or ''} {asks.get('asking') or ''}")
    )
    firm = polite or bool(asks.get("asking") or claim or topic or is_remembered)
    idle = goes_on or bool(asks.get("idly"))
    return (
        replace(
            bare,
            words=words,
            claims=claims,
            names_topic=bool(topic),
            is_own=_OWN_CLAIM.search(claim or topic or what) is not None,
            # Of several speakers, only a person can say whose address was meant.
            is_plain=not turn.speaker and more is None and (firm or not idle),
        )
        if words or claims
        else None
    )


def _without_courtesy(text: str) -> str:
    """Return what is to be forgotten without thanks, and without a wish that only says it again."""
    what: str = _POLITE.sub("", text)
    more = what.find(",")
    if more > 0 and _SAYS_AGAIN.search(what[more:]):
        what = _POLITE.sub("", what[:more])
    return what


_SAYS_AGAIN = re2.compile(
    r"(?i)^,? ?(?:and )?(?:i (?:do not|don['’]?t) want|please|it['’]s (?:private|nobody)|ich will (?:das )?nicht"
    r"|je ne veux pas)"
)


def _without_place(text: str) -> tuple[str, bool]:
    """Return a text without "from your memory", and whether it said so."""
    left = _FROM_MEMORY.sub("", text)
    return left, left != text


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
        is_own=_OWN_CLAIM.search(claim) is not None,
        is_plain=not turn.speaker and bool(claim or _OF_MEMORY.search(wish.quote)),
        points=not claim,
    )
