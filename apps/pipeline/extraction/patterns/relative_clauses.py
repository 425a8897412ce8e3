"""Clauses with "who": "my nephew who lives with us has asthma", "Anna, who I met in Rome, is vegan".

Read word by word, the person named last before a verb would be whom it tells of: "us" or "Rome". So such a clause is left
out, or told as a statement of its own where it begins the sentence and is about somebody who is known.
"""

import re
from collections.abc import Sequence
from itertools import islice, pairwise

from apps.pipeline.extraction.patterns.new_subjects import is_finite
from apps.pipeline.extraction.patterns.relatives import may_be_name
from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.kinship import KIN_WORDS

_WHO = re.compile(
    r"(?P<head>(?<![\w’'-])(?:(?:[A-ZÀ-Þ][\w’'-]+ )?[A-ZÀ-Þ][\w’'-]+"
    r"|(?i:my|our|his|her|their|the|an?|this|that)(?: [\w’'-]+){1,3}))"
    r"(?P<comma>,?) (?P<who>(?:who(?:se|m)?|that)(?P<short>['’](?:s|d|ve|ll|re))?) "
)
_OPENERS = re.compile(r"(?i)^(?:(?:and|but|so|well|oh|also|plus|anyway|hi|hello|hey|yes|no|ok|okay),? )*$")
_KNOWN = re.compile(r"^(?:[Mm]y|[Oo]ur) |^(?!The |An? |This |That |His |Her |Their )[A-ZÀ-Þ]")
_TOKEN = re.compile(r"since \d+|[\w’'-]+|[^\w\s]")
_MOST_TOKENS = 16  # of one such clause
_MOST_CLAUSES = 3
_DETERMINERS = frozenset("my our his her their the a an this that".split())
# A new clause may begin here, with a subject of its own.
_JOINS = frozenset("and but so because if when while since as than though although or - – —".split())
_PRONOUNS = frozenset("i we he she they you it that there".split())
_ADVERBS = frozenset(
    "never also always still just often sometimes now already once seldom quite almost rather even ever".split()
)
_BEFORE_PARTICIPLES = frozenset("has have had is was are were been be being gets got gotten".split())
_BEFORE_INFINITIVES = frozenset("to can could will would may might must should not".split())
_PLURAL_VERBS = frozenset({"have", "do"})
_NO_VERBS = frozenset("his its this us as is".split())
_SHORT = {"s": "is", "d": "had", "ve": "have", "ll": "will", "re": "are"}
_AFTER_HAS = verbs.PARTICIPLES | {"got"}


def with_relative_clauses_told(text: str) -> str:
    """Return a sentence in which a clause about its subject, somebody who is known, is a statement of its own.

    "Kim, who is diabetic, takes iron" is "Kim is diabetic, and Kim takes iron". Behind other words ("I doubt that", "if")
    nothing is changed: the second statement would lose them.
    """
    found = _clause_in(text)
    if found is None or not _KNOWN.match(found["head"]) or not _OPENERS.match(text[: found.start()]):
        return text
    verb = _main_verb(text, found)
    if verb is None:
        return text
    return f"{text[: found.end('head')]} {_statement(found, text[found.end() : verb])}{text[verb:]}"


def without_relative_clauses(text: str) -> str:
    """Return a sentence without the clauses that only say who is meant, where more is told behind them.

    "The woman who cleans for us has asthma" is "The woman has asthma".
    """
    place = 0
    for _ in range(_MOST_CLAUSES):
        found = _clause_in(text, after=place)
        if found is None:
            break
        place = found.end("head")
        is_at_start = _OPENERS.match(text[: found.start()]) is not None
        # "Met Anna, who is pregnant, had lunch": behind other words the verb may be the writer's.
        verb = _main_verb(text, found) if is_at_start or not found["comma"] else None
        if verb is not None:
            text = f"{text[:place]} {text[verb:]}"
    return text


def _clause_in(text: str, *, after: int = 0) -> re.Match[str] | None:
    """Return the first such clause. Most sentences have none, which is quicker to see without the expression."""
    return _WHO.search(text, after) if " who" in text or " that" in text else None


