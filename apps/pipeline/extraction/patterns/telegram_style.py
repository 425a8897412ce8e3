"""What telegrams leave out, written out: "Ingrid, starts May 4", "Two kids, Mia and Theo", "On metformin since 2019".

Only what can be nobody else's and nothing else is written out: a verb behind a comma needs a name right before it, and a
sentence that begins with "Lives" a person of whom the one before tells.
"""

import re

from apps.pipeline.extraction.patterns.topics.work import ROLE_NOUN
from apps.pipeline.lexicon.calendar import MONTHS, NAMES
from apps.pipeline.lexicon.foods import is_food
from apps.pipeline.lexicon.kinship import ANIMALS, KIN_WORDS, NOUNS, PLURALS
from apps.pipeline.lexicon.language import is_english
from apps.pipeline.lexicon.numerals import ORDINALS
from apps.pipeline.lexicon.tables import alternation

_NO_NAME = rf"(?:I|We|You|It|This|That|They|She|He|There|Yes|Yeah|{alternation(each.capitalize() for each in (*MONTHS, *NAMES))})"
_NAME = rf"(?P<name>(?!{_NO_NAME}\b)[A-ZÀ-Þ][a-zà-ÿ]+)"
# What is said of somebody for good; "runs", "takes" and "comes" are said of things as well.
_LASTS = (
    r"(?:lives (?=in|at|near|with|on|alone)|drives (?=an?\b|the\b)|hates|loves|studies|teaches|plays (?=the\b|for\b|in\b)|smokes|suffers (?=from\b)"
    r"|works (?=at|as|for|in|nights|part[- ]time|full[- ]time)|eats (?=no\b|only\b)|speaks (?=[A-Z])|is allergic|has (?=diabetes|asthma|epilepsy))"
)
# "Ingrid, starts May 4", "QA lead is Bola, joins on the 11th": the name before the comma does it.
_VERB_BEHIND = re.compile(
    rf"(?P<before>[a-z:] |^){_NAME}, (?P<verb>starts|joins|leaves|moves (?:in|out)|{_LASTS})(?=\s|$)"
)
# Words that stand before somebody's name: "children: Mark, he's a plumber", "grandkids Juniper she's nine".
_BEFORE_NAME = rf"(?:{alternation(KIN_WORDS)}|called|named|and|that['’]s)"
_TAKEN_UP = re.compile(
    rf"(?P<before>\b{_BEFORE_NAME}:? ){_NAME},?(?: that['’]s [^,]{{3,30}},)? s?he(?P<short>['’]s| is| has| can['’]t| cannot| works| lives) (?=[a-z])(?!the one\b)"
)
_SAID_TO = re.compile(r"(?i)\b(?:told|tell|asked|said|think|know|sure|between|if|whether)\b")
_COUNTED = alternation(word for word in KIN_WORDS if NOUNS[word].kin in ("child", "grandchild") or word in ANIMALS)
_HAS_SOME = re.compile(
    rf"^(?P<married>(?:[Mm]arried|[Dd]ivorced|[Ww]idowed|[Ss]ingle)(?:,| and| with) )?(?P<some>(?:an?|[Oo]ne|[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[2-5]) (?:(?:small|grown|little|young|teenage|old|big) )?(?:{_COUNTED}))(?P<end>$|[.,:;!])"
)
_MEDICINE = r"(?:[a-zA-Z]+(?:ine|ide|ol|in|ril|tan|pam|fen|one|ate|xin|zole|mab)|HRT|(?:the )?(?:pill|gel|patch)|(?:the )?(?:\w+ )?(?:tablets|pills|meds|medication|injections|statins|steroids|antibiotics|blood thinners|insulin|inhaler))"
_ON = re.compile(
    rf"^(?:(?:[Nn]ow|[Ss]till|[Bb]ack) )?(?P<on>[Oo]n|[Oo]ff) (?=(?:the )?{_MEDICINE}(?:$|[.,;]| (?:now|since|for|every|again|once|twice|\d)))"
)
_ORDINAL_WORDS = {word: number for word, number in ORDINALS.items() if word != "second"} | {"first": 1, "second": 2}
_TENS = {"twenty": 20, "thirty": 30}
_ORDINAL = rf"(?P<tens>(?:twenty|thirty)[ -])?(?P<ordinal>{alternation(_ORDINAL_WORDS)}|thirtieth)"
_MONTH = rf"(?P<month>(?i:{alternation(MONTHS)}))"
_MONTH_FIRST = re.compile(rf"\b{_MONTH} (?:the )?{_ORDINAL}\b")
_DAY_FIRST = re.compile(rf"\b(?:the )?{_ORDINAL} of {_MONTH}\b")
_WHO_BEHIND = re.compile(
    rf"^(?P<who>(?:[Mm]y|[Oo]ur) (?:[a-z]+ )?(?:{alternation(KIN_WORDS - PLURALS)})(?: [A-ZÀ-Þ][a-zà-ÿ]+)?),? who(?P<is>['’]s| is| has| was| had) (?P<what>[^,]{{2,40}}), (?P<rest>(?:is|has|was|can['’]t|cannot|doesn['’]t|[a-z]+s) .+)$"
)
# "Alfie's allergic to eggs, would you believe"
_IN_PASSING = re.compile(
    r"(?i),? \b(?:would you believe(?: it)?|believe it or not|if you can believe (?:it|that)|if you please|bless (?:him|her|them)|touch wood|fingers crossed)\b(?=,|$|[.!]|\s)"
)
_TAIL = re.compile(r"(?i),? (?:btw|by the way|lol|haha|tho|tbh|fyi|ta)(?=[.!]*$)")
# "When you suggest a cake, please remember that she has coeliac disease": what is to be remembered stands for itself.
_REMINDING = re.compile(
    r"(?i)(?:^|[ ,])(?:(?:bear(?:ing)?|keep(?:ing)?) in mind|remember(?:ing)?|given|considering|(?:must|should|may) (?:also )?(?:mention|add|say)) that (?=(?:I|I['’]\w+|my|we|our|she|he|\w+ is forbidden)\b)"
)
# "Squash, I regret to say, I cannot abide"
_FRONTED = re.compile(
    r"^(?P<thing>[A-Z][a-z]+(?: [a-z]+){0,2}?),?(?: I (?:regret|am sorry|am afraid)(?: to say)?,)? I (?P<verb>(?:can['’]t|cannot) (?:abide|stand|bear|stomach)|love|adore|hate|detest|loathe)(?P<end>[.!]*)$"
)
# "My mother in Dunga had a stroke"
_KIN_AT = re.compile(
    rf"^(?P<who>(?:[Mm]y|[Oo]ur) (?:{alternation(word for word in KIN_WORDS - PLURALS if NOUNS[word].kin)})(?: [A-ZÀ-Þ][a-zà-ÿ]+)?) in (?P<where>(?!(?:Christ|Law|God|Heaven|{alternation(each.capitalize() for each in MONTHS)})\b)[A-ZÀ-Þ][a-zà-ÿ]+) (?=(?:is|has|had|was|can['’]t|cannot|needs|wants|says|turned|got|broke|takes)\b)"
)
# "They made me head roaster"
_MADE = re.compile(
    rf"^(?:[Tt]hey|[Ss]he|[Hh]e|[Ww]ork|[Mm]y boss)(?:['’]ve| have|['’]s| has)? (?:made me|promoted me to) (?P<what>(?:the )?(?:head [a-z]+|team (?:lead|leader)|(?:[a-z]+ )?(?:manager|supervisor|director|partner|{ROLE_NOUN})))(?=$|[.,!])"
)
# "My physio says no running on hard ground"
_FORBIDDEN = {
    "running": "run", "swimming": "swim", "driving": "drive", "flying": "fly", "lifting": "lift", "kneeling": "kneel",
    "climbing": "climb", "alcohol": "have alcohol", "caffeine": "have caffeine", "salt": "have salt", "dairy": "have dairy",
}  # fmt: skip
_SAYS_NO = re.compile(
    rf"^(?:(?:[Mm]y|[Tt]he) )?(?:[Pp]hysio|[Dd]octor|[Dd]oc|GP|gp|[Nn]urse|[Cc]onsultant|[Mm]idwife|[Dd]entist|[Ss]urgeon|[Dd]ietician) (?:says|said) no (?P<what>{alternation(_FORBIDDEN)})\b"
)
_WRITTEN_SHORT = {"'s": " is", "’s": " is"}


