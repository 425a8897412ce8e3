"""What something costs, counts or is set to, whatever it is: "our price is 49 euros now", "band practice moved to Mondays".

Who says it again with another value replaces the former one: a thing has one price and one day at a time.
"""

import re
from dataclasses import dataclass

import re2

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.predicates import DATED_NOUNS, MEASURED_NOUNS
from apps.pipeline.extraction.patterns.dated_events import DATE
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.extraction.patterns.relatives import may_be_name
from apps.pipeline.lexicon.calendar import WEEKDAYS
from apps.pipeline.lexicon.health_terms import BODY_PART
from apps.pipeline.lexicon.kinship import KIN_WORDS
from apps.pipeline.lexicon.numerals import NUMBERS
from apps.pipeline.lexicon.tables import alternation

_WEEKDAY = rf"(?:{alternation(WEEKDAYS)})s?"
_DAY = rf"(?:(?:{_WEEKDAY},? )?(?:the )?{DATE}|{_WEEKDAY}|the \d{{1,2}}(?:st|nd|rd|th))(?: \d{{1,2}}(?::\d\d)?(?: ?[ap]m)?\b)?(?: (?:at|in|from \d) ?[\w: ]{{1,30}})?"
_NUMBER_WORD = rf"(?:{alternation(NUMBERS)})"
_SUM = rf"(?:[€$£] ?\d[\d.,]*(?:k|m)?|\d[\d.,]* ?(?:k|euros?|eur|dollars?|pounds?|quid|chf|€|\$|£|%|percent)(?: (?:a|per) [a-z]+)*|{_NUMBER_WORD}(?:[- ]{_NUMBER_WORD})? (?:euros?|dollars?|pounds?|quid)(?: {_NUMBER_WORD})?(?: (?:a|per) [a-z]+)*)"
_COUNT = r"\d[\d.,:]*(?: ?(?:km|kg|miles|minutes|hours|days|weeks|months|people|guests|users|customers|seats|pages))?"
_VALUE = rf"(?P<value>(?i:{_DAY})|(?i:{_SUM})|{_COUNT})"
_THING = r"(?:(?P<owner>(?i:my|our|the)) )?(?P<thing>(?:[A-Za-z][\w'-]* ){0,3}?[A-Za-z][\w'-]*)"
_ALTERED = r"(?:moved|pushed|pushed back|postponed|rescheduled|shifted|brought forward|put back|changed|switched|raised|increased|bumped|upped|lowered|reduced|cut|dropped|extended|put off|put back|put|delayed)"
_ADVERBS = r"(?:(?:now|currently|about|around|just|finally|again|already|actually|all|back|only) )*"
_TAIL = r"(?:,? (?:now|again|instead|these days|from now on|yesterday|today|(?:last|this|next) [a-z]+))?[.!]*$"
_IS = re2.compile(
    rf"^{_THING}(?:'s| is| are| costs?)(?: (?:now|set|planned|up|down|back))*(?: (?:on|at|to|for))? {_ADVERBS}{_VALUE}{_TAIL}"
)
_WENT = re2.compile(
    rf"^{_THING}(?:'s)? (?:(?:has |have |is |are |was |were |got |gets |been )*{_ALTERED}|(?:has |have )?(?:grew|grown|rose|risen|went up|gone up|went down|fell|fallen|moves|goes up|goes down|slipped))(?: up| down| back| forward)?(?: from [^,;]{{1,25}}?)? (?:to|until|till) {_ADVERBS}{_VALUE}{_TAIL}"
)
_SOMEBODY = r"\p{Lu}[\p{L}-]+"  # "Simran moved the wedding to August"
_ALTERS = re2.compile(
    rf"^(?:(?i:I|we|they|(?:my|our|the) [a-z]+)|(?P<who>{_SOMEBODY}))(?:'ve| have|'s| has)? {_ADVERBS}{_ALTERED} (?:(?P<owner>my|our|the) )?(?P<thing>(?:[a-z][\w'-]* ){{0,3}}?[a-z][\w'-]*)(?: off| up| down| back| forward)?(?: from [^,;]{{1,25}}?)? (?:to|until|till) {_ADVERBS}{_VALUE}{_TAIL}"
)
# "bumped my package to 3200": who leaves "I" out
_ALTERED_BEFORE = re2.compile(
    r"^(?:(?i:just|also|finally) )?(?i:moved|pushed|postponed|rescheduled|shifted|changed|switched|raised|increased|bumped|upped|lowered|reduced|dropped|extended|delayed) (?:my|our) "
)
# "They've put my operation off, it is now the 11th of June"
_PUT_OFF = re2.compile(
    rf"(?:^|[ ,])(?i:I|we|they|(?:my|our|the) [a-z]+)(?:'ve| have|'s| has)? {_ADVERBS}{_ALTERED} (?P<owner>my|our|the) (?P<thing>(?:[a-z][\w'-]* ){{0,3}}?[a-z][\w'-]*)(?: off| up| down| back| forward)?(?: again)?(?:,| -| and) (?:so )?(?:now )?(?:it is|it's|it'll be|it will be) {_ADVERBS}(?:on )?{_VALUE}{_TAIL}"
)
_BODY = re2.compile(rf"(?i)(?:left |right )?{BODY_PART}")
_SPENDS = re2.compile(
    rf"^(?i:I|we)(?:(?: can| could| want to| may| will|'ll)(?: now| only)? spend|(?: have| need|'ve got) to (?:do|manage|make do|get by|plan)(?: [\w']+){{0,3}}? (?:with|on)|(?:'ve| have)(?: got)?)(?: now| only| up to| at most| about| around| a budget of| a total of)* (?P<value>(?i:{_SUM}))(?:(?P<purpose> (?:for|on|in) [^,;.!?]{{2,40}}?)| up there| altogether| in total| all in| to spend)*(?:[,;].*)?[.!]*$"
)
_HOLDS = re2.compile(
    r"^(?i:I|we)(?:'ve got| have|'ve|'re(?: now)? at| are(?: now)? at|'re up to| are up to|'re| are)(?: now| about| around| almost| over| nearly)* (?P<value>\d[\d.,]*k?) (?P<thing>(?:[a-z-]+ ){0,2}?[a-z]{3,}s)(?: now)?[.!]*$"
)
_IS_DAY = re2.compile(rf"(?i)^(?:the )?(?:{_WEEKDAY}|{DATE}|\d{{1,2}}(?:st|nd|rd|th))")
_MOVED = re2.compile(r"\b(?:moved|pushed|postponed|rescheduled|shifted|put|delayed)\b")
_WITHOUT_MONTH = re2.compile(r"^the \d{1,2}(?:st|nd|rd|th)$")
_SPEAKS_FOR_ITSELF = re2.compile(rf"(?i){_SUM}|{DATE}")
_LATER = re2.compile(
    r"(?i)(?:,| -| –|;)? (?:for (?:the (?:summer|winter|spring|autumn|holidays|term|season)|now|good)|but|because|so|which|since|if|when|as|that's|instead of|(?:and )?not|until (?:we|i|it|he|she|they))\b.*$|, .*$"
)
# What a text, a sum or a program holds is no life.
_NO_THING = frozenset(
    "answer question result error code line page step chapter row column version port output status limit timeout response query test build number total sum "
    "average age me him us them his her their its he she it this that there they who what which where when i we you one today tomorrow yesterday now time clock date day".split()
)
_FEASTS = frozenset({"easter", "christmas", "ramadan", "thanksgiving"})
_UNTIL = re2.compile(r"(?i)\b(?:until|till)\b")
_REGULAR = re2.compile(rf"(?i)(?:{alternation(WEEKDAYS)})(?:s\b| (?:mornings|afternoons|evenings|nights)\b)")
_OF_SOMEBODY = re.compile(r"^(?P<who>[A-Za-z][\w-]+)['’]s (?P<thing>[a-z][a-z' -]*)$")
_ARTICLE = re2.compile(r"^[Aa]n? ")
_JOINT = re2.compile(r"^(?i:and|but|so|plus|also),? ")
_FAMILY = KIN_WORDS - frozenset("customers fans clients students employees guests".split())


