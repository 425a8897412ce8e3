"""German, French and Spanish statements in English: subject, verb, negation and prepositions; the nouns stay mostly.

"Mon mari ne travaille plus chez Orange" becomes "my husband no longer works at Orange", which the patterns of English
statements read. A clause whose subject or verb is not known becomes nothing.
"""

from collections.abc import Sequence
from dataclasses import replace

import re2

from apps.pipeline.extraction.patterns.foreign_clauses import ForeignClause, clauses_in, is_in
from apps.pipeline.extraction.patterns.translated_objects import translated_object
from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.language import is_english
from apps.pipeline.lexicon.translation import GRAMMARS, Grammar, tokens_of

_LISTS = re2.compile(r"^[\p{L}' -]{2,40}(?:,| and| or)\b|\b(?:and|or) [\p{L}-]+$")
_FIXED = ("am", "is", "are", "used")
_TAG = re2.compile(r"(?i), (?:ja|oder|ne|gell|nicht wahr|ok|okay|d['’]accord|hein|non|no|vale|verdad)\?$")


# Where English says it otherwise: "I have 42 years", "I have fear of heights", "we move to Nantes in August".
_IDIOMS = (
    (re2.compile(r"\ba (appointment|exam|interview|operation|allergy|intolerance)\b"), r"an \1"),
    (re2.compile(r"\b(am|is|are) (?:gegen|auf) (.+?) allergi(?:c|sch)\b"), r"\1 allergic to \2"),
    (re2.compile(r"\b(am|is|are) (since [\w.]+(?: \d{4})?|for \w+ (?:years|months)) ([a-z]+)$"), r"\1 \3 \2"),
    (re2.compile(r"\bsince hace\b"), "for"),
    (re2.compile(r"^I am called (.+)$"), r"my name is \1"),
    (re2.compile(r"^I move to\b"), "I am moving to"),
    (re2.compile(r"^we move to\b"), "we are moving to"),
    (re2.compile(r"\bmoves to\b"), "is moving to"),
    (re2.compile(r"\bhave (\d+) years$"), r"am \1 years old"),
    (re2.compile(r"\bhas (\d+) years$"), r"is \1 years old"),
    (re2.compile(r"\b(have|has) (appointment|exam|interview|operation|flight)\b"), r"\1 an \2"),
    (re2.compile(r"\bhave fear of\b"), "am afraid of"),
    (re2.compile(r"\bhas fear of\b"), "is afraid of"),
)


def translated(sentence: str) -> tuple[str, ...]:
    """Return the clauses of a statement in English; empty for English, for questions and for what is not so."""
    tokens = tokens_of(_TAG.sub("", sentence))
    if not tokens or tokens[-1] == "?":
        return ()
    folded = [token.casefold() for token in tokens]
    marked = [grammar for grammar in GRAMMARS if is_in(grammar, folded)]
    for grammar in marked or (() if is_english(sentence) else GRAMMARS):
        if clauses := tuple(filter(None, (_written(each, grammar) for each in clauses_in(tokens, grammar)))):
            return clauses
    return ()


def _written(head: ForeignClause, grammar: Grammar) -> str:
    """Write a clause in English."""
    verb, rest = _tense(head, grammar)
    head = replace(head, verb=verb, rest=rest[: _end_of_clause(rest, grammar)])
    said = translated_object(head.rest, grammar, verb=head.verb)
    if head.verb == "be" and not head.negation:
        if work := _occupation(head.rest, grammar):
            head, said = replace(head, verb="work"), _employed(head.rest, work, grammar)
        elif grammar.code == "de" and said[:1].isupper() and said.startswith(head.rest[0]):
            return ""  # a name and any other noun look the same
    clause = " ".join(f"{head.subject} {_verb_group(head)} {_first_part(said)}".split())
    for idiom, english in _IDIOMS:
        clause = idiom.sub(english, clause)
    return clause


def _first_part(said: str) -> str:
    """Return what a clause says up to a comma, unless a list, a name or a number goes on behind it."""
    first, comma, more = said.partition(", ")
    goes_on = any(char.isdigit() for char in more) or _LISTS.search(more) is not None or more[:1].isupper()
    return said if not comma or goes_on else first


def _end_of_clause(rest: Sequence[str], grammar: Grammar) -> int:
    """Return where another clause begins, or a second complement: "aux arachides et à rien d'autre"."""
    folded = [token.casefold() for token in rest]
    for place, word in enumerate(folded):
        is_second = word in grammar.joints and folded[place + 1 : place + 2] and folded[place + 1] in grammar.places
        if word in grammar.subordinating or is_second:
            return place
    return len(rest)


def _tense(head: ForeignClause, grammar: Grammar) -> tuple[str, tuple[str, ...]]:
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


def _verb_group(head: ForeignClause) -> str:
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


def _fixed(head: ForeignClause, first: str, more: str) -> str:
    if head.negation == "not" and first in ("am", "is", "are", "can", "must"):
        return f"{first} not {more}".strip()
    if head.negation == "not":
        return f"did not {verbs.base_form(first)} {more}".strip()
    if head.negation and first in ("am", "is", "are", "can", "must"):
        return f"{first} {head.negation} {more}".strip()
    return f"{head.negation} {head.verb}".strip()
