"""Matcher: the compiled rules of a policy, applied once per turn."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import re2

from apps.pipeline.core.enums import Role
from apps.pipeline.core.policy import PreFilterPolicy, Rule
from apps.pipeline.prefilter.folding import fold_pattern
from apps.pipeline.prefilter.rule_patterns import PatternRefused, check_pattern, compiled, has_gap, options

# Memory limit of an automaton; 16 MB are not enough for the default rules (p99 160 instead of 55 µs).
SET_BYTES = 64 << 20

MAX_PHRASES = 12  # phrases of a turn that are compared; a longer turn is judged by its first ones

# Scripts without spaces between words: their phrases may follow each other directly.
UNSPACED_LANGUAGES = frozenset({"zh", "ja", "th"})

# Characters between two phrases: punctuation, symbols and emoji, in few ranges because they are compiled into every
# phrase. A turn with any other character outside of phrases (letters, marks, digits, CUT) is not rejected.
_BETWEEN = (
    r"[\x00-/:-@\[-`{-\x{a9}\x{ab}-\x{b4}\x{b6}-\x{b9}\x{bb}-\x{bf}\x{d7}\x{f7}"
    r"\x{60c}\x{61b}\x{61f}\x{6d4}\x{964}\x{965}\x{2010}-\x{206f}\x{20a0}-\x{20cf}\x{2190}-\x{2bff}"
    r"\x{3000}-\x{3004}\x{3008}-\x{3020}\x{fe30}-\x{fe6b}\x{1f000}-\x{1faff}\x{e0020}-\x{e007f}]"
)


@dataclass(frozen=True, slots=True)
class RuleHit:
    """The first rule that matches a turn, and the matched text."""

    rule: Rule
    matched: str


@dataclass(frozen=True, slots=True)
class Phrases:
    """The grammar of turns that consist of phrases only."""

    places: tuple[int, ...]  # positions of the phrase rules among all rules of the book
    chatter: "re2._Regexp"  # matches such a turn
    first: "re2._Regexp"  # matches the first phrase; if there are several, the longest
    which: re2.Set  # finds the rules that a phrase belongs to

    def found_in(self, text: str) -> list[tuple[int, str]]:
        """Return the position of a rule for each phrase, with the phrase; nothing if the turn has other words."""
        if self.chatter.fullmatch(text) is None:
            return []
        found: list[tuple[int, str]] = []
        while len(found) < MAX_PHRASES and (step := self.first.match(text)) is not None:
            phrase, text = text[: step.end()], text[step.end() :]
            # A Set that runs out of memory returns nothing; the grammar has decided already, only the reason is lost.
            place = min(_places(self.which, self.places, phrase), default=self.places[0])
            found.append((place, phrase.strip()))
        return found


@dataclass(frozen=True, slots=True)
class RuleBook:
    """The rules for one role in one situation, grouped by how they are matched."""

    rules: tuple[Rule, ...]  # in their order
    phrases: Phrases | None
    simple: tuple[int, ...]  # positions of the rules in simple_set
    simple_set: re2.Set | None
    gaps: tuple[tuple[int, "re2._Regexp"], ...]

    def first_hit(self, text: str) -> RuleHit | None:
        """Return the first rule that matches a folded text."""
        spoken = self.phrases.found_in(text) if self.phrases is not None else []
        place, matched = min(spoken, key=lambda each: each[0], default=(len(self.rules), ""))
        simple = min(_places(self.simple_set, self.simple, text), default=place)
        if simple < place:
            place, matched = simple, ""
        for gap, pattern in self.gaps:
            if gap < place and pattern.search(text) is not None:
                place, matched = gap, ""
                break
        return None if place == len(self.rules) else self._hit(self.rules[place], matched or text)

    def _hit(self, rule: Rule, text: str) -> RuleHit:
        """Return the hit with the text that a search rule matched."""
        found = None if rule.phrase else compiled(rule.pattern).search(text)
        return RuleHit(rule=rule, matched=text if found is None else found.group())


@dataclass(frozen=True, slots=True)
class Matcher:
    """All rule books of one policy."""

    books: Mapping[tuple[Role, bool], RuleBook]

    def first_hit(self, *, text: str, role: Role, answering: bool) -> RuleHit | None:
        """Return the first rule that matches a folded text of this role, or None."""
        book = self.books.get((role, answering))
        return None if book is None else book.first_hit(text)


@lru_cache(maxsize=32)
def matcher_for(policy: PreFilterPolicy) -> Matcher:
    """Compile the enabled rules of a policy. Raises PatternRefused, with the rule's name."""
    enabled = sorted((rule for rule in policy.rules if rule.enabled), key=lambda rule: rule.order)
    for rule in enabled:
        _check(rule)
    return Matcher(
        books={
            (role, answering): _book(tuple(rule for rule in enabled if _applies(rule, role, answering)))
            for role in policy.trusted_roles
            for answering in (False, True)
        }
    )


