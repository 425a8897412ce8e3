"""Statements in German, French and Spanish, above all about health, because missed allergies are dangerous.

They become English sentences with unchanged names and substances.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import re2

from apps.pipeline.core.statement import Mention
from apps.pipeline.extraction.patterns.catalogue import BY_NAME
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.extraction.patterns.relation_statements import RelationStatement, tie_to
from apps.pipeline.lexicon.health_terms import DOSE, MEDICINE, english_medicine
from apps.pipeline.lexicon.tables import alternation, read_table

_DIETS = {
    "vegan": r"v[eé]gan(?:e|er|erin|o|a)?", "vegetarian": r"v[eé]g[eé]tari(?:sch|er|erin|en|enne|ano|ana)", "pescatarian": r"pesc[ae]tari(?:er|erin|en|ano|ana)",
}  # fmt: skip
_CONDITIONS = r"diab[eèé]t\w*(?: typ ?\d| de type \d| tipo \d)?|asthma\w*|asma|epilepsi\w*|épilepsie|zöliakie|cœliaque|maladie cœliaque|celiaquía|migräne|migraines?|bluthochdruck|hypertension|hipertensión|gicht|rheuma|neurodermitis|arthrose|osteoporose"
_PLACES = {
    "NAME": r"(?P<object>(?-i:\p{Lu})[\p{L}'’-]+(?:(?: | de | am | an der )(?-i:\p{Lu})[\p{L}'’-]+){0,2})",
    "OBJECT": r"(?P<object>[\p{L}-]{3,}(?: (?:und|et|y|oder|ou|o) [\p{L}-]{3,})?)",
    "MEDICINE": rf"(?P<object>{MEDICINE})(?:,? (?:[\p{{L}}]+,? ){{0,2}}?(?P<dose>{DOSE}))?",
    "CONDITION": rf"(?P<object>{_CONDITIONS})",
    "DIET": rf"(?P<object>{'|'.join(_DIETS.values())})",
}
_END = r"(?:[\s.,;:!?…)]|$)"
_NO_OBJECT = frozenset(
    "das die der den dem es alles nichts etwas jemand jeden jede dich euch sie ihn mehr hunger lust zeit ahnung problem nicht nie "
    "ça cela tout rien que qui lo la el todo nada más eso esto heute aujourd hoy ich auch aber und".split()
)  # fmt: skip
# Where nobody says it of themselves now.
_TAG = re2.compile(r"(?i), (?:ja|oder|ne|gell|nicht wahr|ok|okay|d['’]accord|hein|non|no|vale|verdad)\?$")
_NOT_MEANT = re2.compile(r"(?i)\?$|^(?:wenn|falls|si|ob) |\b(?:wäre|hätte|würde|serais|sería)\b")


@dataclass(frozen=True, slots=True)
class ForeignStatement:
    """A statement of the speaker, in English."""

    row: Pattern
    value: str
    content: str
    is_negated: bool


@dataclass(frozen=True, slots=True)
class _Form:
    expression: "re2._Regexp[str]"
    row: Pattern
    says: str
    is_negated: bool


_TABLE = read_table("foreign_phrases")


def _forms() -> Iterator[_Form]:
    for statement in _TABLE["statement"]:
        for written in statement["expressions"]:
            expression = written
            for place, group in _PLACES.items():
                expression = expression.replace(place, group)
            yield _Form(
                expression=re2.compile(rf"(?i)(?:^|[\s,;:.(]){expression}{_END}"),
                row=BY_NAME[statement["pattern"]],
                says=statement["says"],
                is_negated=statement.get("denies", False),
            )


_FORMS = tuple(_forms())
_RELATIVES = {
    word: english
    for table in _TABLE["relatives"].values()
    for english, words in table["words"].items()
    for word in words.split()
}
_RELATIVES |= {
    word: english for english, words in read_table("translated_nouns")["doctors"].items() for word in words.split()
}
_POSSESSIVES = {word for table in _TABLE["relatives"].values() for word in table["possessives"].split()}
_MY = f"(?:{alternation(_POSSESSIVES)})"
_NAME = r"(?P<name>(?-i:(?:Dr|Prof)\.? )?(?-i:\p{Lu}\p{Ll})[\p{L}'’-]+)"
# "meine Schwester Gerda", "Solène, ma belle-fille"
_TIES = (
    re2.compile(rf"(?i)(?:^|[\s,;:.(]){_MY} (?P<word>{alternation(_RELATIVES)}),? {_NAME}"),
    re2.compile(rf"(?i)(?:^|[\s,;:.(]){_NAME}(?:,| \() ?{_MY} (?P<word>{alternation(_RELATIVES)}){_END}"),
)


def foreign_ties_in(sentence: str, *, speaker: Mention) -> Iterator[RelationStatement]:
    """Yield who is named as a relative of the speaker in a sentence in German, French or Spanish."""
    for expression in _TIES:
        for found in expression.finditer(sentence):
            yield tie_to(speaker, word=_RELATIVES[found.group("word").lower()], name=found.group("name"))


def foreign_statements_in(sentence: str, *, name: str) -> tuple[ForeignStatement, ...]:
    """Return what a sentence in German, French or Spanish says of its speaker."""
    if _NOT_MEANT.search(_TAG.sub("", sentence)):
        return ()
    return tuple(_found(sentence, name))


def _found(sentence: str, name: str) -> Iterator[ForeignStatement]:
    told: set[str] = set()
    for form in _FORMS:
        match = form.expression.search(sentence)
        value = (match.group("object") or "") if match else ""
        if match is None or value.casefold() in _NO_OBJECT | told:
            continue
        told.add(value.casefold())
        value = _in_english(value, form)
        dose = match.group("dose") if "dose" in match.groupdict() else None
        what = f"{value} {dose}" if dose else value
        yield ForeignStatement(form.row, value, form.says.format(name=name, object=what), form.is_negated)


def _in_english(value: str, form: _Form) -> str:
    """Name diets in English and medicines in small letters, so that they meet what was said in English."""
    if form.row.predicate == "diet":
        return next(diet for diet, words in _DIETS.items() if re2.match(rf"(?i)^(?:{words})$", value))
    return english_medicine(value) if form.row.predicate == "takes_medication" else value
