"""What ends or moves a thing that was told under another predicate, by the thing's name.

"I quit the choir" ends "sings in a choir on Tuesdays"; "the yoga is on Mondays now" replaces "does yoga on Thursday
evenings". Only statements of patterns are read so: a model says itself which memory it replaces.
"""

import re

from apps.pipeline.core.enums import Polarity
from apps.pipeline.core.statement import PATTERNS, Statement, StoredMemory
from apps.pipeline.lexicon.calendar import MONTHS, WEEKDAYS
from apps.pipeline.lexicon.function_words import SMALL
from apps.pipeline.lexicon.tables import alternation
from apps.pipeline.lexicon.verbs import stem

# "Had to": what somebody had to do was done. One stops at a shop, and sells some of a thing, which is not over then.
_ENDS = re.compile(
    r"(?i)\b(?:no longer|is over|finished with|got rid of"
    r"|(?:quit|stopped|gave up|given up|dropped|dropping|left|sold|cancell?ed"
    r"|(?:had|decided) to (?:leave|quit|stop|drop|give up|cancel|sell))\b"
    r"(?! (?:at|by|for|in|off)\b)(?!.*\b(?:early|some|half|one of)\b))\b"
)
# The child ends the phrase, or only a day follows: not "had a baby shower", "had a son in her twenties".
_BORN = re.compile(
    r"(?i)\b(?:gave birth(?: to \w+(?: \w+)?)?"
    r"|had (?:(?:a|the|her|their|our) )?(?:baby|(?:baby )?(?:twins|son|daughter|boy|girl)))"
    rf"(?=\s*(?:$|[.,;!]|yesterday\b|today\b|on (?:the \d|\d|{alternation(WEEKDAYS)}|{alternation(MONTHS)})"
    rf"|(?:in|this|last) (?:night|morning|week|month|{alternation(WEEKDAYS)}|{alternation(MONTHS)})))"
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"[^\W\d_]{3,}")
_DAY = re.compile(rf"(?i)\b(?:{alternation(WEEKDAYS)})")
_DATE = re.compile(
    rf"(?i)\b(?:(?:{alternation(MONTHS)}) \d{{1,2}}|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{alternation(MONTHS)}))"
)
_SAYS_LITTLE = frozenset(
    map(
        stem,
        "quit stopped gave given dropped dropping finished left over longer need take use "
        "doing does did with going having get has had more now "
        "sold cancelled canceled got rid decided leave stop drop give cancel sell".split(),
    )
)
_OF_A_TIME = (f"{PATTERNS}changing_value", f"{PATTERNS}current_value", f"{PATTERNS}dated_event", f"{PATTERNS}attribute")
_STAYS = frozenset("reacts_to allergic_to intolerant_to has_condition can_have diagnosed_with name".split())
_ACTIVITIES = frozenset({"does", "given_up"})


def tells_of_change(statement: Statement) -> bool:
    """Return True for a statement that may end or move what was told under another predicate."""
    if not statement.extractor.startswith(PATTERNS):
        return False
    ends = _ENDS.search(statement.content) is not None or _tells_of_birth(statement)
    return ends or _is_of_a_time(statement)


def ends_thing(memory: StoredMemory, rival: StoredMemory) -> bool:
    """Return True if a new statement says that what an older one tells is over, or at another time."""
    if not tells_of_change(memory) or memory.subject_id != rival.subject_id or rival.said_at > memory.said_at:
        return False
    if rival.predicate in _STAYS or rival.polarity is not Polarity.POSITIVE or _ENDS.search(rival.content):
        return False
    if rival.predicate == "expecting" and _tells_of_birth(memory) and not _is_of_past_year(memory):
        return True
    if _ENDS.search(memory.content):
        return _is_named(memory, rival)
    things = {stem(word) for word in memory.predicate.split("_") if word not in SMALL}
    return bool(things) and things <= _stems(rival.content) and _is_at_another_time(memory, rival)


def _tells_of_birth(statement: Statement) -> bool:
    return _BORN.search(statement.content) is not None


def _is_of_past_year(memory: StoredMemory) -> bool:
    """Return True for "had a son in May 2019", which tells of an earlier child."""
    return any(int(year) < memory.said_at.year for year in _YEAR.findall(memory.content))


def _is_of_a_time(statement: Statement) -> bool:
    is_timed = _DAY.search(statement.content) or _DATE.search(statement.content)
    return statement.extractor in _OF_A_TIME and is_timed is not None


def _is_named(memory: StoredMemory, rival: StoredMemory) -> bool:
    """Return True if the older statement names all that is over; of an activity, half of it."""
    _, _, said = memory.content.partition(" ")
    things = _stems(said) - _SAYS_LITTLE
    named = _stems(rival.content.partition(" ")[2])
    shared = things & named
    least = (len(things) + 1) // 2 if memory.predicate in _ACTIVITIES else len(things)
    return bool(shared) and len(shared) >= least


def _is_at_another_time(memory: StoredMemory, rival: StoredMemory) -> bool:
    for kind in (_DAY, _DATE):
        new, old = ({found.lower() for found in kind.findall(each.content)} for each in (memory, rival))
        if new and old:
            return new != old
    return False


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _WORD.findall(text.lower()) if word not in SMALL)
