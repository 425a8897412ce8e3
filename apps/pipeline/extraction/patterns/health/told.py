"""HealthStatement: what a clause says about somebody's health, before it becomes a candidate."""

import re
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


# What the assistant is said to have noted; "as you noted" agrees.
_NOTED = re.compile(
    r"(?i)(?<!\blike )(?<!\bas )\byou(?:['’]ve| have| had)? (?:\w+ly )?(?:said|say|wrote|noted|saved|stored|recorded|remembered|assumed|claimed?|got it)\b"
)
# What shall be removed or written, and what a main clause denies: "it's not true that I have", "remind me who's vegan".
_NOT_TOLD = re2.compile(
    r"(?i)^\W*(?:please )?(?:delete|remove|forget|erase)\b.*\b(?:note|notes|memory|memories|fact|that (?:i|we|my))\b"
    r"|^\W*(?:please )?(?:write|draw) (?:me )?(?:an? )(?:\w+ )?(?:story|poem|song|scene|script|note|novel|character)\b"
    r"|\b(?:(?:not|n['’]t) true|false|untrue|no way|unlikely) (?:that )?(?:i|we|he|she|my)\b"
    r"|(?:^|[^o] )\bdoubt (?:that )?(?:i|we|he|she|my)\b|\b(?:i|we) den(?:y|ied)\b|\bdenied that\b"
    r"|\bdream(?:s|t|ed)? (?:that )?(?:i|we|he|she|my)\b|\blied\b|\b(?:scared|a fear) (?:that )?(?:i|we|he|she|my)\b"
    r"|\bnever (?:say|said|claimed?|meant)\b|\b(?:do|did|does|have|had|has)n['’]t (?:say|said|tell you|believe|claim(?:ed)?|mean|meant)\b|\brefuse[sd]? to believe\b"
    r"|\bnot (?:me|i|us|the one|the only one) (?:who|with|that)\b"
    r"|\b(?:remind|tell|ask|asked)(?: (?:me|us|him|her|them))? who(?:['’]s)?\b"
)


# "My family is kosher except me"; "nobody here is coeliac except me" is about the speaker.
_EXCEPT_ME = re.compile(
    r"(?i)^(?!.*\b(?:nobody|no[ -]?one|none)\b).*\b(?:except|apart from|but not)(?: for)? (?:me|myself)\b"
)
# "I have been a customer of yours": the speaker is one.
_BEING_ONE = re2.compile(
    r"(?i)\b(?:am|is|was|been|being|as|['’]m|become|became) (?:an? |your )(?:\w+ )?(?:customers?|clients?|patients?|people)\b"
)


def is_open(clause: str) -> bool:
    """Return True if a clause leaves open whether it is so, or is about people at large."""
    said = _BEING_ONE.sub("", clause)
    return any(each.search(said) for each in (_OPEN, _NOT_TOLD, _NOTED, _EXCEPT_ME))
