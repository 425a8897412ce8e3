"""The grammar of German, French and Spanish statements as data: what each word of a clause is in English."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import re2

from apps.pipeline.lexicon.function_words import FRAME, SMALL
from apps.pipeline.lexicon.tables import read_table

_LANGUAGES = ("de", "fr", "es")
# Elided words stand apart from the word that they lean on: "j'ai" is "j'" and "ai".
_TOKEN = re.compile(
    r"(?i)\b(?:[cdjlmnst]|qu|jusqu)['’](?=\w|$)|\b\d{1,2}\.(?= \w)|\b(?:dr|prof|hr|fr|st|mr|mrs|ms)\.(?= )"
    r"|\w++(?:[-'’./]\w++)*|[^\w\s]"
)
Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language; its words are folded, phrases are tuples of tokens."""

    code: str
    pronouns: Mapping[str, str]
    possessives: Mapping[str, str]
    markers: frozenset[str]
    joints: frozenset[str]
    contrast: str
    openers: frozenset[Phrase]
    subordinating: frozenset[str]
    before: Mapping[Phrase, str]
    after: Mapping[Phrase, str]
    verbs: Mapping[Phrase, str]
    participles: Mapping[str, str]
    words: Mapping[Phrase, str]
    nouns: frozenset[Phrase]
    places: frozenset[str]
    at: frozenset[str]
    imperatives: Mapping[str, str]
    always: frozenset[str]
    bare_only_negated: frozenset[str]
    occupation: "re2._Regexp[str]"
    no_occupation: "re2._Regexp[str]"


def tokens_of(text: str) -> tuple[str, ...]:
    """Cut a text into words and signs."""
    return tuple(found.group().replace("’", "'") for found in _TOKEN.finditer(text))


def _phrase(said: str) -> Phrase:
    return tokens_of(said.casefold())


def _set(said: str) -> frozenset[str]:
    return frozenset(said.split())


def _forms(table: Mapping[str, str]) -> Iterator[tuple[Phrase, str]]:
    """Yield each form with its English."""
    for english, forms in table.items():
        for form in forms.split("|") if "|" in forms else forms.split():
            if form:
                yield _phrase(form), english


def _nouns() -> dict[str, dict[Phrase, str]]:
    """Return the nouns that all languages share a table of; a word of one language means nothing else in another."""
    shared: dict[Phrase, str] = {}
    for kind in read_table("translated_nouns").values():
        shared.update(_forms(kind))
    relatives = read_table("foreign_phrases")["relatives"]
    return {code: shared | dict(_forms(relatives[code]["words"])) for code in _LANGUAGES}


def _grammar(code: str, table: Mapping[str, Any], nouns: Mapping[Phrase, str]) -> Grammar:
    possessives = dict.fromkeys(table["my"].split(), "my") | dict.fromkeys(table["our"].split(), "our")
    words = {_phrase(said): english for said, english in table["words"].items()}
    return Grammar(
        code=code,
        pronouns=table["pronouns"],
        possessives=possessives,
        markers=_set(table["markers"]) | set(table["imperatives"]),
        joints=_set(table["joints"]),
        contrast=table["contrast"],
        openers=frozenset(map(_phrase, table["openers"].split())),
        subordinating=_set(table["subjunctive"]),
        before={_phrase(said): english for said, english in table["before"].items()},
        after={_phrase(said): english for said, english in table["after"].items()},
        verbs=dict(_forms(table["verbs"])),
        participles={form[0]: english for form, english in _forms(table["participles"])},
        words={**nouns, **{(word,): english for word, english in possessives.items()}, **words},
        nouns=frozenset(nouns),
        places=_set(table["places"]),
        at=_set(table["at"]),
        imperatives=table["imperatives"],
        always=_set(table["always"]),
        bare_only_negated=_set(table.get("bare_only_negated", "")),
        occupation=re2.compile(rf"^(?:{table['occupation']})$"),
        no_occupation=re2.compile(rf"(?i)^(?:{table['no_occupation']})$"),
    )


def _grammars() -> Iterator[Grammar]:
    tables, nouns = read_table("translation"), _nouns()
    for code in _LANGUAGES:
        yield _grammar(code, tables[code], nouns[code])


GRAMMARS: tuple[Grammar, ...] = tuple(_grammars())
_LETTERS = re.compile(r"[^\W\d_]+")


def _telling_words() -> frozenset[str]:
    """Return the words of the grammars that are no frequent words of English."""
    phrases = (phrase for grammar in GRAMMARS for phrase in (*grammar.words, *grammar.verbs, *grammar.before))
    words = {word for phrase in phrases for part in phrase for word in _LETTERS.findall(part)}
    markers = {word for grammar in GRAMMARS for marker in grammar.markers for word in _LETTERS.findall(marker)}
    return frozenset(word for word in words | markers if word not in FRAME | SMALL and len(word) > 1)


_TELLING = _telling_words()


def may_be_foreign(text: str) -> bool:
    """Return False if a text holds no word of the grammars: nothing in it can be read by them."""
    return not _TELLING.isdisjoint(_LETTERS.findall(text.casefold()))
