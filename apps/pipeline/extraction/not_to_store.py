"""Wishes that something is not stored: "don't store that I'm vegan", "off the record, …", "merk dir das nicht".

What such a wish covers is cut out of the turns before anything reads them: its own sentence, and where that only
points ("don't store that"), the sentence beside it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import re2

from apps.pipeline.core.draft import Draft, Drop
from apps.pipeline.core.enums import Reason, Role, Stage
from apps.pipeline.core.plain_letters import without_accents
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.asked_sentences import WORDS, asked_sentences, content_words
from apps.pipeline.redaction.finding import any_of, first_match

CUT = "…"  # stands where the words were
_BEGINS = (
    r"(?:^|[,;:(–—.-]\s*|\b(?:but|and|then|so|aber|und|mais|et|pero|y|please|pls|bitte|also|oh|well|ok|okay)[,\s]+)"
)
_ENDS_CLAUSE = r"(?:\s*$|\s*[,;:.!?()–—-]|\s+(?:but|aber|mais|pero)\b)"
_THIS = (
    r"(?:this|that|it|these|those|any of (?:this|that|it)"
    r"|(?:this|that) (?:message|conversation|chat|info(?:rmation)?|part|bit|detail|fact)s?)"
)
# "Don't save this", but not "don't save this file".
_THIS_ENDS = (
    rf"(?:{_ENDS_CLAUSE}|\s+(?:down|anywhere|at all|about me|please|pl[sz]|thanks|ok|lol|and|because|since"
    r"|on (?:record|file)|(?:in|to) (?:(?:your|the) )?(?:memory|notes|records?|system|profile|database|files?))\b)"
)
_CLAIM = (
    r"(?:(?:down |a note )?(?:the fact )?that (?:i|i'\w+|im|my|we|we'\w+|our|he|she|they|his|her|their|the"
    r"|\p{Lu}\p{L}+)\b|(?:down )?(?:where|how|who|what|when|why) (?:i|my|we|our|he|she)\b)"
)
_OBJECT = rf"(?:(?:down )?{_THIS}{_THIS_ENDS}|{_CLAIM})"
_STORE = (
    r"(?:(?:stor|sav|memori[sz])(?:e|ing)|(?:record|logg?|retain|keep|not|jot|writ|tak|put)(?:e|ing)?"
    r"|(?:make|keep|take) (?:a |any )?(?:record|note|memor(?:y|ie))s? (?:of|on))"
)
_STORED = rf"(?:{WORDS['stored']})"
_YOU_NOT = (
    r"(?:no need to|(?:you|u) (?:(?:should|must|need)(?:n't| not)(?: to)?|(?:do not|don'?t) (?:have|need) to)"
    r"|i (?:do not|don'?t) want you to|i(?:'d| would)? (?:rather|prefer(?: it if| that)?) you did(?:n'?t"
    r"| not))"
)
_DE_STORE = r"(?:(?:ab)?speicher|merk|notier|(?:auf|mit)?schreib|festhalt|behalt|vermerk)"
_DE_IT = r"(?:(?:sie|das|dies|es|davon|dir'?s?|euch|sich|bitte|mir|hier|aber|also|blos|ja) )*"
_ROMANCE_STORE = (
    r"(?:(?:enregistr|gard|not|stock|sauvegard|memoris|conserv|reti(?:en|enn)|reten|inscri|ecri)\w*"
    r"|(?:guard|apunt|anot|registr|almacen|grab|memoric|recuerd|escrib)[ea]s?\b)"
)
_ROMANCE_IT = r"(?:l'|(?:le|la|les|lo|los|las|me|te|se|vous) )*"
_UNSAVED = r"(?:unsaved|unstored|unrecorded|unlogged|ungespeichert|unnotiert|non enregistre)"
_ENDS_PLEASE = r"(?: (?:please|pls|bitte|stp))?\s*(?:$|[,;:.!–—-])"
_NOT, _STORING, _POINTING = (rf"(?:{WORDS[each]})" for each in ("not", "storing", "pointing"))
_WISHES = tuple(
    f"(?i){each}"
    for each in (
        # A clause of nothing but negation, storing and pointing: "not for your notes", "esto no lo guardes".
        rf"{_BEGINS}(?:(?:{_POINTING}|{_NOT}) )*"
        rf"(?:{_NOT} ?(?:{_POINTING} )*{_STORING}|{_STORING}(?: {_POINTING})* {_NOT})"
        rf"(?: (?:{_POINTING}|{_NOT}|{_STORING}))*{_ENDS_CLAUSE}",
        # A negated verb of storing, with what it is about. "Don't remember that" alone may speak of the user.
        rf"{_BEGINS}(?:do not|don'?t|never|not to|without|{_YOU_NOT})(?: (?:ever|even|dare|please|you))*"
        rf" {_STORE} {_OBJECT}",
        rf"(?:\b(?:please|pls) don'?t|{_BEGINS}(?:do not|{_YOU_NOT})) remember {_OBJECT}",
        rf"{_BEGINS}(?:do not|don'?t|never) {_STORE} (?:down )?my (?:\pL+ ){{0,2}}\pL+\s*(?:$|[,;:.!?])",
        rf"\b(?:(?:none|nothing) (?:of {_THIS}|i (?:say|said|tell you)(?: now| here)?) \w+|{_THIS} \w+"
        rf"(?:n'?t| not)|(?:this|that|it)'?s not)(?: (?:to|be|need|meant))* {_STORED}{_THIS_ENDS}",
        rf"\bi (?:do not|don'?t) want {_THIS} (?:to be )?(?:{_STORED}{_THIS_ENDS}|in (?:your|the) (?:memory|notes)\b)",
        rf"{_BEGINS}{_DE_STORE}(?:e|en|n|t)? {_DE_IT}(?:nicht|nirgends)\b",
        rf"\b(?:das|dies|es|davon) {_DE_STORE}s?t (?:du|ihr|sie) {_DE_IT}(?:nicht|nirgends|nirgendwo)\b",
        r"\b(?:nirgends|nirgendwo) (?:zu )?(?:stehen|landen|auftauchen)\b",
        rf"(?:{_BEGINS}|\b(?:de|que|surtout|prefere|plait|esto|eso) )(?:ne |n'|no )(?:pas |rien )?"
        rf"{_ROMANCE_IT}{_ROMANCE_STORE}",
        # What is said for this conversation alone.
        rf"\b(?:{WORDS['here_alone']})\b|\bthen forget(?: it| this| that)?{_ENDS_CLAUSE}"
        r"|\bforget(?: it| this| that)? (?:after|once|when) (?:you|answering|replying|this|that)\b",
        rf"{_BEGINS}{_UNSAVED}{_ENDS_PLEASE}|\b(?:stays?|leave it|keep it|bleibt|reste) (?:\pL+ )?{_UNSAVED}\b",
        # Words of confidence.
        rf"{_BEGINS}(?:[\pL'’]+ ){{0,3}}?(?:{WORDS['confidence']}){_ENDS_CLAUSE}",
        rf"\b(?:{WORDS['stays']}|(?:(?:this|that|it)(?:'?s| is)|(?:das|es) ist|c'est"
        rf"|esto es) (?:strictly |streng |very )?(?:private|secret|geheim|privat|prive|privado|secreto)){_ENDS_CLAUSE}",
        r"\boff the record\b|\bnot for (?:your|the) (?:notes?|memory|records?|files?)\b",
        rf"\b(?:keep|leave) {_THIS} (?:between|to yourself|private\b|confidential|secret|quiet"
        r"|(?:out of|off|away from) (?:your |the |my )?(?:memor\w+|notes?|records?|books|profile|files?)\b)",
    )
)
_CLAIM_BEGINS = re2.compile(r"(?i)\b(?:i|i['’]\w+|im|my|we|we['’]\w+|our|he|she|they|his|her|their)$")
_FORWARD = re2.compile(r"(?i)[:–—]\s*$|\b(?:following|what comes next|folgende\w*|ce qui suit)\b")
_OF_WISHES = frozenset(WORDS["of_wishes"].split("|"))


@dataclass(frozen=True, slots=True)
class Wish:
    """A wish not to store something: the places that it covers, and what it says of them."""

    quote: str
    told: str  # what is not to be stored, in the user's words; empty where it points out of its message
    covers: tuple[tuple[int, int], ...]


def wishes_of(turn: SourceTurn, *, earlier: Sequence[SourceTurn], most: int) -> Iterator[Wish]:
    """Yield the wishes of a user's turn not to store something."""
    if turn.role is not Role.USER or not any_of(*_WISHES).search(without_accents(turn.content)):
        return
    sentences = list(asked_sentences(turn, earlier=earlier, most=most))
    for place, sentence in enumerate(sentences):
        found = first_match(without_accents(sentence.text), *_WISHES)
        if found is None or not sentence.is_own(found.start(), found.end()):
            continue
        told = _rest(sentence.text, found)
        last, following = sentences[max(0, place - 1) : place], sentences[place + 1 : place + 2]
        around = following or last if _FORWARD.search(sentence.text) else last or following
        beside = [] if _tells(told) else around
        said = [each.text for each in beside] or ([told] if _tells(told) else [])
        covers = tuple((each.start, each.end) for each in (sentence, *beside))
        yield Wish(quote=sentence.text.strip(" .!?"), told=" ".join(said), covers=covers)


