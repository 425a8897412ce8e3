"""What somebody's diet leaves out, and the aids that somebody has."""

from collections.abc import Iterator

import re2

from apps.pipeline.extraction.patterns.health.medicines import FindOwner
from apps.pipeline.extraction.patterns.health.owner import Owner
from apps.pipeline.extraction.patterns.health.terms import SYMPTOM, end_of, medicines_in, start_of
from apps.pipeline.extraction.patterns.health.told import HealthStatement
from apps.pipeline.lexicon.foods import is_food
from apps.pipeline.lexicon.health_terms import english_medicine

_UPSETS = re2.compile(rf"(?i)\b{SYMPTOM}\b|allerg")
_DIETS = {"veggie": "vegetarian", "veg": "vegetarian"}
_DIET = r"(?P<diet>vegetarian|vegan|veggie|pescatarian|halal|kosher|coeliac|celiac)"
_BECAME = re2.compile(
    rf"(?i)\b(?:went|going|gone|turned|became|become|now|full|fully|strict|strictly|pure|are|(?:has|have|needs?|must|should|got|gotta)(?: to)? be|(?:eat|eats|keep|keeps|only)|['’]m|am|is|['’]s) (?:(?:a|full|fully|strictly|pure|now|also|all) ){{0,2}}{_DIET}\b(?P<of>[ -](?:recipes?|restaurants?|food|options?|dinners?|meals?|friendly|safe)\b)?"
)
# "halal obvs", "kosher of course"
_OF_COURSE = re2.compile(
    rf"(?i)(?:^|[,;] )(?:all )?{_DIET},? (?:obvs|obvi|obviously|of course|naturally|only|please)\b"
)
# "no dairy, I get cramps from it": what is left out for the body's sake
_NO_FOOD = re2.compile(r"(?i)\b(?:no|nothing with|anything without) (?P<food>[\p{L}-]+)\b")
_LOW = re2.compile(
    r"(?i)(?:^|\b(?:on|in|me|eat|eats|follow|follows|keep|do|doing|be|is|am|have to|diet)(?: \w+){0,2} )(?P<diet>low[ -](?:salt|sodium|carb|fodmap|fat|sugar|potassium|protein|gi)|(?:gluten|lactose|dairy|sugar|salt|grain)[ -]free|keto)\b"
)
_ITEM = r"[\p{L}-]+(?: [\p{L}-]+)?"
_NONE_OF = re2.compile(
    rf"(?i)^(?:(?:so|and|also|now|then|that means|means|at home|it's|well) )*,?no (?:more )?(?P<items>{_ITEM}(?:(?:,| and| or|, and) (?:no )?{_ITEM}){{1,6}})(?:$|[.!;]| for (?:me|him|her|us)| in (?:my|our|the) house| at home| any ?more)"
)
_GIVEN_UP = re2.compile(
    r"(?i)\b(?:off|cut out|cuts out|cutting out|gave up|given up|gives? up|quit|avoids?|avoiding|(?:stay|keep|steer)(?:ing|s)? (?:away from|off|clear of)|lay off|(?:doesn|don)['’]?t want(?: anything with)?) (?:the |all |any )?(?P<food>[\p{L}-]+(?: (?:and|or) (?:no )?[\p{L}-]+)?)"
)
_NOT_GIVEN_UP = re2.compile(
    r"(?i)\b(?:day off|took|take|taken|taking|get|got|come|came|kick|set|sets|pay|paid|show|put|can't|cannot|to)(?: \w+)? $"
)
_AT_TIMES = re2.compile(r"(?i)^ (?:on|during|before|after|in|at|until|for|this|today|tonight|every)\b")
_AID = re2.compile(
    r"(?i)\b(?P<aid>(?:(?:two|an?|her|his|my|the) )?(?:epi-?pens?|pacemaker|defibrillator|stent|splint|knee brace|back brace|glucose (?:monitor|sensor)|hearing aids?|insulin pump|walking frame|walker|walking stick|wheelchair|crutches|(?:prosthetic|artificial|false) (?:leg|arm|hand|foot|eye)|dentures|cpap(?: machine)?|prosthesis|stoma|(?:varifocal |reading )?glasses|contact lenses))\b(?P<after>.{0,20})"
)
_WHOSE = re2.compile(r"^(?:her|his|my|the) ")
_WHERE = re2.compile(r"(?i)^ (?:for|in) (?:the|his|her) (?:left|right) \p{L}+")
_ARTICLE = re2.compile(r"^(?:an?|two) ")
_HAS_AID = re2.compile(
    r"(?i)\b(?:has|have|got|gets?|gave|given|wears?|uses?|using|carry|carries|carried|fitted|put|keeps?|with|needs?|ordered)(?: (?:me|him|her|us|a|an|the|my|his|for|been)){0,3} $|^$"
)
_IS_THERE = re2.compile(
    r"(?i)^(?:['’](?:s|re))?(?: (?:is|are|has been|was))?(?: now)? (?:in|fitted)\b|^, (?:minus|plus|one|two|in)\b|^ in (?:the|every|my|her|his|each)\b"
)