@dataclass(frozen=True, slots=True)
class ChangingValue:
    """A thing with the value that it has now, and the sentence that says so."""

    row: Pattern
    value: str
    content: str


def changing_value_in(clause: str, *, name: str) -> ChangingValue | None:
    """Read what a thing costs, counts or is set to; None where no value is given."""
    clause = _JOINT.sub("", clause)
    return _sum_or_number(clause, name=name) or _set_to(clause, name=name)


def _sum_or_number(clause: str, *, name: str) -> ChangingValue | None:
    """Read "we can spend 900 on the sofa" and "we have 60 customers"."""
    if money := _SPENDS.match(clause.strip(" .!")):
        purpose = money.group("purpose") or ""
        return _value("budget", money.group("value") or "", f"{name}'s budget{purpose} is {money.group('value')}.")
    if held := _HOLDS.match(_LATER.sub("", clause.strip(" .!"))):
        thing = held.group("thing") or ""
        if _FAMILY.isdisjoint(thing.split()) and thing.split()[-1] not in ("years", "things", "questions", "options"):
            return _value(f"number of {thing}", held.group("value") or "", f"{name} has {held.group('value')} {thing}.")
    return None


def _set_to(clause: str, *, name: str) -> ChangingValue | None:
    said = _LATER.sub("", clause.strip(" .!"))
    said = f"I {said[:1].lower()}{said[1:]}" if _ALTERED_BEFORE.match(said) else said
    altered = _PUT_OFF.search(clause.strip(" .!")) or _ALTERS.match(said) or _WENT.match(said)
    found = altered or _IS.match(said)
    if found is None:
        return None
    value = found.group("value") or ""
    is_told = bool(altered) or _REGULAR.match(value) is not None  # "the yoga is on Mondays": one's own
    owner, thing = _whose_and_what(found, name=name, is_told=is_told)
    is_of_day = _IS_DAY.match(value) is not None
    has_article = _ARTICLE.match(found.group("thing") or "") is not None
    if not _is_meant(found.group("owner") or "", thing, is_altered=is_told, is_of_one=is_of_day or has_article):
        return None
    # A name is told of only where it moves a day: not "Congress raised the minimum wage to 15 dollars".
    who = found.group("who") if found.re is _ALTERS else None
    if who and not (is_of_day and may_be_name(who)):
        return None
    thing = thing.lower()
    thing = f"{thing} operation" if _BODY.fullmatch(thing) else thing  # "they've put my knee off"
    is_bare = value[:1].isdigit() and not _SPEAKS_FOR_ITSELF.search(value)
    if (not altered and _WITHOUT_MONTH.match(value)) or (is_bare and _MOVED.search(said)):
        return None
    if is_bare and not (found.group("owner") or altered):
        return None
    be = "are" if thing.endswith("s") and not thing.endswith("ss") else "is"
    when = f"until {value}" if _UNTIL.search(said) else f"on {value}" if _IS_DAY.match(value) else value
    what = thing if owner == name else f"{owner.rpartition(' ')[2]} {thing}"
    return _value(what, value, f"{owner}'s {thing} {be} {when}.")


