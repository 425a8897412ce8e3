"""Clauses that say who is meant: "my nephew who lives with us has asthma", "Anna, who I met in Rome, is vegan".

Read word by word, the person named last before a verb would be whom it tells of: "us" or "Rome".
"""

import re
from collections.abc import Iterator
from itertools import islice, pairwise

from apps.pipeline.extraction.patterns.new_subjects import is_finite
from apps.pipeline.extraction.patterns.relatives import may_be_name
from apps.pipeline.lexicon import verbs

_WHO = re.compile(
    r"(?P<head>(?<![\w’'-])(?:[A-ZÀ-Þ][\w’'-]+|(?i:my|our|his|her|their|the|an?|this|that)(?: [\w’'-]+){1,3}))"
    r"(?P<comma>,?) (?P<who>(?:who(?:se|m)?|that)(?P<short>['’](?:s|d|ve|ll|re))?) "
)
_TOKEN = re.compile(r"since \d+|[\w’'-]+|[^\w\s]")
_MOST_TOKENS = 16  # of one such clause
_MOST_CLAUSES = 3
# A new clause may begin here, with a subject of its own.
_JOINS = frozenset("and but so because if when while since as than though although or - – —".split())
_SUBJECTS = frozenset("i we he she they you it that there".split())
_ADVERBS = frozenset("never also always still just only really usually often sometimes now already recently".split())
_AUXILIARIES = frozenset("has have had is was are were been be being gets got".split())
_PLURAL = frozenset({"have", "do"})
_MODALS = frozenset("to can could will would may might must should don't didn't not never i we you they".split())
_SHORT = {"s": "is", "d": "had", "ve": "have", "ll": "will", "re": "are"}
_HAVING = verbs.PARTICIPLES | {"got"}
_OWN = re.compile(r"^(?:[Mm]y|[Oo]ur) |^(?!The |An? |This |That |His |Her |Their )[A-ZÀ-Þ]")


def with_relative_clauses_told(text: str) -> str:
    """Return a sentence in which clauses about somebody who is known are statements of their own.

    "Kim, who is diabetic, takes iron" is "Kim is diabetic, and Kim takes iron".
    """
    return _rewritten(text, of_others=False)


def without_relative_clauses(text: str) -> str:
    """Return a sentence with such statements, and without the clauses about others, where more is told behind them.

    "The woman who cleans for us has asthma" is "The woman has asthma".
    """
    return _rewritten(text, of_others=True)


def _rewritten(text: str, *, of_others: bool) -> str:
    place = 0
    for _ in range(_MOST_CLAUSES):
        found = _WHO.search(text, place)
        if found is None:
            break
        place = found.end("head")
        is_own = _OWN.match(found["head"]) is not None
        if (is_own or of_others) and (verb := _main_verb(text, found)) is not None:
            told = _statement(found, text[found.end() : verb]) if is_own else ""
            text = f"{text[:place]} {told}{text[verb:]}"
    return text


def _statement(found: re.Match[str], inside: str) -> str:
    """Return what a clause tells of its head, and the head again; "" if the head is not its subject."""
    first = inside.partition(" ")[0]
    if found["who"].startswith(("whose", "whom")) or first.lower() in _SUBJECTS or not first[:1].islower():
        return ""
    short = (found["short"] or "")[1:]
    verb = "" if not short else "has " if short == "s" and first in _HAVING else _SHORT[short] + " "
    head = found["head"]
    again = head[0].lower() + head[1:] if head.startswith(("My ", "Our ")) else head
    return f"{verb}{inside.strip(' ,')}, and {again} "


def _main_verb(text: str, found: re.Match[str]) -> int | None:
    """Return where the verb stands whose subject the clause describes, or None."""
    last = found["head"].split()[-1]
    tokens = tuple(islice(_TOKEN.finditer(text, found.end()), _MOST_TOKENS))
    is_that = found["who"].startswith("that")
    is_name = " " in found["head"] or (may_be_name(last) and not last.endswith("ly"))  # "Basically, who's"
    if not is_name or is_finite(last.lower()) or not tokens or (is_that and not is_finite(tokens[0].group().lower())):
        return None  # "she knows who", "he said that"
    return (_behind_comma(tokens) if found["comma"] else None) or _second_verb(tokens, is_short=bool(found["short"]))


def _behind_comma(tokens: tuple[re.Match[str], ...]) -> int | None:
    """Return where a verb follows the comma that ends the clause."""
    for token, after in pairwise(tokens):
        if token.group() == ",":
            return after.start() if is_finite(after.group().lower()) else None
    return None


def _second_verb(tokens: tuple[re.Match[str], ...], *, is_short: bool) -> int | None:
    """Return where the second finite verb stands, unless it has a subject of its own."""
    has_verb, before = is_short, "is" if is_short else "who"
    for token, word in _words(tokens):
        is_first = before == "who" and word not in _SUBJECTS and token.group().islower()  # "who cleans for us"
        if is_first or _is_verb(word, before):
            if has_verb:
                return token.start() if before not in _SUBJECTS else None
            has_verb = True
        before = word
    return None


def _is_verb(word: str, before: str) -> bool:
    """Return True for a finite verb: no participle, and no infinitive behind "to" or "can"."""
    if word in _PLURAL:
        return before not in _MODALS
    return is_finite(word) and not (before in _AUXILIARIES and verbs.must_be_past(word))


def _words(tokens: tuple[re.Match[str], ...]) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the tokens up to where a new clause may begin, without adverbs, and their words."""
    for token in tokens:
        word = token.group().lower()
        if word in _JOINS or not word[0].isalnum():
            return
        if word not in _ADVERBS:
            yield token, word
