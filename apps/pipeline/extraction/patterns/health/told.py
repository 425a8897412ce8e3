"""HealthStatement: what a clause says about somebody's health, before it becomes a candidate."""

from dataclasses import dataclass

import re2

from apps.pipeline.extraction.patterns.health.owner import Owner


@dataclass(frozen=True, slots=True)
class HealthStatement:
    """A statement about one thing: a medicine, a condition, a food or an aid."""

    owner: Owner
    row: str  # the name of a pattern, whose type, predicate and importance it has
    thing: str  # the object, for comparisons
    phrase: str  # what is said of the owner: "takes ramipril 5 mg"
    is_negated: bool = False
    sentence: str = ""  # where the owner is not the subject: "Iron makes User constipated"

    @property
    def content(self) -> str:
        """Return the sentence."""
        return f"{self.sentence or f'{self.owner.text} {self.phrase}'}."


# What is asked, imagined, advised or only thought of says nothing about anybody's health.
_OPEN = re2.compile(
    r"(?i)[?]|\b(?:if|unless|whether|would|could|(?-i:might|may)|maybe|perhaps|possibly|should i|i should (?:be )?(?:take|taking|try)|shall i|consider\w*|suggest\w*|wish|hope|hopes|hoping|afraid of|swears? by"
    r"|recommend\w*|thinks?|thinking (?:of|about)|thought (?:(?:i|he|she|it|that|we|they) (?:was|were|had|might)|my \w+ (?:was|had))|suspect(?:s|ed|ing)?|reckons?|wonder\w*|worried|supposed to have|used to|joke|joking|kidding|imagine|pretend|(?:read|heard|saw|learned) (?:that|about|somewhere)|what about|instead of|rather than|like an?|rumou?r\w*"
    r"|article|recipes?|ideas?|research\w*|study|studies|patients?|customers?|clients?|everyone|everybody|anyone|anybody|neither|(?:(?:wo)?men|children|folks|those) (?:who|with)|people|somebody|someone)\b"
)


# "I have been a customer of yours": the speaker is one.
_BEING_ONE = re2.compile(
    r"(?i)\b(?:am|is|was|been|being|as|['’]m|become|became) (?:an? |your )(?:\w+ )?(?:customers?|clients?|patients?|people)\b"
)


def is_open(clause: str) -> bool:
    """Return True if a clause leaves open whether it is so, or is about people at large."""
    return _OPEN.search(_BEING_ONE.sub("", clause)) is not None