def written_in_full(text: str) -> str:
    """Return a sentence with the subjects, verbs and dates that a telegram leaves out, as far as they are sure."""
    if not is_english(text):
        return text
    text = _with_days_in_digits(_TAIL.sub("", _IN_PASSING.sub("", text)))
    if " that " in text and not text.endswith("?") and (reminding := _REMINDING.search(text)):
        text = text[reminding.end() :]
    text = _SAYS_NO.sub(lambda found: f"I must not {_FORBIDDEN[found['what']]}", text)
    text = _FRONTED.sub(_in_order, text)
    text = _KIN_AT.sub(r"\g<who> lives in \g<where> and \g<who> ", text)
    text = _MADE.sub(lambda found: f"I'm the {found['what'].removeprefix('the ')}", text)
    text = _VERB_BEHIND.sub(r"\g<before>\g<name>, \g<name> \g<verb>", text) if ", " in text else text
    text = re.sub(r"^(?P<name>[A-ZÀ-Þ][a-zà-ÿ]+), (?P=name) ", r"\g<name> ", text)
    if not _SAID_TO.search(text):
        text = _TAKEN_UP.sub(_named_again, text)
    if apart := _WHO_BEHIND.match(text):
        text = f"{apart['who']}{_WRITTEN_SHORT.get(apart['is'], apart['is'])} {apart['what']} and {apart['who'][:1].lower()}{apart['who'][1:]} {apart['rest']}"
    text = _ON.sub(lambda found: f"I'm {found['on'].lower()} ", text)
    return _HAS_SOME.sub(_having, text)


