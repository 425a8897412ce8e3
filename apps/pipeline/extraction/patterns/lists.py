"""Lists in one sentence: a stack of tools, children or pets by name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import re2

from apps.pipeline.core.statement import Mention
from apps.pipeline.extraction.patterns.catalogue import BY_NAME
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.extraction.patterns.relation_statements import RelationStatement, tie_to
from apps.pipeline.lexicon.calendar import NAMES
from apps.pipeline.lexicon.kinship import ANIMALS, forms_of_kin, singular_of
from apps.pipeline.lexicon.tables import alternation

_STACK = re2.compile(
    r"(?i)^(?:my|our|the) (?:(?:tech|technology|current|usual|whole|web|backend|back-end|frontend|front-end|data|full) )*(?:stack|tech|toolchain|tooling)(?: is| are|'s| consists of| includes)?(?: now| currently)?:? (?P<items>.+)$"
)
_NEXT_ITEM = re.compile(r",? (?:and|plus|with|on) |, | ?[&+] ")
_TOOL = re2.compile(r"^[\w@][\w.+#/-]*(?: [\w.+#/-]+){0,2}$")
_NO_TOOL = re2.compile(
    r"(?i)^(?:a|an|the|my|our|some|all|very|so|not|too|quite|really|pretty|old|new|i|we|it|is|are)\b"
)

_COUNT = r"(?:a|two|three|four|five|six|seven|\d)"
_KINDS = {**dict.fromkeys(("kids", "children", "kiddos"), "child"), "boys": "son", "girls": "daughter"}
_PETS = {word for word in ANIMALS if singular_of(word) != word}
_SEVERAL = alternation(
    {*_KINDS, *_PETS, *(word for word in forms_of_kin("child", "sibling") if singular_of(word) != word)}
)
_NAME = r"\p{Lu}[\p{L}'-]+"
_AGED = rf"{_NAME}(?: \(\d{{1,2}}\))?"
_NAMES = rf"(?P<names>{_AGED}(?:, {_AGED}){{0,6}},? (?:and|&) {_AGED})"
_HAS_SEVERAL = re2.compile(
    rf"^(?:(?i:I|we)(?: have|'ve got| have got| got)|(?i:meet)) (?P<what>(?:{_COUNT} )?(?:[a-z]+ )?(?P<kind>{_SEVERAL}))(?P<joint>,|:| -| –|,? named|,? called) {_NAMES}(?:[.,;!]|$| )"
)
# "The brothers are Romulus and Remus" tells of others: only of children and pets is "the" said of one's own.
_OWN = alternation({*(word for word in _KINDS if _KINDS[word] == "child"), *_PETS})
_ARE_CALLED = re2.compile(
    rf"^(?:(?i:my|our) (?:{_COUNT} )?(?:[a-z]+ )?(?P<kind>{_SEVERAL})(?:'s names)?(?: are(?: called| named)?|,|:)|(?i:the) (?P<own_kind>{_OWN}) are(?: called| named)?) {_NAMES}(?:[.,;!]|$| )"
)
_NO_NAME = re2.compile(rf"(?i)^(?:{alternation(NAMES)})$")
_ALLERGIES = re2.compile(r"(?i)^(?:my )?(?:food )?allerg(?:y|ies)(?: are| is| include)?:? (?P<items>[^.!?:;(]+)[.!]*$")
_SUBSTANCE = re2.compile(r"(?i)^(?:[a-z-]{3,}(?: [a-z-]+){0,2})$")
_NO_SUBSTANCE = re2.compile(r"(?i)^(?:none|nil|nkda|nothing|unknown|no|not)\b")
_ALLERGIC_TO = BY_NAME["allergic_to"]
_USES = BY_NAME["uses"]
_HAS_CHILDREN = BY_NAME["has_children"]
_HAS_PET = BY_NAME["has_pet"]


@dataclass(frozen=True, slots=True)
class Listed:
    """An item of a list, as its own memory."""

    row: Pattern
    value: str
    content: str


def stack_in(sentence: str, *, name: str) -> tuple[Listed, ...]:
    """Parse "my stack is Django, htmx and Postgres 16" as one tool each; empty if one of them is no name."""
    found = _STACK.match(sentence) if "stack" in sentence or "tool" in sentence or "tech" in sentence else None
    if found is None:
        return ()
    items = [item.strip(" .!") for item in _NEXT_ITEM.split(found.group("items"))]
    if not all(_TOOL.match(item) and not _NO_TOOL.match(item) for item in items) or _is_plain(items):
        return ()
    return tuple(Listed(row=_USES, value=item, content=f"{name} uses {item}.") for item in items)


def _is_plain(items: list[str]) -> bool:
    """Return True if nothing is named: "our stack is huge"."""
    return not any(any(char.isupper() or char.isdigit() for char in item) for item in items)


def allergies_in(sentence: str, *, name: str) -> tuple[Listed, ...]:
    """Parse "my allergies: peanuts, latex" as one allergy each."""
    found = _ALLERGIES.match(sentence) if "llerg" in sentence else None
    items = [item.strip(" .!") for item in _NEXT_ITEM.split(found.group("items"))] if found else []
    if not all(_SUBSTANCE.match(item) and not _NO_TOOL.match(item) and not _NO_SUBSTANCE.match(item) for item in items):
        return ()
    return tuple(Listed(row=_ALLERGIC_TO, value=item, content=f"{name} is allergic to {item}.") for item in items)


def family_in(sentence: str, *, speaker: Mention) -> Iterator[Listed | RelationStatement]:
    """Parse "we have two kids, Mira and Tobias" as their number, and the relation of each to the speaker."""
    if " and " not in sentence and "&" not in sentence:
        return
    owned = _HAS_SEVERAL.match(sentence)
    found = owned or _ARE_CALLED.match(sentence)
    if found is None:
        return
    kind = (found.group("kind") or found.group("own_kind")).lower()
    word = _KINDS.get(kind) or singular_of(kind)
    names = [each.partition(" (")[0] for each in _NEXT_ITEM.split(found.group("names"))]
    if any(map(_NO_NAME.match, names)):
        return
    if owned is not None:
        what = f"{owned.group('what')}{owned.group('joint')} {owned.group('names')}"
        row = (
            _HAS_PET
            if word in ANIMALS
            else _HAS_CHILDREN
            if word in forms_of_kin("child")
            else BY_NAME["has_relatives"]
        )
        yield Listed(row=row, value=what, content=f"{speaker.text} has {what}.")
    yield from (tie_to(speaker, word=word, name=name) for name in names)
