"""What somebody says of themselves in one breath: "I'm Kim, founder of Acme", "I'm a retired teacher, 71"."""

import re
from collections.abc import Iterator

from apps.pipeline.extraction.patterns.topics.work import ROLE_NOUN

_NAME = r"(?P<name>[A-ZÀ-Þ][a-zà-ÿ'-]+(?: [A-ZÀ-Þ][a-zà-ÿ'-]+)?)"
_IS_NAMED = re.compile(
    rf"^(?:(?:hi|hello|hey|so|well|good morning|good evening)[,!.]? )?(?:I am|I'm|Im|it's|this is) {_NAME}, (?P<rest>.+)$",
    re.IGNORECASE,
)
_MOST_PARTS = 4
_PART = re.compile(r", (?:and )?|(?<=\w) and (?=(?:I|we)\b)")
_ROLE = re.compile(rf"^(?:an? |the )?(?:[a-z-]+ ){{0,2}}{ROLE_NOUN}\b")
_ORIGIN = re.compile(r"^(?:originally |now )?(?:from|based in|living in) [A-ZÀ-Þ]")
_AGE = re.compile(r"^\d{1,2}(?: years old)?$")
_AGED = re.compile(r"^(?P<said>I(?: am|'m) an? [\w -]{3,40}), (?P<age>\d{2})(?=$|[ ,.])")
_MARRIED = re.compile(
    r"\b(?P<who>(?:[Mm]y [a-z]+ )?[A-ZÀ-Þ][\w'-]+) and I (?P<be>are|were|got|will be)(?P<kind> (?:getting |just )?(?:married|engaged|divorced))\b"
)
_PERSON = r"(?:[Mm]y [a-z]+(?: [A-ZÀ-Þ][\w'-]+)?|[A-ZÀ-Þ][\w'-]+)"
_PARTED = re.compile(
    rf"\b(?:(?P<who>{_PERSON}) and I|[Mm]e and (?P<other>{_PERSON})) (?P<parted>(?:have )?(?:just )?(?:(?:broke|broken|split) up|separated))\b"
    # "split up the bill" and "separated the laundry" part nobody.
    r"(?=$|[,.;:!?]| (?:I|we|last|this|in|on|after|before|when|while|because|and|but|so|years?|ages|recently|again|for good|\d+|(?:an?|two|three|a few) (?:days?|weeks?|months?|years?|while))\b)"
)
# "I'm Maeve." behind other sentences may be a part in a game, or a club that one supports.
_BARE_NAME = re.compile(r"^I(?:['’]m| am) [A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*)?[\s.!]*$")
_GREETING = re.compile(
    r"(?i)(?:^|[.!?\n] ?)(?:hi|hiya|hello|hey|good (?:morning|afternoon|evening|day)|thanks|thank you|nice to meet you|pleased to meet you|sorry|yes|no)\b[^.!?\n]{0,30}[.!,\s]*$"
)
_OWN_FORM = {"are": "am", "were": "was"}


def with_partner(sentence: str) -> str:
    """Write "I am getting married to Tom" for "Tom and I are getting married", and "I broke up with Tom"."""
    return _MARRIED.sub(
        lambda found: f"I {_OWN_FORM.get(found['be'], found['be'])}{found['kind']} to {found['who']}",
        _PARTED.sub(_parted, sentence),
    )


def _parted(found: re.Match[str]) -> str:
    preposition = "from" if "separated" in found["parted"] else "with"
    return f"I {found['parted']} {preposition} {found['who'] or found['other']}"


def is_named_in_passing(sentence: str, *, message: str) -> bool:
    """Return True if a sentence is a bare "I'm Kim" behind others of its message that are no greeting."""
    before, found, _ = message.partition(sentence)
    is_bare = bool(found) and _BARE_NAME.match(sentence) is not None
    return is_bare and bool(before.strip()) and _GREETING.search(before.rstrip()) is None


def told_apart(clause: str) -> Iterator[str]:
    """Yield a clause, or each thing that a self-introduction says, as a clause of its own."""
    said = clause.replace("’", "'")
    if aged := _AGED.match(said):
        yield aged["said"] + said[aged.end() :]
        yield f"I'm {aged['age']}"
        return
    found = _IS_NAMED.match(said)
    parts = [part.strip(" .!") for part in _PART.split(found["rest"], maxsplit=_MOST_PARTS)] if found else []
    if found is None or found["name"].islower() or not _tells_of_self(parts[0]):
        yield clause
        return
    yield f"my name is {found['name']}"
    yield from (f"I'm {_with_article(part)}" for part in parts if _tells_of_self(part))
    yield from (part for part in parts if not _tells_of_self(part))


def _with_article(part: str) -> str:
    if not _ROLE.match(part) or part.startswith(("a ", "an ", "the ")):
        return part
    return f"the {part}" if " of " in part else f"a {part}"


def _tells_of_self(part: str) -> bool:
    return any(expression.match(part) for expression in (_ROLE, _ORIGIN, _AGE))
