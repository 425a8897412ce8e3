"""Wishes that something is not stored: "don't store that I'm vegan", "off the record, …", "merk dir das nicht".

What such a wish covers is cut out of the turns before anything reads them: its own sentence, and where that only
points ("don't store that"), the sentence beside it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import re2

from apps.pipeline.core.draft import Draft, Drop
from apps.pipeline.core.enums import Reason, Role, Stage
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.asked_sentences import AskedSentence, asked_sentences, content_words

CUT = "…"  # stands where the words were
_MAY_WISH = re2.compile(
    r"(?i)\b(?:n['’]?t|dont|not?|never|without|rather|off the record|(?:keep|leave) \w+ \w+ of|nicht|nirgends"
    r"|nirgendwo|nothing|none|inutile|pas|ne|n['’]\p{L}+)\b|n['’]t\b"
)
_BEGINS = r"(?:^|[,;:(–—-]\s*|\b(?:but|and|so|aber|und|mais|et|please|pls|bitte|also|oh|ok|okay)[,\s]+)"
_THIS = (
    r"(?:this|that|it|these|those|any of (?:this|that|it)|(?:this|that) (?:message|conversation|chat|info(?:rmation)?"
    r"|part|bit|detail|fact)s?)"
)
_THIS_ENDS = (
    r"(?:\s*$|\s*[,;:.!?()–—-]|\s+(?:down|anywhere|at all|please|pls|thanks|but|and|because|since|ok|in (?:your"
    r"|the) (?:memory|notes|records?|system|profile|database|files?)"
    r"|in memory|on (?:record|file)|about me|to (?:your )?memory)\b)"
)
_CLAIM = (
    r"(?:(?:down |a note )?(?:the fact )?that (?:i|i['’]\w+|im|my|we|we['’]\w+|our|he|she|they|his|her|their|the"
    r"|\p{Lu}\p{L}+)\b"
    r"|(?:down )?(?:where|how|who|what|when|why) (?:i|my|we|our|he|she)\b)"
)
_STORE = r"(?:store|save|record|log|memori[sz]e|retain|keep|note|jot|write|take|put|make a (?:note|record) of)"
_STORING = r"(?:stor|sav|record|logg|memori[sz]|retain|keep|not|writ|remember)ing"
_STORED = (
    r"(?:stored|saved|recorded|logged|memori[sz]ed|retained|kept|noted|written down|remembered|on (?:record|file))"
)
_NOT_EN = (
    r"(?:do not|don['’]?t|never|no need to|not to|(?:you )?(?:(?:should|must|need)(?:n['’]t| not)(?: to)?|(?:do not"
    r"|don['’]?t) (?:have|need) to))"
)
_OBJECT = rf"(?:(?:down )?{_THIS}{_THIS_ENDS}|{_CLAIM})"
_LET_EN = (
    r"i (?:do not|don['’]?t) want you to|i(?:['’]d| would)? (?:rather|prefer|prefer it if"
    r"|prefer that) you did(?:n['’]?t| not)"
)
_DE_VERB = (
    r"(?:(?:ab)?speicher\w*|merk\w*|notier\w*|aufschreib\w*|mitschreib\w*|festh[aä]lt?\w*|beh[aä]lt\w*|vermerk\w*)"
)
_FR_VERB = r"(?:enregistr|gard|not|stock|sauvegard|mémoris|conserv|reti(?:en|enn)|reten|inscri|écri)\w*"
_FR_IT = r"(?:l['’]|le |la |les |me |te |vous )*"
_WISHES = (
    rf"{_BEGINS}(?:please |pls )?{_NOT_EN}(?: (?:ever|even|please|you))* {_STORE} {_OBJECT}",
    rf"(?:\b(?:please|pls) (?:do not|don['’]?t)|{_BEGINS}(?:do not|no need to|you (?:do not|don['’]?t) (?:have"
    rf"|need) to)) remember {_OBJECT}",
    rf"{_BEGINS}(?:please )?(?:keep|make) no (?:record|note)s? of {_OBJECT}",
    rf"\b(?:none|nothing) of (?:this|that|it) (?:should|must|may|is to) be {_STORED}{_THIS_ENDS}",
    rf"\b(?:{_LET_EN}) (?:{_STORE}|remember) {_OBJECT}",
    rf"\bwithout (?:you )?{_STORING} {_OBJECT}",
    rf"\bi (?:do not|don['’]?t) want {_THIS} (?:to be )?(?:{_STORED}{_THIS_ENDS}|in (?:your|the) (?:memory|notes"
    rf"|records?)\b)",
    rf"\b{_THIS} (?:should|must|may|can|is|does)(?:n['’]?t| not|not)(?: (?:to|be|need|meant))* {_STORED}{_THIS_ENDS}",
    rf"\b(?:keep|leave) {_THIS} (?:out of|off|away from) (?:your |the |my )?(?:memor\w+|notes?|records?|books"
    rf"|profile|files?)\b",
    r"(?:^|[,;:(–—-]\s*|\bthis is (?:\w+ )?|\bthat['’]?s |\bit['’]?s )(?:strictly |totally |completely )?(?:off"
    r"|not for) the record\b",
    rf"{_BEGINS}(?:(?:ab)?speicher[nte]*|merke?|notier[en]*|behalte?n?|schreibe?n?|halte?n?|vermerke?n?)(?: sie)?"
    r"(?: (?:dir|euch|sich|bitte|das|dies|es|mir|davon|hier|aber|bloß|ja))* (?:nicht|nirgends)\b",
    rf"{_BEGINS}(?:(?:das|dies|es|davon|bitte|aber|also) )*(?:nicht|nirgends|nirgendwo) (?:ab)?{_DE_VERB}(?:en|n)\b",
    rf"\b(?:(?:du|sie|ihr) (?:sollst|darfst|musst|brauchst|sollen|dürfen|müssen|brauchen)|(?:sollst|darfst|musst"
    rf"|brauchst) du) [^.,!?]{{0,40}}?nicht (?:zu )?{_DE_VERB}",
    r"\b(?:das|dies|es|davon) (?:soll|sollte|darf|muss|braucht) [^.,!?]{0,30}?(?:nicht|nirgends) (?:ge\w+|auf\w+"
    r"|fest\w+|behalten)"
    r" (?:zu )?werden\b",
    rf"\bich (?:will|möchte) nicht, dass (?:du|ihr|sie) [^.!?]{{0,120}}?{_DE_VERB}",
    rf"{_BEGINS}(?:s['’]il te plaît,? |surtout )?n(?:e |['’]){_FR_IT}{_FR_VERB} (?:surtout |donc )?(?:pas|rien"
    rf"|jamais|nulle part)\b",
    rf"(?:{_BEGINS}|\b(?:merci|prière|préfère|préférerais) (?:de )?)ne (?:pas|rien) {_FR_IT}{_FR_VERB}",
    rf"\b(?:inutile de|pas besoin de|pas la peine de) {_FR_IT}{_FR_VERB}",
    rf"\bne (?:doit|doivent|devrait) pas être {_FR_VERB}",
    rf"\bje (?:ne )?(?:veux|voudrais|souhaite) pas que (?:tu|vous) {_FR_IT}{_FR_VERB}",
)
_WISH = re2.compile("(?i)" + "|".join(f"(?:{each})" for each in _WISHES))
_CLAIM_BEGINS = re2.compile(r"(?i)\b(?:i|i['’]\w+|im|my|we|we['’]\w+|our|he|she|they|his|her|their)$")
# Words of a wish that name nothing of what is not to be stored.
_OF_WISHES = frozenset(
    "confidential private secret memory note record anywhere conversation chat message information info part bit"
    " detail "
    "store save keep record write remember ever time want need moment ça cela ca mémoire privé confidentiel "
    "ceci message utile inutile peine besoin vertraulich privat merkst speicherst notierst auf fest ab mit".split()
)
_FORWARD = re2.compile(r"(?i)[:–—]\s*$|\b(?:following|what comes next|folgende\w*|ce qui suit)\b")


@dataclass(frozen=True, slots=True)
class Wish:
    """A wish not to store something: the places that it covers, and what it says of them."""

    quote: str
    told: str  # what is not to be stored, in the user's words; empty where it points out of its message
    covers: tuple[tuple[int, int], ...]


def wishes_of(turn: SourceTurn, *, earlier: Sequence[SourceTurn], most: int) -> Iterator[Wish]:
    """Yield the wishes of a user's turn not to store something."""
    if turn.role is not Role.USER or not _MAY_WISH.search(turn.content):
        return
    sentences = list(asked_sentences(turn, earlier=earlier, most=most))
    for place, sentence in enumerate(sentences):
        found = _WISH.search(sentence.text)
        if found is None or not sentence.is_own(found.start(), found.end()):
            continue
        told = _rest(sentence.text, found)
        beside = [] if _tells(told) else _beside(sentences, place)
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