def _applies(rule: Rule, role: Role, answering: bool) -> bool:
    return role in rule.roles and not (answering and rule.unless_answering)


def _check(rule: Rule) -> None:
    try:
        check_pattern(rule.pattern)
    except PatternRefused as refused:
        raise PatternRefused(f"rule {rule.name}: {refused.problem}", refused.position) from refused


def _book(rules: tuple[Rule, ...]) -> RuleBook:
    phrases = tuple(place for place, rule in enumerate(rules) if rule.phrase)
    others = tuple(place for place, rule in enumerate(rules) if not rule.phrase)
    simple = tuple(place for place in others if not has_gap(rules[place].pattern))
    return RuleBook(
        rules=rules,
        phrases=_phrases(rules, places=phrases) if phrases else None,
        simple=simple,
        simple_set=_search_set(rules[place] for place in simple) if simple else None,
        gaps=tuple((place, compiled(rules[place].pattern)) for place in others if place not in simple),
    )


def _phrases(rules: tuple[Rule, ...], *, places: tuple[int, ...]) -> Phrases:
    """Compile the grammar: phrases with separators, repeated up to the end of the text."""
    spoken = [rules[place] for place in places]
    step = _step(spoken)
    which = re2.Set.FullMatchSet(options(max_bytes=SET_BYTES))
    for rule in spoken:
        which.Add(f"{_BETWEEN}*{_step([rule])}")
    which.Compile()
    longest = options(max_bytes=SET_BYTES)
    longest.longest_match = True
    return Phrases(
        places=places,
        chatter=re2.compile(f"{_BETWEEN}*{step}+", options(max_bytes=SET_BYTES)),
        first=re2.compile(f"{_BETWEEN}*{step}", longest),
        which=which,
    )


def _step(rules: Sequence[Rule]) -> str:
    """Return the pattern of a phrase with its separator, which is optional in scripts without spaces."""
    spaced = "|".join(fold_pattern(rule.pattern) for rule in rules if not _is_unspaced(rule))
    unspaced = "|".join(fold_pattern(rule.pattern) for rule in rules if _is_unspaced(rule))
    steps = []
    if spaced:
        steps.append(f"(?:{spaced})(?:{_BETWEEN}+|$)")
    if unspaced:
        steps.append(f"(?:{unspaced}){_BETWEEN}*")
    return f"(?:{'|'.join(steps)})"


def _search_set(rules: Iterable[Rule]) -> re2.Set:
    made = re2.Set.SearchSet(options(max_bytes=SET_BYTES))
    for rule in rules:
        made.Add(fold_pattern(rule.pattern))
    made.Compile()
    return made


def _is_unspaced(rule: Rule) -> bool:
    return bool(rule.languages) and UNSPACED_LANGUAGES.issuperset(rule.languages)


def _places(which: re2.Set | None, places: tuple[int, ...], text: str) -> list[int]:
    if which is None:
        return []
    return [places[index] for index in which.Match(text) or ()]
