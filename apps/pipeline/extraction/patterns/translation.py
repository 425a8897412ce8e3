"""German, French and Spanish statements in English: subject, verb, negation and prepositions; the nouns stay mostly.

"Mon mari ne travaille plus chez Orange" becomes "my husband no longer works at Orange", which the patterns of English
statements read. A clause whose subject or verb is not known becomes nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import re2

from apps.pipeline.extraction.patterns.translated_objects import translated_object
from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.language import is_english
from apps.pipeline.lexicon.translation import GRAMMARS, Grammar, tokens_of

_SIGNS = frozenset(",;:–—-.!()…")
_LONGEST_VERB = 3  # words
_LONGEST_SUBJECT = 7
_LONGEST_LEAD = 5
_LANGUAGES = frozenset("German English French Spanish Italian Portuguese".split())
_FIXED = ("am", "is", "are", "used")
_TAG = re2.compile(r"(?i), (?:ja|oder|ne|gell|nicht wahr|ok|okay|d['’]accord|hein|non|no|vale|verdad)\?$")


# Where English says it otherwise: "I have 42 years", "I have fear of heights", "we move to Nantes in August".
_IDIOMS = (
    (re2.compile(r"^I am called (.+)$"), r"my name is \1"),
    (re2.compile(r"^(?:he|she|it) is called .+$"), ""),
    (re2.compile(r"^I move to\b"), "I am moving to"),
    (re2.compile(r"^we move to\b"), "we are moving to"),
    (re2.compile(r"\bmoves to\b"), "is moving to"),
    (re2.compile(r"\bhave (\d+) years$"), r"am \1 years old"),
    (re2.compile(r"\bhas (\d+) years$"), r"is \1 years old"),
    (re2.compile(r"\b(have|has) (appointment|exam|interview|operation|flight)\b"), r"\1 an \2"),
    (re2.compile(r"\bhave fear of\b"), "am afraid of"),
    (re2.compile(r"\bhas fear of\b"), "is afraid of"),
)


@dataclass(frozen=True, slots=True)
class _Head:
    """Subject, negation and verb of a clause, and what follows them."""

    subject: str
    is_third: bool
    verb: str  # English: a base form, or one that never changes
    negation: str  # "", "not", "no longer" or "never"
    rest: tuple[str, ...]


def translated(sentence: str) -> tuple[str, ...]:
    """Return the clauses of a statement in English; empty for English, for questions and for what is not so."""
    tokens = tokens_of(_TAG.sub("", sentence))
    if not tokens or tokens[-1] == "?":
        return ()
    folded = [token.casefold() for token in tokens]
    marked = [grammar for grammar in GRAMMARS if _is_in(grammar, folded)]
    for grammar in marked or (() if is_english(sentence) else GRAMMARS):
        if clauses := tuple(filter(None, _clauses(tokens, grammar))):
            return clauses
    return ()


def _is_in(grammar: Grammar, folded: Sequence[str]) -> bool:
    """Return True if a sentence names its speaker in a language, or begins with a verb that needs no subject."""
    if not grammar.markers.isdisjoint(folded):
        return True
    return grammar.code == "es" and any(_drops_subject(phrase, grammar) for phrase in _phrases_at(folded, 0, grammar))


def _phrases_at(folded: Sequence[str], start: int, grammar: Grammar) -> Iterator[tuple[str, ...]]:
    """Yield the verbs at the start of a sentence, behind words that open or deny it."""
    while start < len(folded) and (
        (folded[start],) in grammar.openers
        or (folded[start],) in grammar.before
        or folded[start] in _SIGNS
        or folded[start] == "ya"
    ):
        start += 1
    yield from (
        phrase
        for phrase in (tuple(folded[start : start + size]) for size in range(_LONGEST_VERB, 0, -1))
        if phrase in grammar.verbs
    )


def _clauses(tokens: Sequence[str], grammar: Grammar) -> Iterator[str]:
    """Cut a sentence where another subject and verb begin, and translate each clause."""
    before: _Head | None = None
    for part in _parts(tokens, grammar):
        if part[0].casefold() in grammar.subordinating:
            before = None
            continue
        head = _order(part, grammar) or _head(part, grammar) or _continued(part, before, grammar)
        if head is not None:
            yield _written(head, grammar)
        before = head


def _parts(tokens: Sequence[str], grammar: Grammar) -> Iterator[tuple[str, ...]]:
    start = 0
    for place in range(1, len(tokens)):
        word = tokens[place].casefold()
        follows = tokens[place - 1] in _SIGNS or word in grammar.joints
        is_next = word == grammar.contrast or (follows and _begins(_without_joint(tokens[place:], grammar), grammar))
        if is_next and place > start:
            yield from _part(tokens[start:place], grammar)
            start = place
    yield from _part(tokens[start:], grammar)


def _part(tokens: Sequence[str], grammar: Grammar) -> Iterator[tuple[str, ...]]:
    part = _without_joint(tokens, grammar)
    while part and part[-1] in _SIGNS - {")"}:
        part = part[:-1]
    if part:
        yield tuple(part)


def _begins(tokens: Sequence[str], grammar: Grammar) -> bool:
    """Return True if a clause begins here: a subject and a verb, a verb alone, or a condition."""
    if not tokens:
        return False
    first = tokens[0].casefold()
    return first in grammar.subordinating or (first,) in grammar.verbs or _head(tokens, grammar) is not None


def _without_joint(tokens: Sequence[str], grammar: Grammar) -> Sequence[str]:
    while tokens and (tokens[0] in _SIGNS or tokens[0].casefold() in (*grammar.joints, grammar.contrast)):
        tokens = tokens[1:]
    return tokens


def _head(tokens: Sequence[str], grammar: Grammar) -> _Head | None:
    """Read the subject and the verb at the front of a clause."""
    folded = [token.casefold() for token in tokens]
    place = 0
    while place < len(folded) and ((folded[place],) in grammar.openers or folded[place] in _SIGNS):
        place += 1
    if place >= len(folded):
        return None
    if folded[place] in grammar.pronouns:
        subject = grammar.pronouns[folded[place]]
        return _verb(tokens, folded, place + 1, grammar, subject)
    if _is_known_thing(folded, place, grammar):
        return _after_time(tokens, folded, place, grammar) or _owned(tokens, folded, place, grammar)
    if folded[place] in grammar.possessives:
        return _owned(tokens, folded, place, grammar)
    return (
        _without_subject(tokens, folded, place, grammar)
        or _inverted(tokens, folded, grammar)
        or _after_time(tokens, folded, place, grammar)
        or _named(tokens, folded, place, grammar)
    )


def _verb(tokens: Sequence[str], folded: Sequence[str], place: int, grammar: Grammar, subject: str) -> _Head | None:
    """Read negation and verb behind a subject."""
    negation = ""
    for size in (2, 1):
        if (phrase := tuple(folded[place : place + size])) in grammar.before:
            negation, place = grammar.before[phrase], place + size
            break
    for size in range(_LONGEST_VERB, 0, -1):
        phrase = tuple(folded[place : place + size])
        if len(phrase) == size and phrase in grammar.verbs:
            is_third = subject not in ("I", "we")
            head = _Head(subject, is_third, grammar.verbs[phrase], negation, tuple(tokens[place + size :]))
            return _negated(head, grammar)
    return None


def _negated(head: _Head, grammar: Grammar) -> _Head:
    """Read the negation behind the verb: "je ne bois pas", "ich wohne nicht mehr in Graz"."""
    rest = head.rest
    folded = [token.casefold() for token in rest]
    reach = range(len(rest)) if grammar.code == "de" else range(min(1, len(rest)))
    for place in reach:
        for size in (2, 1):
            negation = grammar.after.get(tuple(folded[place : place + size]), "")
            if negation and (negation != "no longer" or size == 2 or head.negation):
                more = folded[place + size :]
                if grammar.code == "de" and negation == "not" and "mehr" in more:
                    negation = "no longer"
                return replace(head, negation=negation, rest=rest[:place] + rest[place + size :])
    if grammar.code == "fr" and head.negation:
        return replace(head, negation="")  # "ne" alone, or "ne … que", which denies nothing
    return head


def _owned(tokens: Sequence[str], folded: Sequence[str], place: int, grammar: Grammar) -> _Head | None:
    """Read "mon rendez-vous chez le dentiste est …": the subject reaches to the first verb."""
    for end in range(place + 2, min(len(tokens), place + _LONGEST_SUBJECT) + 1):
        if end < len(tokens) and tokens[end - 1] in _SIGNS - {",", "-"}:
            return None
        subject = tokens[place:end]
        head = _verb(tokens, folded, end, grammar, "it")
        if head is not None:
            named = translated_object(tuple(subject), grammar, verb="be").rstrip(" ,")
            return replace(head, subject=named)
    return None


def _is_known_thing(folded: Sequence[str], place: int, grammar: Grammar) -> bool:
    """Return True for "der Termin", "la cita": an article and a noun that the product knows, or any with a date."""
    noun = tuple(folded[place + 1 : place + 2])
    is_the = grammar.words.get((folded[place],)) == "the"
    return is_the and (noun in grammar.nouns or any(word[:1].isdigit() for word in folded[place:]))


def _without_subject(tokens: Sequence[str], folded: Sequence[str], place: int, grammar: Grammar) -> _Head | None:
    """Read "No vivo en Madrid": the verb says who speaks."""
    if grammar.code != "es":
        return None
    head = _verb(tokens, folded, place, grammar, "I")
    start = next(
        (
            at
            for at in range(place, len(folded))
            if tuple(folded[at : at + 1]) not in grammar.before and folded[at] != "ya"
        ),
        place,
    )
    phrases = (tuple(folded[start : start + size]) for size in range(_LONGEST_VERB, 0, -1))
    verb = next((phrase for phrase in phrases if phrase in grammar.verbs), None)
    if head is None or verb is None or not _drops_subject(verb, grammar):
        return None
    if verb[0] in grammar.bare_only_negated and not head.negation:
        return None
    return replace(head, subject="we" if verb[-1].endswith("mos") else "I")


def _drops_subject(verb: tuple[str, ...], grammar: Grammar) -> bool:
    if verb not in grammar.verbs or verb[0] in ("se", "le", "ha", "es", "son", "están"):
        return False
    return verb[0] in ("me", "nos") or verb[-1].endswith(("o", "oy", "é", "mos", "í", "he", "de"))


def _inverted(tokens: Sequence[str], folded: Sequence[str], grammar: Grammar) -> _Head | None:
    """Read "Seit Mai wohne ich in Graz" as "ich wohne seit Mai in Graz"."""
    if grammar.code != "de":
        return None
    for place in range(1, min(len(folded), _LONGEST_SUBJECT + 3)):
        if folded[place] in ("ich", "wir") and (folded[place - 1],) in grammar.verbs:
            rest = tokens[place + 1 :]
            end = next((at for at, token in enumerate(rest) if token in _SIGNS), len(rest))
            moved = (tokens[place - 1], *rest[:end], *tokens[: place - 1], *rest[end:])
            first = tuple(token.casefold() for token in moved)
            return _verb(moved, first, 0, grammar, grammar.pronouns[folded[place]])
        if folded[place] in _SIGNS:
            return None
    return None


def _after_time(tokens: Sequence[str], folded: Sequence[str], place: int, grammar: Grammar) -> _Head | None:
    """Read "Le samedi je travaille au marché": what says when goes to the end."""
    for start in range(place + 1, min(len(folded), place + _LONGEST_LEAD)):
        before = folded[start - 1]
        if before in grammar.subordinating or before in _SIGNS or (before,) in grammar.verbs:
            return None
        if grammar.pronouns.get(folded[start]) in ("I", "we"):
            head = _verb(tokens, folded, start + 1, grammar, grammar.pronouns[folded[start]])
            lead = tokens[place:start]
            says_when = all(
                (word,) in grammar.words or word in grammar.places or word[0].isdigit() for word in folded[place:start]
            )
            if head is None or not (says_when or len(lead) == 1):
                return None
            return replace(head, rest=(*head.rest, *lead)) if says_when else head
    return None


def _named(tokens: Sequence[str], folded: Sequence[str], place: int, grammar: Grammar) -> _Head | None:
    """Read "Solène attend des jumeaux": a name before a verb."""
    word = tokens[place]
    if not word.istitle() or (folded[place],) in grammar.words or len(word) < 3:
        return None
    return _verb(tokens, folded, place + 1, grammar, word)


def _continued(tokens: Sequence[str], before: _Head | None, grammar: Grammar) -> _Head | None:
    """Read "… und arbeite bei Siemens" with the subject before it, "sondern in Graz" with the verb, too."""
    if before is None:
        return None
    folded = [token.casefold() for token in tokens]
    if (head := _verb(tokens, folded, 0, grammar, before.subject)) is not None:
        return replace(head, is_third=before.is_third)
    if before.negation and folded[0] in grammar.places:
        return replace(before, negation="", rest=tuple(tokens))
    return None


def _order(tokens: Sequence[str], grammar: Grammar) -> _Head | None:
    """Read "Réponds-moi toujours en français" as a wish for good."""
    folded = [token.casefold() for token in tokens]
    verb = next((grammar.imperatives[word] for word in folded[:3] if word in grammar.imperatives), None)
    if (
        verb is None
        and not grammar.always.isdisjoint(folded[:2])
        and not _LANGUAGES.isdisjoint(_english(folded, grammar))
    ):
        verb = "answer"
    if verb is None or grammar.always.isdisjoint(folded):
        return None
    rest = [
        token
        for token, word in zip(tokens, folded, strict=True)
        if word not in grammar.imperatives and word not in grammar.always
    ]
    return _Head("", False, f"always {verb}", "", tuple(rest))


def _english(folded: Sequence[str], grammar: Grammar) -> set[str]:
    return {grammar.words.get((word,), "") for word in folded}


def _written(head: _Head, grammar: Grammar) -> str:
    """Write a clause in English."""
    verb, rest = _tense(head, grammar)
    head = replace(head, verb=verb, rest=rest[: _end_of_clause(rest, grammar)])
    said = translated_object(head.rest, grammar, verb=head.verb)
    if head.verb == "be" and not head.negation:
        if work := _occupation(head.rest, grammar):
            head, said = replace(head, verb="work"), _employed(head.rest, work, grammar)
        elif grammar.code == "de" and said[:1].isupper() and said.startswith(head.rest[0]):
            return ""  # a name and any other noun look the same
    clause = " ".join(f"{head.subject} {_verb_group(head)} {said}".split())
    for idiom, english in _IDIOMS:
        clause = idiom.sub(english, clause)
    return clause


def _end_of_clause(rest: Sequence[str], grammar: Grammar) -> int:
    """Return where another clause begins, or a second complement: "aux arachides et à rien d'autre"."""
    folded = [token.casefold() for token in rest]
    for place, word in enumerate(folded):
        is_second = word in grammar.joints and folded[place + 1 : place + 2] and folded[place + 1] in grammar.places
        if word in grammar.subordinating or is_second:
            return place
    return len(rest)


def _tense(head: _Head, grammar: Grammar) -> tuple[str, tuple[str, ...]]:
    """Bring a participle or an infinitive to its verb: "habe einen Hund adoptiert" becomes "adopted"."""
    rest = head.rest
    places = range(min(2, len(rest))) if grammar.code != "de" else range(len(rest))
    if head.verb in ("be", "have"):
        for place in places:
            past = grammar.participles.get(rest[place].casefold())
            if past is not None and not (head.verb == "be" and (rest[place].casefold(),) in grammar.words):
                return past, rest[:place] + rest[place + 1 :]
    if head.verb in ("can", "must") and rest and grammar.code == "de":
        infinitive = grammar.verbs.get((rest[-1].casefold(),))
        if infinitive is not None:
            return f"{head.verb} {infinitive}", rest[:-1]
    return head.verb, rest


def _employed(rest: Sequence[str], work: str, grammar: Grammar) -> str:
    article = "an" if work[0].lower() in "aeiouéè" else "a"
    return f"as {article} {work} {translated_object(rest[rest.index(work) + 1 :], grammar, verb='work')}"


def _occupation(rest: Sequence[str], grammar: Grammar) -> str:
    """Return the noun behind "to be" that names somebody's work: "je suis infirmière"."""
    for token in rest[:2]:
        if (token.casefold(),) in grammar.words:
            if grammar.words[(token.casefold(),)] in ("now", "also", "still"):
                continue
            return ""
        if grammar.no_occupation.match(token):
            return ""
        return token if grammar.occupation.match(token) else ""
    return ""


def _verb_group(head: _Head) -> str:
    first, _, more = head.verb.partition(" ")
    is_fixed = first in _FIXED or (verbs.may_be_past(first) and first not in verbs.INVARIABLE)
    if is_fixed or first in ("always", "can", "must"):
        return _fixed(head, first, more)
    if head.negation == "not" and first != "be":
        return f"{'does' if head.is_third else 'do'} not {head.verb}"
    be = "is" if head.is_third else "am" if head.subject == "I" else "are"
    said = be if first == "be" else verbs.third_person(first) if head.is_third else first
    said = f"{said} {more}".strip()
    if head.negation == "not":
        return f"{said} not"
    return f"{said} no longer" if first == "be" and head.negation else f"{head.negation} {said}".strip()


def _fixed(head: _Head, first: str, more: str) -> str:
    if head.negation == "not" and first in ("am", "is", "are", "can", "must"):
        return f"{first} not {more}".strip()
    if head.negation == "not":
        return f"did not {verbs.base_form(first)} {more}".strip()
    if head.negation and first in ("am", "is", "are", "can", "must"):
        return f"{first} {head.negation} {more}".strip()
    return f"{head.negation} {head.verb}".strip()