_MAY_TELL = re2.compile(
    r"(?i)\b(?:no|nothing|off|cuts?|cutting|gave|gives?|given|quit|avoid\w*|away|clear|\w+n['’]t|low|\w+[ -]free|keto|veg\w*|pescatarian|halal|kosher|coeliac|celiac|epi-?pens?|pacemaker|hearing|pump|stent|splint|brace|monitor|sensor|defibrillator|frame|walker|stick|wheelchair|crutches"
    r"|cpap|prosthe\w+|artificial|false|dentures|stoma|glasses|lenses)\b"
)


def diets_told(clause: str, *, owner_before: FindOwner) -> Iterator[HealthStatement]:
    """Yield diets, foods that are left out, and aids."""
    if not _MAY_TELL.search(clause):
        return
    if (diet := _BECAME.search(clause)) and not diet.group("of"):
        yield _diet(diet.group("diet"), owner_before(start_of(diet, "diet")))
    elif of_course := _OF_COURSE.search(clause):
        yield _diet(of_course.group("diet"), owner_before(of_course.start() + 1))
    if low := _LOW.search(clause):
        name = low.group("diet").lower()
        eats = f"eats {name.replace('fodmap', 'FODMAP')}"
        yield HealthStatement(owner_before(low.start()), "restricted_diet", name, eats)
    yield from _left_out(clause, owner_before)
    yield from _aids(clause, owner_before)


def _diet(said: str, owner: Owner) -> HealthStatement:
    name = _DIETS.get(said.lower(), said.lower())
    return HealthStatement(owner, "diet", name, f"is {name}")


def _left_out(clause: str, owner_before: FindOwner) -> Iterator[HealthStatement]:
    if listed := _NONE_OF.match(clause):
        text = listed.group("items")
        if not _names_food(text):
            yield from _forbidden_medicines(text, owner_before)
            return
        yield _without(text, owner_before(start_of(listed, "items")))
        return
    for banned in _NO_FOOD.finditer(clause) if _UPSETS.search(clause) else ():
        if is_food(banned.group("food")):
            yield _without(banned.group("food"), owner_before(banned.start()))
            return
    given_up = _GIVEN_UP.search(clause)
    if given_up is None or _AT_TIMES.match(clause[given_up.end() :]):
        return
    if _names_food(given_up.group("food")) and not _NOT_GIVEN_UP.search(clause[: given_up.start()]):
        yield _without(given_up.group("food"), owner_before(given_up.start()))


def _without(text: str, owner: Owner) -> HealthStatement:
    items = [_without_request(item) for item in _split(text)]
    told = " or ".join(filter(None, (", ".join(items[:-1]), items[-1]))).lower()
    return HealthStatement(owner, "avoids", told, f"does not have {told}")


def _forbidden_medicines(text: str, owner_before: FindOwner) -> Iterator[HealthStatement]:
    """Yield what "no Advil, no sumatriptan" forbids."""
    for term in medicines_in(text):
        name = english_medicine(term.text)
        yield HealthStatement(owner_before(0), "cannot_have", name, f"cannot have {name}", is_negated=True)


def _without_request(item: str) -> str:
    """Return what is left out: "no chicken please" names chicken."""
    words = item.removeprefix("no ").split()
    return " ".join(words[:1] if len(words) > 1 and is_food(words[0]) and not is_food(words[1]) else words)


def _split(text: str) -> list[str]:
    parts: list[str] = re2.split(r"(?i),? (?:and|or) |, ?", text)
    return [part for part in parts if part.strip()]


def _names_food(text: str) -> bool:
    return any(is_food(word) for word in text.replace(",", " ").split())


def _aids(clause: str, owner_before: FindOwner) -> Iterator[HealthStatement]:
    for found in _AID.finditer(clause):
        is_there = _IS_THERE.match(clause[end_of(found, "aid") :]) is not None
        is_had = found.start() > 0 and _HAS_AID.search(clause[: found.start()]) is not None
        if not (is_there or is_had):
            continue
        aid = _WHOSE.sub("", found.group("aid").lower())
        bare = _ARTICLE.sub("", aid)
        article = "" if aid != bare or aid.endswith("s") else "an " if aid[0] in "aeiou" else "a "
        where = _WHERE.match(clause[end_of(found, "aid") :])
        told = f"has {article}{aid}{where.group() if where else ''}"
        yield HealthStatement(owner_before(found.start()), "has_aid", bare, told)
