"""Pronouns: what kind of thing each refers to, and which must not be left in a stored sentence."""

import re
from enum import StrEnum

from apps.pipeline.lexicon.kinship import Gender
from apps.pipeline.resolution.thing_pronouns import dangling_thing_in


class PronounKind(StrEnum):
    """What a pronoun refers to."""

    SPEAKER = "speaker"
    PERSON = "person"
    THING = "thing"
    UNKNOWN = "unknown"  # "we", "you", "this": no rule resolves them


_KINDS: dict[PronounKind, str] = {
    PronounKind.SPEAKER: "i me my mine myself",
    PronounKind.PERSON: "he him his himself she her hers herself they them their theirs themself themselves",
    PronounKind.THING: "it its itself",
    PronounKind.UNKNOWN: "we us our ours ourselves you your yours yourself yourselves this that these those",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}
_FEMALE = frozenset("she her hers herself".split())
_MALE = frozenset("he him his himself".split())
POSSESSIVES = frozenset("my mine his her hers their theirs its".split())


def kind_of(text: str) -> PronounKind | None:
    """Return what a pronoun refers to, or None if the text is no pronoun."""
    return _KIND_OF.get(text.strip().casefold())


def gender_of(text: str) -> Gender | None:
    """Return the gender of a pronoun; "they" has none."""
    word = text.strip().casefold()
    if word in _FEMALE:
        return Gender.FEMALE
    return Gender.MALE if word in _MALE else None


_FIRST_PERSON = re.compile(
    r"(?<![\w'.])(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|[Uu]s|[Oo]urs?|[Oo]urselves)(?!\w|\.\w|-\w)"
)
_SECOND_PERSON = re.compile(r"(?<![\w'])(?:you|your|yours|yourself)(?![\w])", re.IGNORECASE)
_THIRD_SUBJECT = re.compile(r"(?<![\w'])(?:he|she|they)(?!\w)", re.IGNORECASE)
_THIRD_OBJECT = re.compile(
    r"(?<![\w'])(?:him|them|her(?=\s*(?:[.,;:!?]|$|\s(?:to|at|in|on|for|with|and|or|by|from|about|when|a|an|the)\b)))(?!\w)",
    re.I,
)
_THIRD_POSSESSIVE = re.compile(r"(?<![\w'])(?:his|hers?|theirs?)(?!\w)", re.IGNORECASE)
_OF_MANY = re.compile(r"(?:they|them|theirs?|themselves)", re.IGNORECASE)
# A plural after a word that is no name: "likes horses", but not the verb in "Lena rides them".
_MANY = re.compile(
    r"\b[a-zà-ÿ'-]+ (?:people|children|men|women|(?!(?:this|is|has|was|does|his|its|as)\b)[a-z]{2,}[^s'\W]s)\b(?! $)"
)
# Several people by name: "Emil and Ida", "User and User's sister".
_SEVERAL = re.compile(r"\b[A-Z][\w'’-]* (?:and|&) (?:[A-Z]|(?:the|his|her) \w)")
# After these words somebody else acts, so an object can be the subject of the sentence: "people who celebrated her".
_CLAUSE = re.compile(
    r"\b(?:who|that|which|when|because|as|since|if|where|while|and (?:it|they))\b|, \w+ing\b", re.IGNORECASE
)
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|«[^»]*»')


def dangling_in(content: str, *, people: tuple[str, ...], others: tuple[str, ...] = ()) -> str | None:
    """Return the first pronoun of a sentence without an antecedent in the sentence, or None.

    `people` are the subjects of the sentence, `others` are further people whom it may name. In "Lena loves her job" a
    person precedes the pronoun; if there are several, the choice is left to the reader. "Lena met her" has no
    antecedent, because an object is never its own subject, unless a clause lies between them or the subject only
    belongs to that person: "Lena's dogs bring her joy". "Them" and "their" may refer to any plural before them. Words
    inside quotation marks are ignored.
    """
    text = _QUOTED.sub('""', content)
    everyone = tuple({*people, *others})
    unexplained = _first_of(text, _FIRST_PERSON, _SECOND_PERSON) or dangling_thing_in(text, people=everyone)
    if unexplained:
        return unexplained
    patterns = ((_THIRD_OBJECT, everyone, 2), (_THIRD_SUBJECT, people, 1), (_THIRD_POSSESSIVE, people, 1))
    for pattern, named, wanted in patterns:
        for found in pattern.finditer(text):
            before = _people_before(text, people=named, end=found.start())
            if before + _helps(text[: found.start()], found.group(), before, wanted, everyone) < wanted:
                return found.group()
    return None


def _helps(before: str, pronoun: str, people: int, least: int, named: tuple[str, ...]) -> int:
    """Return the number of people that other expressions in the sentence stand in for."""
    if _OF_MANY.fullmatch(pronoun) and (_MANY.search(before) or _SEVERAL.search(before)):
        return least - people
    is_owner = any(name and re.match(rf"{re.escape(name)}['’]s? ", before) for name in named)
    return 1 if people == 1 and least == 2 and (is_owner or _CLAUSE.search(before)) else 0


def _first_of(text: str, *patterns: re.Pattern[str]) -> str | None:
    found = (pattern.search(text) for pattern in patterns)
    return next((match.group() for match in found if match), None)


def _people_before(text: str, *, people: tuple[str, ...], end: int) -> int:
    return sum(
        1 for name in people if name and name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text[:end])
    )
