"""Names and descriptions: which spellings are one name, and what stands for one: "my manager", "Priya's brother"."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.policy import ResolutionPolicy
from apps.pipeline.core.spelling import similarity
from apps.pipeline.lexicon.kinship import relation_noun

# Adjectives that don't change who is meant; "older", "former" or "best" do, and stay part of the noun.
_MODIFIERS = r"(?:(?:new|current|dear|own|lovely|whole)\s++)*"
_OWNED = re.compile(rf"^(?P<owner>my|his|her|their|its|.+?['’]s?)\s+{_MODIFIERS}(?P<rest>\S.*)$", re.IGNORECASE)
_OF = re.compile(r"^(?:the|a|an)\s+(?P<noun>[\w-]+)\s+of\s+(?P<owner>\S.*)$", re.IGNORECASE)
_DEFINITE = re.compile(rf"^(?:the|this|that)\s+{_MODIFIERS}(?P<noun>[\w-]+)$", re.IGNORECASE)
_RELATION_OF = re.compile(r"^(?:is_)?(?P<noun>[a-z_]+?)_(?:of|to)$")
_PREPOSITIONS = frozenset("at by for from in near of on to with".split())
_MOST_OWNER = 120  # characters of the owner's name in an apposition; the display name of a speaker may be any text
_ARTICLE = re.compile(r"^(?:the|a|an|der|die|das|el|la|le|les|il)\s+")
_LEGAL_FORM = re.compile(r"[\s,]+(?:inc|ltd|llc|plc|corp|co|gmbh|ag|kg|s\.?a|b\.?v|oy|ab)\.?$")
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "`": "'"})
_DIGITS = re.compile(r"\d+")
_SHORT = 8  # a shorter single word must be equal: it has too few letters to tell a typing error from another name


_BOTH = re.compile(r"^(?P<name>[^()\s][^()]*)\((?P<other>[^()]+)\)$")


def both_names(text: str) -> tuple[str, str]:
    """Return a name and the other one that stands behind it in brackets, as in "Letizia (Leti)", or an empty text."""
    found = _BOTH.match(text)
    return (found["name"].strip(), found["other"].strip()) if found else (text, "")


@dataclass(frozen=True, slots=True)
class Description:
    """A phrase that refers to something by its relation to someone."""

    noun: str
    owner: str = ""  # as written: "my", "her", "Priya"; empty for "the company"
    name: str = ""  # of an apposition: "my manager Priya"


def describe(text: str) -> Description | None:
    """Parse a description; return None for a plain name.

    After a possessive the noun must be a known relation noun or lower-case, so that "Levi's Stadium" stays a name.
    """
    phrase = text.strip().replace("’", "'")
    if found := _DEFINITE.match(phrase):
        noun = found["noun"]
        return Description(noun=noun.casefold()) if noun.islower() else None
    if found := _OF.match(phrase):
        return _owned(found["owner"], found["noun"])
    if found := _OWNED.match(phrase):
        owner = re.sub(r"'s?$", "", found["owner"])
        return _owned(owner, found["rest"])
    return None


def _owned(owner: str, rest: str) -> Description | None:
    """Return a description; its rest may be an apposition, of a noun and a name: "manager Priya Rao"."""
    words = rest.replace(",", " ").split()
    nouns = [word for word in words if not is_proper_name(word)]
    if not nouns or words[: len(nouns)] != nouns or nouns[-1].casefold() in _PREPOSITIONS:
        noun, name = rest.strip(), ""  # "flat in Ottensen" is no apposition
    else:
        noun, name = " ".join(nouns), " ".join(words[len(nouns) :])
    if not noun or (relation_noun(noun) is None and not noun.islower()):
        return None
    return Description(noun=noun.casefold(), owner=owner, name=name)


def apposition_of(name: str, *, sentence: str) -> Description | None:
    """Return the apposition to a name in a sentence: "Lena, User's sister, lives in York"."""
    found = re.search(rf"\b{re.escape(name)}, (?P<phrase>[^,;]{{1,{_MOST_OWNER}}}?['’]s [^,;.()]+)[,;.)]", sentence)
    described = describe(found["phrase"]) if found else None
    return described if described and not described.name and relation_noun(described.noun) else None


def alias_of(*, owner_name: str, noun: str) -> str:
    """Return the alias of a description: "User's manager"."""
    return f"{owner_name}'s {noun}"


def is_description(name: str) -> bool:
    """Return True if a name is only a description."""
    return describe(name) is not None


def is_proper_name(text: str) -> bool:
    """Return True if a text is written like a name: one word starts with a capital, or its script has no case."""
    return any(word[0].isupper() or (word[0].isalpha() and word.lower() == word.upper()) for word in text.split())


def noun_of_relation(predicate: str) -> tuple[str, bool] | None:
    """Return the relation noun in a predicate; the flag is True if the noun describes the subject.

    "sister_of" gives ("sister", True), "has_manager" and "manager" give ("manager", False).
    """
    found = _RELATION_OF.match(predicate)
    noun = (found["noun"] if found else predicate.removeprefix("has_")).replace("_", " ")
    return (noun, found is not None) if relation_noun(noun) else None


def fold_name(name: str) -> str:
    """Fold case, accents, width, white space, a leading article and a legal form: "The Café GmbH" becomes "cafe"."""
    plain = unicodedata.normalize("NFKD", name.translate(_APOSTROPHES)).casefold()
    unaccented = "".join(each for each in plain if not unicodedata.combining(each))
    spaced = " ".join(unaccented.split()).strip(" .,;:!?\"'")
    return _LEGAL_FORM.sub("", _ARTICLE.sub("", spaced)) or spaced


def by_first_name(name: str, *, among: Iterable[KnownEntity]) -> KnownEntity | None:
    """Return the only person whose full name begins with this one word, or None."""
    word = fold_name(name)
    if not word or " " in word:
        return None
    people = (entity for entity in among if entity.type is EntityType.PERSON)
    found = [each for each in people if any(fold_name(own).startswith(f"{word} ") for own in _own_names(each))]
    return found[0] if len(found) == 1 else None


def closest(name: str, *, among: Iterable[KnownEntity], policy: ResolutionPolicy) -> KnownEntity | None:
    """Return the entity whose spelling is close enough and clearly closer than any other's, or None."""
    folded = fold_name(name)
    least = policy.fuzzy_accept - policy.fuzzy_margin  # what is less alike decides nothing
    scored: list[tuple[float, KnownEntity]] = []
    for entity in among:
        spellings = map(fold_name, _own_names(entity))
        comparable = (each for each in spellings if _comparable(folded, each, kind=entity.type))
        alike = (similarity(folded, each, least=least) for each in comparable)
        scored.append((max(alike, default=0.0), entity))
    scored.sort(key=lambda each: -each[0])
    if not scored or scored[0][0] < policy.fuzzy_accept:
        return None
    runner_up = scored[1][0] if len(scored) > 1 else 0.0
    return scored[0][1] if scored[0][0] - runner_up >= policy.fuzzy_margin else None


def _own_names(entity: KnownEntity) -> list[str]:
    return [spelling for spelling in (entity.name, *entity.aliases) if not is_description(spelling)]


def _comparable(one: str, two: str, *, kind: EntityType) -> bool:
    """Return False if similarity proves nothing: Sam and Samantha, Daniel and Daniela, Model 3 and Model 4.

    Joining two people is worse than splitting one.
    """
    words, others = one.split(), two.split()
    if not words or len(words) != len(others) or _DIGITS.findall(one) != _DIGITS.findall(two):
        return False
    if kind is EntityType.PERSON:
        return len(words) > 1 and words[0] == others[0]
    return len(words) > 1 or min(len(one), len(two)) >= _SHORT