def _whose_and_what(found: "re2._Match[str]", *, name: str, is_told: bool) -> tuple[str, str]:
    """Return whose a thing is and what it is: Simran's, who "moved the wedding", Theo's of "Theo's practice"."""
    thing = _ARTICLE.sub("", (found.group("thing") or "").removesuffix("'s"))  # "choir's moved to Mondays"
    who = (found.group("who") or "") if found.re is _ALTERS and found.group("owner") not in ("my", "our") else ""
    if who:
        return f"{who[:1].upper()}{who[1:]}", thing
    owned = _OF_SOMEBODY.match(thing) if is_told else None
    if owned is None:
        return name, thing
    return (f"{name}'s {owned['who']}" if found.group("owner") else owned["who"]), owned["thing"]


def _is_meant(owner: str, thing: str, *, is_altered: bool, is_of_one: bool) -> bool:
    words = thing.lower().split()
    excluded = _NO_THING - {"test"} if is_altered and len(words) > 1 else _NO_THING  # "the driving test was moved"
    if not excluded.isdisjoint(words) or not KIN_WORDS.isdisjoint(word.removesuffix("'s") for word in words):
        return False
    is_known = words[-1] in DATED_NOUNS | MEASURED_NOUNS
    if owner.lower() in ("my", "our") or is_known:
        return True
    if "'s" in thing or owner:
        return is_altered and "'s" not in thing
    # Without an owner small letters tell a thing from a name: "rehearsals are on Sundays", "Guest list grew to 95".
    if len(words) > 1:
        return thing.split()[-1].islower()
    # One word needs a day or an article: "Migration moved to June 6", but not "Oil rose to 90 dollars".
    return is_of_one and thing.lower() not in _FEASTS and (is_altered or thing.islower())


def _value(thing: str, value: str, content: str) -> ChangingValue:
    predicate = "_".join(thing.lower().replace("'s", "").replace("'", "").replace("-", " ").split())
    row = Pattern(
        name="changing_value",
        type=MemoryType.FACT,
        predicate=predicate,
        expression=".*",
        importance=0.6,
        is_single=True,
        max_words=8,
    )
    return ChangingValue(row=row, value=value, content=content)
