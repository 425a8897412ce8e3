"""Pronouns for things: an "it", "this" or "those" needs an antecedent in a stored sentence."""

import re

_SUBJECT = re.compile(r"^(?:it|this|that|these|those)(?:'s)?\b(?!\s+\w+\s+that\b)", re.IGNORECASE)
_AT_END = re.compile(r"(?<![\w'])it[.!?]?$", re.IGNORECASE)
# A pronoun before a verb is a subject, which may be impersonal: "when it rains", "thinks it is late".
_DOES = (
    r"(?:is|isn't|was|wasn't|has|had|will|would|can|could|may|might|should|must|does|doesn't|did|didn't|took|made|got"
    r"|came|went|gave|brought|meant|kept|felt|let|(?:seem|feel|take|make|rain|snow|get|come|go|help|give|keep|bring|mean"
    r"|look|work|need|sound|taste|smell|happen|add|calm|relax)(?:s|es|ed))"
)
_OBJECT = re.compile(rf"(?<![\w'])it(?![\w'])(?!\s+{_DOES}\b)", re.IGNORECASE)
# Here it refers to what follows, or to nothing: "find it hard to sleep", "make it to the final", "take it easy".
_EMPTY = re.compile(
    r"\b(?:mak(?:e|es|ing) it (?:through|to|big|official|clear|home|count|easier)"
    r"|made it (?:through|to|big|official|clear|home|count|easier)"
    r"|(?:find|found|make|made|think|thought|consider|feel)(?:s|ing|ed)? it (?:\w+ ){0,2}(?:to|that)"
    r"|(?:take|took|taking)s? it (?:easy|slow|slowly|one|personally)|call(?:s|ed)? it (?:a day|quits)|worth it"
    r"|(?:get|got)s? it (?:together|right|wrong|done)|as (?:it|this) (?:is|was))\b",
    re.IGNORECASE,
)
# "This month" and "those who care" are complete, "write about this" is not.
_POINTING = re.compile(
    r"(?<![\w'])(?<!like )(?:(?:this|these|those)(?=\s*(?:[.,;:!?]|$)|\s(?:to|at|in|on|for|and|or|but|by|from|about"
    r"|when|so|too|because|lately|again|before|after|yesterday|today|tomorrow)\b)"
    r"|that(?=\s*(?:[.,;:!?]|$)|\s(?:happen|work)(?:s|ed)?\b))",
    re.IGNORECASE,
)
# A named thing: "the guitar", "User's bike", "two books"; or, before another clause, any statement.
_NAMED = re.compile(
    r"\b(?:an?|the|their|his|her|this|that|these|those|some|[A-Z][\w-]*['’]s|two|three|\d+) [a-z]", re.I
)
_CLAUSE = re.compile(
    r"\w+ \w+ \w+.*\b(?:because|since|when|until|unless|if|as|while|although|though|so|which|who|that|and|but)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,] )[A-ZÀ-Þ][\w-]+")


def dangling_thing_in(text: str, *, people: tuple[str, ...]) -> str | None:
    """Return the first pronoun for a thing without an antecedent before it in the sentence, or None.

    Names of `people` are no antecedents.
    """
    if opening := _SUBJECT.search(text):
        return opening.group()
    plain = _EMPTY.sub(lambda empty: "x" * len(empty.group()), text)
    if (closing := _AT_END.search(plain)) and not _CLAUSE.search(plain[: closing.start()]):
        return closing.group()
    told = ((each, pattern) for pattern in (_OBJECT, _POINTING) for each in pattern.finditer(plain))
    return next((each.group() for each, pattern in told if not _explains(plain, each, pattern, people)), None)


def _explains(text: str, found: re.Match[str], pattern: re.Pattern[str], people: tuple[str, ...]) -> bool:
    before = text[: found.start()]
    for name in sorted(filter(None, people), key=len, reverse=True):
        before = re.sub(rf"(?<!\w){re.escape(name)}(?:['’]s?)?(?!\w)", "somebody", before)
    in_clause = pattern is _OBJECT and _CLAUSE.search(before) is not None
    return in_clause or _NAMED.search(before) is not None or _NAME.search(before) is not None