def _statement(found: re.Match[str], inside: str) -> str:
    """Return what a clause tells of its head, and the head again; "" if the head is not the subject of the clause."""
    words = [word.lower() for word in inside.replace(",", " ").split() if not _is_adverb(word.lower())]
    short = (found["short"] or "")[1:]
    is_subject = found["who"].startswith(("who", "that")) and not found["who"].startswith(("whose", "whom"))
    if not words or not is_subject or not (short or _may_be_verb(words[0], after=words[1:2])):
        return ""
    verb = "" if not short else "has " if short == "s" and words[0] in _AFTER_HAS else _SHORT[short] + " "
    head = found["head"]
    again = head[0].lower() + head[1:] if head.startswith(("My ", "Our ")) else head
    return f"{verb}{inside.strip(' ,')}, and {again} "


def _main_verb(text: str, found: re.Match[str]) -> int | None:
    """Return where the verb stands whose subject the clause describes, or None."""
    tokens = tuple(islice(_TOKEN.finditer(text, found.end()), _MOST_TOKENS))
    if not tokens or not _is_person(found["head"], is_that=found["who"] == "that"):
        return None
    return (_behind_comma(tokens) if found["comma"] else None) or _second_verb(tokens, is_short=bool(found["short"]))


def _is_person(head: str, *, is_that: bool) -> bool:
    """Return True for a person; with "that" only for a relative or animal: "he said that", "a migraine that"."""
    first, last = head.split()[0].lower(), head.split()[-1]
    if is_finite(last.lower()) or "'s " in head or "’s " in head or (is_that and last.lower() not in KIN_WORDS):
        return False
    if first in _DETERMINERS:
        return True
    is_verb_first = is_finite(first) or bool(verbs.past_of(first))  # "Met Anna, who"
    return may_be_name(last) and not last.endswith("ly") and not is_verb_first


def _behind_comma(tokens: Sequence[re.Match[str]]) -> int | None:
    """Return where a verb follows the comma that ends the clause."""
    for token, after in pairwise(tokens):
        if token.group() == ",":
            return after.start() if is_finite(after.group().lower()) else None
    return None


def _second_verb(tokens: Sequence[re.Match[str]], *, is_short: bool) -> int | None:
    """Return where the second finite verb stands, unless it has a subject of its own."""
    words = _words(tokens)
    if words and words[0][1].partition("'")[0] in _PRONOUNS:  # "who I drive to dialysis has": the verb is the pronoun's
        has_verb, words = True, words[2:]
    else:
        has_verb = is_short
        if not is_short and words and _may_be_verb(words[0][1], after=[word for _, word in words[1:2]]):
            has_verb, words = True, words[1:]
    before = "is" if is_short else ""
    for token, word in words:
        if _is_verb(word, before):
            if has_verb:
                return token.start() if before not in _PRONOUNS else None
            has_verb = True
        before = word
    return None


def _words(tokens: Sequence[re.Match[str]]) -> list[tuple[re.Match[str], str]]:
    """Return the tokens up to where a new clause may begin, without adverbs, and their words."""
    words: list[tuple[re.Match[str], str]] = []
    for token in tokens:
        word = token.group().lower().replace("’", "'")
        if word in _JOINS or not word[0].isalnum():
            break
        if not _is_adverb(word):
            words.append((token, word))
    return words


def _is_adverb(word: str) -> bool:
    return word in _ADVERBS or word.endswith("ly")


def _may_be_verb(word: str, *, after: Sequence[str]) -> bool:
    """Return True for the first word of a clause that is its verb: "who cleans for us", not "who doctors say"."""
    if is_finite(word):
        return True
    is_noun = bool(after) and bool(verbs.past_of(after[0]))
    return (
        word in _PLURAL_VERBS
        or bool(verbs.past_of(word))
        or (word.endswith("s") and word not in _NO_VERBS and not is_noun)
    )


def _is_verb(word: str, before: str) -> bool:
    """Return True for a finite verb: no participle, and no infinitive behind "to" or "can't"."""
    if word in _PLURAL_VERBS:
        is_infinitive = before in _BEFORE_INFINITIVES or before in _PRONOUNS or before.endswith("n't")
        return not is_infinitive
    return is_finite(word) and not (before in _BEFORE_PARTICIPLES and verbs.must_be_past(word))
