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


# What the assistant is said to have noted, what somebody shall remove, and what a main clause denies: "it's not true
# that I have", "I doubt I have", "remind me who's vegan".
_NOT_TOLD = re2.compile(
    r"(?i)\byou(?:['’]ve| have| had)? (?:\w+ly )?(?:said|say|wrote|noted|saved|stored|recorded|remembered|assumed|claimed?|got it)\b"
    r"|^\W*(?:please )?(?:delete|remove|forget|erase|write|draw|translate|say|pretend)\b"
    r"|\b(?:(?:not|n['’]t) true|false|untrue|no way|unlikely|hard to believe) (?:that )?(?:i|we|he|she|my)\b"
    r"|\b(?:doubt|den(?:y|ies|ied)|dream(?:s|t|ed)?|lied|lying)\b|\b(?:scared|fear) (?:that )?(?:i|we|he|she|my)\b"
    r"|(?:\bnever|n['’]t|\bnot|\brefused?(?: to)?) (?:say|said|tell you|told you|believe|claim|claimed|mean|meant)\b"
    r"|\bnot (?:me|i|us|the one|the only one) (?:who|with|that)\b"
    r"|\b(?:remind|tell|ask|asked|know|knows|forgot|remember|wondering)(?: (?:me|us|him|her|them))? who(?:['’]s)?\b"
)


# "I have been a customer of yours": the speaker is one.
_BEING_ONE = re2.compile(
    r"(?i)\b(?:am|is|was|been|being|as|['’]m|become|became) (?:an? |your )(?:\w+ )?(?:customers?|clients?|patients?|people)\b"
)


def is_open(clause: str) -> bool:
    """Return True if a clause leaves open whether it is so, or is about people at large."""
    said = _BEING_ONE.sub("", clause)
    return _OPEN.search(said) is not None or _NOT_TOLD.search(said) is not None
