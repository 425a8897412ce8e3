"""The clauses of a German, French or Spanish sentence: subject, negation and verb, and what follows them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from apps.pipeline.extraction.patterns.translated_objects import translated_object
from apps.pipeline.lexicon.translation import Grammar

_SIGNS = frozenset(",;:–—-.!()…")
_LONGEST_VERB = 3  # words
_LONGEST_SUBJECT = 7
_LONGEST_LEAD = 5
_EXCEPT = frozenset("sauf excepté außer ausser salvo excepto menos".split())
_LANGUAGES = frozenset("German English French Spanish Italian Portuguese".split())


@dataclass(frozen=True, slots=True)
class ForeignClause:
    """Subject, negation and verb of a clause, and what follows them."""

    subject: str
    is_third: bool
    verb: str  # English: a base form, or one that never changes
    negation: str  # "", "not", "no longer" or "never"
    rest: tuple[str, ...]


def is_in(grammar: Grammar, folded: Sequence[str]) -> bool:
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


def clauses_in(tokens: Sequence[str], grammar: Grammar) -> Iterator[ForeignClause]:
    """Cut a sentence where another subject and verb begin, and read each clause."""
    before: ForeignClause | None = None
    for part in _parts(tokens, grammar):
        if part[0].casefold() in grammar.subordinating:
            before = None
            continue
        head = _order(part, grammar) or _head(part, grammar) or _continued(part, before, grammar)
        if head is not None:
            yield head
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


def _head(tokens: Sequence[str], grammar: Grammar) -> ForeignClause | None:
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


def _verb(
    tokens: Sequence[str], folded: Sequence[str], place: int, grammar: Grammar, subject: str
) -> ForeignClause | None:
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
            head = ForeignClause(subject, is_third, grammar.verbs[phrase], negation, tuple(tokens[place + size :]))
            return _negated(head, grammar)
    return None


def _negated(head: ForeignClause, grammar: Grammar) -> ForeignClause:
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


def _owned(tokens: Sequence[str], folded: Sequence[str], place: int, grammar: Grammar) -> ForeignClause | None:
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


def _without_subject(
    tokens: Sequence[str], folded: Sequence[str], place: int, grammar: Grammar
) -> ForeignClause | None:
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


def _inverted(tokens: Sequence[str], folded: Sequence[str], grammar: Grammar) -> ForeignClause | None:
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


def _after_time(tokens: Sequence[str], folded: Sequence[str], place: int, grammar: Grammar) -> ForeignClause | None:
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


def _named(tokens: Sequence[str], folded: Sequence[str], place: int, grammar: Grammar) -> ForeignClause | None:
    """Read "Solène attend des jumeaux": a name before a verb."""
    word = tokens[place]
    if not word.istitle() or (folded[place],) in grammar.words or len(word) < 3:
        return None
    return _verb(tokens, folded, place + 1, grammar, word)


def _continued(tokens: Sequence[str], before: ForeignClause | None, grammar: Grammar) -> ForeignClause | None:
    """Read "… und arbeite bei Siemens" with the subject before it, "sondern in Graz" with the verb, too."""
    if before is None:
        return None
    folded = [token.casefold() for token in tokens]
    if (head := _verb(tokens, folded, 0, grammar, before.subject)) is not None:
        return replace(head, is_third=before.is_third)
    if before.negation and folded[0] in grammar.places:
        return replace(before, negation="", rest=tuple(tokens))
    return None


def _order(tokens: Sequence[str], grammar: Grammar) -> ForeignClause | None:
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
    if not _EXCEPT.isdisjoint(folded):
        return None  # a rule without its exception is another one
    start = next((place for place, word in enumerate(folded) if word in grammar.imperatives), 0)
    rest = [
        token
        for token, word in zip(tokens[start:], folded[start:], strict=True)
        if word not in grammar.imperatives and word not in grammar.always
    ]
    return ForeignClause("", False, f"always {verb}", "", tuple(rest))


def _english(folded: Sequence[str], grammar: Grammar) -> set[str]:
    return {grammar.words.get((word,), "") for word in folded}
