"""Pronouns: what kind of thing each refers to, and which must not be left in a stored sentence."""

import re
from enum import StrEnum

from apps.pipeline.lexicon.kinship import Gender


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
_GENDERS = {
    **dict.fromkeys("she her hers herself".split(), Gender.FEMALE),
    **dict.fromkeys("he him his himself".split(), Gender.MALE),
}
_POSSESSIVES = frozenset("my mine his her hers their theirs its".split())


def kind_of(text: str) -> PronounKind | None:
    """Return what a pronoun refers to, or None if the text is no pronoun."""
    return _KIND_OF.get(text.strip().casefold())


def gender_of(text: str) -> Gender | None:
    """Return the gender of a pronoun; "they" has none."""
    return _GENDERS.get(text.strip().casefold())


# "Her" before one of these words, or at the end, is an object ("told her about it"), before others a possessive.
_OBJECT_FOLLOWS = r"\s*(?:$|[.,;:!?)]|\s(?:to|at|in|on|for|with|and|or|by|from|about|when|a|an|the)\b)"
_FIRST_PERSON = r"(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|[Uu]s|[Oo]urs?|[Oo]urselves)(?!\w|\.\w|-\w)"
_SECOND_PERSON = r"(?i:you|your|yours|yourself)(?!\w)"
_TALKERS = re.compile(rf"(?<![\w'.])(?:{_FIRST_PERSON}|{_SECOND_PERSON})")
_OPENING = re.compile(r"^(?:it|this|that|these|those)(?:'s)?\b(?!\s+\w+\s+that\b)", re.IGNORECASE)
_THING = re.compile(r"(?<![\w'])(?:it(?![\w'])|(?:this|that|these|those)(?=\s*(?:[.,;:!?]|$)))", re.IGNORECASE)
_EMPTY = re.compile(r"\b(?:find|found|make|made|think)s? it (?:\w+ )?(?:to|that)\b", re.IGNORECASE)
_OBJECT = re.compile(rf"(?<![\w'])(?:him|them|her(?={_OBJECT_FOLLOWS}))(?!\w)", re.IGNORECASE)
_OTHER_FORM = re.compile(r"(?<![\w'])(?:he|she|they|his|hers?|theirs?)(?!\w)", re.IGNORECASE)
# A thing that "it" may be: "the guitar", "User's bike".
_NOUN = re.compile(r"(?i)\b(?:an?|the|their|his|her|this|that|some|two|three|\d+|[a-z][\w-]*['’]s) [a-z]")
# After these words somebody else may act, so that an object can be the subject of the sentence.
_CLAUSE = re.compile(
    r"\b(?:who|that|which|when|because|as|since|if|where|while|and|but|among)\b|[;:]|['’]s? |, \w+ing\b", re.IGNORECASE
)
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|«[^»]*»')


def dangling_in(content: str, *, people: tuple[str, ...]) -> str | None:
    """Return the first pronoun of a sentence without an antecedent in the sentence, or None.

    In "Lena loves her job" a person precedes the pronoun; if there are several, the choice is left to the reader.
    "Lena met her" has no antecedent, because an object is never its own subject, unless a clause lies between them or
    the subject only belongs to that person: "Lena's dogs bring her joy". Words inside quotation marks are ignored.
    """
    text = _EMPTY.sub(lambda empty: "x" * len(empty.group()), _QUOTED.sub('""', content))
    if unexplained := _TALKERS.search(text) or _OPENING.search(text):
        return unexplained.group()
    for found in _THING.finditer(text):
        before = text[: found.start()]
        if not _NOUN.search(before) and not _CLAUSE.search(before):
            return found.group()
    for pattern, wanted in ((_OBJECT, 2), (_OTHER_FORM, 1)):
        for found in pattern.finditer(text):
            before = text[: found.start()]
            named = sum(holds(before, name) for name in people)
            if " and " in before and found.group().casefold().startswith("the"):  # "Emil and Ida sold their car"
                continue
            if named < wanted and not (named == 1 and _CLAUSE.search(before)):
                return found.group()
    return None


def holds(text: str, words: str) -> bool:
    """Return True if a text contains some whole words, ignoring case."""
    if not words or words.casefold() not in text.casefold():
        return False
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) is not None


def replace_mentions(content: str, *, names: dict[str, str]) -> str:
    """Replace each mention by its name in one pass, the longest first, with "'s" where a possessive pronoun stood."""
    wanted = {text.casefold(): name for text, name in names.items() if text and text != name}
    if not wanted:
        return content
    longest_first = sorted((text for text in names if text.casefold() in wanted), key=len, reverse=True)
    # Names in their exact case, pronouns and descriptions in either case.
    in_either = {text for text in longest_first if kind_of(text) or text[:1].islower() or " " in text}
    phrases = [f"(?i:{re.escape(text)})" if text in in_either else re.escape(text) for text in longest_first]
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)")

    def name_of(found: re.Match[str]) -> str:
        word = found.group().casefold()
        if content.endswith(f"{wanted[word]}, ", 0, found.start()):  # "Lena, User's sister,": who somebody is
            others = {text: name for text, name in names.items() if text.casefold() != word}
            return replace_mentions(found.group(), names=others)
        is_object = word == "her" and re.match(_OBJECT_FOLLOWS, content[found.end() :])
        return f"{wanted[word]}'s" if word in _POSSESSIVES and not is_object else wanted[word]

    written = pattern.sub(name_of, content)
    for name in set(wanted.values()):
        written = written.replace(f"{name} ({name})", name)  # "User (Kim)"
    return written