def without_covered(turn: SourceTurn, wishes: Sequence[Wish]) -> SourceTurn:
    """Return a turn without what its wishes cover."""
    parts, place = [], 0
    for start, end in sorted({each for wish in wishes for each in wish.covers}):
        parts.append(turn.content[place:start])
        place = max(place, end)
    left = " ".join(part.strip() for part in (*parts, turn.content[place:]) if part.strip())
    return replace(turn, content=left or CUT)


def without_unwanted(drafts: Sequence[Draft]) -> list[Draft]:
    """Cut out of the turns of a session's drafts what the user does not want to be stored; say so of the traces' turns.

    A wish that points out of its message covers the one before it, also one that waits in an earlier draft: then there
    is nothing to forget yet.
    """
    waiting = {turn.id for draft in drafts for turn in draft.request.turns}
    said = {turn.id: turn for draft in drafts for turn in (*draft.request.earlier_turns, *draft.request.turns)}
    in_order = sorted(said.values(), key=lambda turn: turn.position)
    most = max((draft.policy.extraction.max_turn_characters for draft in drafts), default=0)
    cut: dict[UUID, SourceTurn] = {}
    settled: set[UUID] = set()
    for place, turn in enumerate(in_order):
        if wishes := list(wishes_of(turn, earlier=in_order[:place], most=most)):
            cut[turn.id] = without_covered(turn, wishes)
            before = [each for each in in_order[:place] if (each.role, each.speaker) == (turn.role, turn.speaker)]
            if before and not any(wish.told for wish in wishes):
                cut[before[-1].id] = replace(before[-1], content=CUT)
                settled |= {turn.id} if before[-1].id in waiting else set()
    return [_without(draft, cut, settled) for draft in drafts] if cut else list(drafts)


def _without(draft: Draft, cut: Mapping[UUID, SourceTurn], settled: Collection[UUID]) -> Draft:
    drops = [Drop(Stage.EXTRACT, Reason.ASKED_NOT_TO_STORE, turn_id=turn.id) for turn in draft.turns if turn.id in cut]
    return draft.evolve(
        request=replace(
            draft.request,
            turns=tuple(cut.get(turn.id, turn) for turn in draft.request.turns),
            earlier_turns=tuple(cut.get(turn.id, turn) for turn in draft.request.earlier_turns),
        ),
        turns=tuple(each for turn in draft.turns if (each := cut.get(turn.id, turn)).content != CUT),
        forget_requests=tuple(each for each in draft.forget_requests if not (each.points and each.turn_id in settled)),
        drops=(*draft.drops, *drops),
    )


def _rest(sentence: str, wish: "re2._Match[str]") -> str:
    """Return a sentence without the words of a wish, but with what a claim in them begins with."""
    claim = _CLAIM_BEGINS.search(wish.group())
    return f"{sentence[: wish.start()]} {claim.group() if claim else ''} {sentence[wish.end() :]}".strip()


def _tells(text: str) -> bool:
    return bool(content_words(text) - _OF_WISHES)
