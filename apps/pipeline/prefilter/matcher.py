"""Rule books: the compiled rules of a policy, of which one is applied to each turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import re2

from apps.pipeline.core.enums import Role
from apps.pipeline.core.policy import PreFilterPolicy, Rule
from apps.pipeline.prefilter.folding import fold_pattern
from apps.pipeline.prefilter.rule_patterns import PatternRefused, check_pattern, compiled, options

GRAMMAR_BYTES = 64 << 20  # memory limit of the grammar of all phrases
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
_NEVER = r"[^\x00-\x{10ffff}]"


@dataclass(frozen=True, slots=True)
class RuleBook:
    """The rules for one role in one situation, in their order, with the grammar of turns that are phrases only."""

    rules: tuple[tuple[Rule, "re2._Regexp"], ...]
    chatter: "re2._Regexp"  # matches such a turn
    first: "re2._Regexp"  # matches its first phrase; if there are several, the longest

    def first_hit(self, text: str) -> tuple[Rule, str] | None:
        """Return the first rule that matches a folded text, with what it matches."""
        phrases: list[str] = []
        if self.chatter.fullmatch(text) is not None:
            left = text
            while len(phrases) < MAX_PHRASES and (step := self.first.match(left)) is not None:
                phrases.append(left[: step.end()])
                left = left[step.end() :]
        for rule, pattern in self.rules:
            if not rule.phrase:
                if (found := pattern.search(text)) is not None:
                    return rule, found.group()
            elif matched := next((each for each in phrases if pattern.fullmatch(each) is not None), ""):
                return rule, matched.strip()
        return None


@lru_cache(maxsize=32)
def rule_books(policy: PreFilterPolicy) -> Mapping[tuple[Role, bool], RuleBook]:
    """Compile the enabled rules of a policy, for each trusted role and for whether it answers a question.

    Raises PatternRefused, with the rule's name.
    """
    enabled = sorted((rule for rule in policy.rules if rule.enabled), key=lambda rule: rule.order)
    patterns: dict[str, re2._Regexp] = {}
    for rule in enabled:
        try:
            check_pattern(rule.pattern)
        except PatternRefused as refused:
            raise PatternRefused(f"rule {rule.name}: {refused.problem}", refused.position) from refused
        whole = re2.compile(f"{_BETWEEN}*{_step([rule])}", options()) if rule.phrase else compiled(rule.pattern)
        patterns[rule.name] = whole
    longest = options(max_bytes=GRAMMAR_BYTES)
    longest.longest_match = True
    books = {}
    for role in policy.trusted_roles:
        for answering in (False, True):
            rules = [rule for rule in enabled if role in rule.roles and not (answering and rule.unless_answering)]
            step = _step([rule for rule in rules if rule.phrase])
            books[role, answering] = RuleBook(
                rules=tuple((rule, patterns[rule.name]) for rule in rules),
                chatter=re2.compile(f"{_BETWEEN}*{step}+", options(max_bytes=GRAMMAR_BYTES)),
                first=re2.compile(f"{_BETWEEN}*{step}", longest),
            )
    return books


def _step(rules: Sequence[Rule]) -> str:
    """Return the pattern of a phrase with its separator, which is optional in scripts without spaces."""
    steps = []
    for separator, is_unspaced in ((f"(?:{_BETWEEN}+|$)", False), (f"{_BETWEEN}*", True)):
        phrases = [
            fold_pattern(rule.pattern)
            for rule in rules
            if is_unspaced is (bool(rule.languages) and UNSPACED_LANGUAGES.issuperset(rule.languages))
        ]
        steps += [f"(?:{'|'.join(phrases)}){separator}"] if phrases else []
    return f"(?:{'|'.join(steps)})" if steps else _NEVER
