"""Conversion of the first person to the third: "my dog" → "Ana's dog", "the house I built" → "the house Ana built"."""

import re

from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.calendar import MONTHS

_FIRST_PERSON = re.compile(
    r"\b(?:(?P<subject>I|i|we|We)(?P<short>'(?:m|ve|d|ll|re))?(?:\s+(?P<adverb>(?:also|always|really|never|still|just|often|usually|once|finally|last|first|recently)\s+)?(?P<verb>[A-Za-z']+))?"
    r"|(?P<short_i>[Ii](?:m|ve))\s+(?P<verb2>[A-Za-z]+)"
    r"|(?P<possessive>[Mm]y|[Oo]ur|[Mm]ine|[Oo]urs)|(?P<object>me|us|Me)|(?P<self>[Mm]yself|[Oo]urselves))\b(?!')"
)
_SHORT = {"'m": "is", "'re": "is", "'ve": "has", "'ll": "will", "'d": "would"}
_LEFT_OVER = re.compile(r"(?i)\b(?:i|i'\w+|im|ive|me|my|mine|myself|we|we'\w+|us|our|ours|ourselves)\b")
_DIRECT_ADDRESS = re.compile(r"(?i)\b(?:you|your|yours|yourself|u|ur|ya|y'all|you'\w+)\b")


def third_person(text: str, *, name: str) -> str:
    """Replace the first person in `text` by `name`, with verbs that agree."""
    return _FIRST_PERSON.sub(lambda match: _replace(match, name), text)


def speaks_in_first_person(text: str, *, name: str) -> bool:
    """Return True if first-person words are left, except those that belong to the name itself."""
    return _LEFT_OVER.search(_without(name, text)) is not None


def addresses_someone(text: str, *, name: str) -> bool:
    """Return True if the text addresses "you": such a statement is about the conversation."""
    return _DIRECT_ADDRESS.search(_without(name, text)) is not None


def _without(name: str, text: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "", text)


def without_echo(content: str, *, name: str, people: frozenset[str]) -> str:
    """Write "Ana lost their keys" for "Ana lost Ana's keys", where "their" can mean nobody else.

    A description of someone in `people` ("Ana's sister") stays, for it is resolved as a whole.
    """
    if _OTHERS.search(content) or _NAMES.search(content.replace(name, "")):
        return content
    echo = re.compile(rf"(?<=\s){re.escape(name)}'s (?P<first>[\w-]+)(?P<second> [\w-]+)?(?P<third> [\w-]+)?")
    return echo.sub(lambda found: _possessive(found, people), content)


_OTHERS = re.compile(r"(?i)\b(?:they|them|their|theirs|he|him|his|she|her|hers|people|everyone|others|kids|friends)\b")
_NAMES = re.compile(rf"(?<=\s)(?!(?:{'|'.join(map(str.capitalize, MONTHS))}|\w+day)\b)[A-ZÀ-Þ][a-zà-ÿ]+")


def _possessive(found: re.Match[str], people: frozenset[str]) -> str:
    words = found.group().split()[1:]
    return found.group() if people & {*words} else " ".join(("their", *words))


def _replace(match: re.Match[str], name: str) -> str:
    if match["possessive"]:
        return f"{name}'s"
    if match["object"]:
        return name
    if match["self"]:
        return "themselves"
    if match["short_i"]:
        return f"{name} {'is' if match['short_i'].lower() == 'im' else 'has'} {match['verb2']}"
    return _subject(match, name)


def _subject(match: re.Match[str], name: str) -> str:
    adverb, verb = match["adverb"] or "", match["verb"] or ""
    if match["short"]:
        return f"{name} {_SHORT[match['short']]} {adverb}{verb}".rstrip()
    if not verb:
        return name
    if verb.lower() in ("don't", "dont"):
        return f"{name} {adverb}does not"
    return f"{name} {adverb}{verbs.third_person(verb)}"