def without_unwanted(draft: Draft) -> Draft:
    """Cut out of all turns of a draft what the user does not want to be stored; say so of the turns of the trace."""
    most = draft.policy.extraction.max_turn_characters
    said = (*draft.request.earlier_turns, *draft.request.turns)
    cut: dict[UUID, SourceTurn] = {}
    for place, turn in enumerate(said):
        if wishes := list(wishes_of(turn, earlier=said[:place], most=most)):
            cut[turn.id] = without_covered(turn, wishes)
    if not cut:
        return draft
    drops = [Drop(Stage.EXTRACT, Reason.ASKED_NOT_TO_STORE, turn_id=turn.id) for turn in draft.turns if turn.id in cut]
    return draft.evolve(
        request=replace(
            draft.request,
            turns=tuple(cut.get(turn.id, turn) for turn in draft.request.turns),
            earlier_turns=tuple(cut.get(turn.id, turn) for turn in draft.request.earlier_turns),
        ),
        turns=tuple(each for turn in draft.turns if (each := cut.get(turn.id, turn)).content != CUT),
        drops=(*draft.drops, *drops),
    )


def _rest(sentence: str, wish: "re2._Match[str]") -> str:
    """Return a sentence without the words of a wish, but with what a claim in them begins with."""
    claim = _CLAIM_BEGINS.search(wish.group())
    return f"{sentence[: wish.start()]} {claim.group() if claim else ''} {sentence[wish.end() :]}".strip()


def _tells(text: str) -> bool:
    return bool(content_words(text) - _OF_WISHES)


def _beside(sentences: Sequence[AskedSentence], place: int) -> list[AskedSentence]:
    """Return the sentence that a wish points to: the one before it, or the next where none is before it."""
    points_ahead = _FORWARD.search(sentences[place].text) is not None
    order = (place + 1, place - 1) if points_ahead else (place - 1, place + 1)
    return next(([sentences[each]] for each in order if 0 <= each < len(sentences)), [])