def _in_order(found: re.Match[str]) -> str:
    thing = found["thing"]
    thing = f"{thing[:1].lower()}{thing[1:]}" if " " in thing or is_food(thing) else thing
    return f"I {found['verb']} {thing}{found['end']}"


def _named_again(found: re.Match[str]) -> str:
    verb = _WRITTEN_SHORT.get(found["short"], found["short"])
    return f"{found['before']}{found['name']}, {found['name']}{verb} "


def _having(found: re.Match[str]) -> str:
    married = f"I'm {found['married'].split()[0].lower().strip(',')}, and " if found["married"] else ""
    return f"{married}I have {found['some'][:1].lower()}{found['some'][1:]}{found['end']}"


def _with_days_in_digits(text: str) -> str:
    lower = text.lower()
    if not any(month in lower for month in MONTHS):
        return text
    return _DAY_FIRST.sub(_day, _MONTH_FIRST.sub(_day, text))


def _day(found: re.Match[str]) -> str:
    number = 30 if found["ordinal"] == "thirtieth" else _ORDINAL_WORDS[found["ordinal"]]
    tens = (found["tens"] or "").strip(" -")
    if tens and number > 9:
        return found.group()
    return f"{_TENS.get(tens, 0) + number} {found['month'][:1].upper()}{found['month'][1:]}"


_GREETS = re.compile(r"(?i)^\W*(?:hi|hey|hello|good (?:morning|evening|afternoon)|(?:\w+ )here\b)")
# "noor, 33, freelance photographer in toronto": the first words of somebody who introduces themselves.
_BARE_SELF = re.compile(
    rf"^(?:(?:[Hh]i|[Hh]ey|[Hh]ello)[,.!]? )?(?P<name>[A-Za-zÀ-ÿ]{{3,12}})(?: here)?, (?P<rest>\d{{2}}, (?:[a-z-]+ ){{0,3}}{ROLE_NOUN}(?: (?:in|at|from|on) [^,.]{{2,40}})?(?:,(?! [a-z]+(?:ed|s)\b).*)?)$"
)


def introducing_oneself(text: str, *, turn: str) -> str:
    """Return "I'm Noor, 33, …" for the bare name, age and trade of somebody whose first turn greets."""
    found = _BARE_SELF.match(text) if _GREETS.match(turn) else None
    return f"I'm {found['name'].capitalize()}, {found['rest']}" if found else text


# "Lives in Hull. Hates peas.", behind a sentence about one person.
_GOES_ON = re.compile(rf"^(?P<verb>(?i:{_LASTS}))")


def with_person_before(text: str, *, name: str) -> str:
    """Return "Anna lives in Hull" for "Lives in Hull.", where `name` is the person whom the sentence before is about."""
    found = _GOES_ON.match(text) if name else None
    return f"{name} {text[:1].lower()}{text[1:]}" if found else text
