"""Hasty spelling, written out: "im", "shes", "i dont", "my mums ill", "gareth is coeliac".

Only what can't be another word is changed: "ill", "were", "its" and "id" stay as they are, unless the word before or
after shows what is meant.
"""

import re

from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.function_words import SMALL
from apps.pipeline.lexicon.health_terms import CONDITION_ADJECTIVES
from apps.pipeline.lexicon.kinship import KIN_WORDS, NOUNS, PLURALS, partners
from apps.pipeline.lexicon.language import is_english
from apps.pipeline.lexicon.tables import alternation

_ENDINGS = {
    "'m": "im", "'ve": "ive weve youve theyve", "'re": "youre theyre", "'ll": "itll theyll youll",
    "'s": "shes hes thats theres whats whos wheres heres everyones nobodys",
    "n't": "dont doesnt didnt cant isnt arent wasnt werent havent hasnt hadnt couldnt wouldnt shouldnt mustnt",
}  # fmt: skip
_CONTRACTED = {
    word: f"{word[: len(word) + 1 - len(ending)]}{ending}"
    for ending, words in _ENDINGS.items()
    for word in words.split()
}
_HASTY = re.compile(
    rf"(?<![\w'’.@/-])(?:{alternation({*_CONTRACTED, *(word.capitalize() for word in _CONTRACTED)})})(?=,? [\w'’])"
)
# Short forms of messages, all of words of grammar or of the calendar.
_SHORT_FORMS = {
    "n": "and", "nd": "and", "u": "you", "r": "are", "ur": "your", "w": "with", "abt": "about", "cos": "because", "coz": "because", "cuz": "because",
    "cus": "because", "bc": "because", "tho": "though", "thru": "through", "pls": "please", "plz": "please", "gota": "gotta", "carnt": "can't",
    "aswell": "as well", "alot": "a lot", "tmrw": "tomorrow", "yr": "year", "yrs": "years", "hr": "hour", "hrs": "hours", "wk": "week", "wks": "weeks",
    "sept": "September", "tues": "Tuesday", "weds": "Wednesday", "thurs": "Thursday", "mon": "Monday", "fri": "Friday",
    "ppl": "people", "bday": "birthday", "b4": "before", "nite": "night", "rly": "really", "prob": "probably",
}  # fmt: skip
_SHORT_FORM = re.compile(rf"(?<![\w'’.@/&-])(?:{alternation(_SHORT_FORMS)})(?![\w'’@/&-])")
_SHORT_WORDS = frozenset(_SHORT_FORMS)
_I = re.compile(r"(?<![\w'’.@/(-])i(?=['’](?:m|ve|d|ll)\b| [a-z])")
_ILL = re.compile(
    r"(?<![\w'’-])(?:(?<=^)|(?<=, )|(?<=and )|(?<=so )|(?<=but ))[Ii]ll (?=(?:be|have|need|start|go|get|take|move|let|make|do|try|not)\b)"
)
# "I i take for for it": words of grammar that nobody says twice, unlike "that that" and "moves in in May".
_TWICE = re.compile(r"(?i)\b(?P<word>i|a|an|the|and|is|to|for|of|my|we|with|are|was|but|at|from)(?: (?P=word)\b)+")
_PLAIN = re.compile(r"[,.!?;:]")
# "Gary coming in June", "Mum staying till Sunday"
_IS_LEFT_OUT = re.compile(
    r"^(?P<who>(?!(?:[A-Z][a-z]*ing|Am|Just|Still|Now|Also|Not|Been|Thanks|Sorry)\b)[A-ZÀ-Þ][a-zà-ÿ]+) (?=(?:coming|going|staying|visiting|moving|starting|getting|flying|arriving|leaving|expecting|turning|retiring)\b)"
)
# "We have already daughter": an article that the writer's own language has not.
_WITHOUT_ARTICLE = re.compile(
    rf"\b(?P<have>(?:[Ii]|[Ww]e) have|[Ii]'ve|[Ww]e've)(?: already| also)? (?=(?:{alternation(KIN_WORDS - PLURALS)})\b)"
)
# "Myself Vikram, I am working at …"
_MYSELF = re.compile(r"^Myself (?=[A-ZÀ-Þ][a-z]+(?:$|[,.!]| (?:and|from)\b))")
_HASTY_WORDS = frozenset(_CONTRACTED)
_OWNERS = frozenset({"my", "our", "his", "her", "the"})
# Who is one of a kind has no plural: "my mums coming" is "my mum's coming".
_ONLY_ONES = alternation(word for word in KIN_WORDS if NOUNS[word].exclusive and not NOUNS[word].is_plural)
_ONE_OF_A_KIND = re.compile(rf"\b(?P<who>(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er) (?:{_ONLY_ONES}))s(?= [a-z])")
# "Daughter Linda lives in Akron", "boss is called Dev": who leaves the article out means their own.
_BARE_KIN = re.compile(
    rf"^(?P<who>(?i:{alternation(KIN_WORDS - PLURALS - frozenset({'child', 'kid', 'baby', 'friend', 'dog', 'cat', 'mother', 'father'}))}))"
    r"(?=['’]s [A-Za-zÀ-Þ]|,? [A-ZÀ-Þ][a-zà-ÿ]+,? (?!(?:and|or)\b)[a-z]| (?:is|was|has|had|can['’]t|cannot|doesn['’]t|isn['’]t|hasn['’]t|won['’]t|will|works|lives|says|thinks|wants|takes|gets|needs)\b)"
)
# "Son in Phoenix, Gary."
_KIN_IN_PLACE = re.compile(
    rf"^(?:[Mm]y |[Oo]ur )?(?P<who>(?i:{alternation(KIN_WORDS - PLURALS)})) (?P<where>in [A-ZÀ-Þ][\w'-]+(?: [A-ZÀ-Þ][\w'-]+)?), (?P<name>[A-ZÀ-Þ][a-zà-ÿ]+)(?=[.!]*$)"
)
_KIN_FIRST = re.compile(rf"^(?:[Mm]y |[Oo]ur )?(?i:{alternation(KIN_WORDS - PLURALS)})\b")
# "The wife Carol is ill" tells of the speaker's own.
_THE_WIFE = re.compile(
    r"(?:(?<=^)|(?<=[.,;!?] )|(?<=and )|(?<=but ))[Tt]he (?=(?:wife|husband|missus|boyfriend|girlfriend)\b(?:,? [A-ZÀ-Þ]|['’]s | (?:is|has|was|says|thinks|can|will|does|wants|likes|loves|hates)\b))"
)
# "Derek, that's my husband, had a stroke": read if the name is known, since "Yeah, he's ill" begins in the same way.
_THAT_IS = re.compile(
    rf"^(?P<name>[A-ZÀ-Þ][a-zà-ÿ]+), (?:that['’]s|who['’]s|that is|who is|(?:s?he['’]s|s?he is)) (?P<whose>my|our) (?P<kin>(?:[a-z]+ )?(?:{alternation(KIN_WORDS - PLURALS)}))(?P<end>[,.!]|$)(?: (?:he|she)(?=['’ ]))?"
)
# "Mark, he's a plumber"
_TAKEN_UP = re.compile(r"^(?P<name>[A-ZÀ-Þ][a-zà-ÿ]+), s?he['’]s (?=[a-z])")
# "me and joel (boyfriend)"
_IN_BRACKETS = re.compile(rf"\b(?P<name>[A-Za-z]{{3,12}}) \((?:my )?(?P<kin>{alternation(KIN_WORDS - PLURALS)})\)")
# "New roommate: Farah, moves in in August"
_ROLE_FIRST = re.compile(
    rf"^(?:(?:[Mm]y|[Oo]ur|[Tt]he) )?(?:[Nn]ew )?(?P<kin>(?i:{alternation(KIN_WORDS - PLURALS)})): (?P<name>[A-ZÀ-Þ][a-zà-ÿ]+)(?=[,.!]|$)"
)
_SHORT_NAME = r"(?P<name>(?!(?:she|he|who|it|that|this|there|they|what|whoever|whatever|one|and|but|so|mine|food|(?:every|some|any|no)(?:one|body|thing)|none|both|all)\b)[a-z]{3,12})"
_AS_A_PERSON = rf"(?:{alternation(CONDITION_ADJECTIVES)}|allergic to|vegetarian|veggie|vegan|pregnant|expecting|engaged|getting married|moving (?:in|out)|retir(?:ed|ing))"
# Only of somebody these are said without an article: "gareth is coeliac", "joel's asthmatic", "mia hates her job".
_OF_A_PERSON = re.compile(
    rf"(?:(?<=^)|(?<=[,;.] )|(?<=and )|(?<=but )|(?<=so )|(?<=because )|(?<=cause )){_SHORT_NAME}"
    rf"(?=(?:['’]s| is| has been| isn't)(?: (?:also|still|really|severely|very))? {_AS_A_PERSON}\b| (?:is|has been) my (?:{alternation(KIN_WORDS)})\b"
    rf"| (?:hates|eats|drinks|studies|teaches|got (?:married|engaged)|had (?:the|a|her) baby|lives (?:in|at|near))\b"
    rf"|['’]s (?:{alternation(word for word in KIN_WORDS - PLURALS if NOUNS[word].kin)})\b)"
)
_KIN_NAMED = re.compile(
    rf"\b(?P<lead>(?:[Mm]y|[Oo]ur) (?:{alternation(KIN_WORDS)}),? (?:is called |called |named )|(?:[Ss]he|[Hh]e|[Ii]t)(?:'s| is) called |(?:[Hh]er|[Hh]is|[Mm]y) name(?:'s| is) )(?P<name>[a-z]{{2,12}})(?=$|[\s,.;!])"
)


_FAMILY = frozenset(word for word in KIN_WORDS - PLURALS if NOUNS[word].kin or word in partners())
# "my sister simran's getting married": a word between a relative and a verb that is no verb itself.
_KIN_AND_NAME = re.compile(
    rf"\b(?P<lead>(?:[Mm]y|[Oo]ur) (?:(?:lil|little|big|older|younger) )?(?:{alternation(_FAMILY)}) )(?P<name>[a-z]{{3,12}})(?=['’]s [a-z]| (?:is|was|has|had|can['’]t|cannot|will|does|doesn['’]t|works|lives|likes|loves|hates|got|goes|says|wants|needs|plays|takes|gets)\b)"
)
_NO_NAMES = SMALL | frozenset("also just still already really never always now then only both says said thinks".split())


def _named_kin(found: re.Match[str]) -> str:
    word = found["name"]
    is_verb = (
        verbs.may_be_past(word) or bool(verbs.past_of(word)) or (word.endswith("s") and bool(verbs.past_of(word[:-1])))
    )
    is_known = word in _NO_NAMES or word in KIN_WORDS or word.endswith(("ing", "ly", "ed")) or is_verb
    return found.group() if is_known else f"{found['lead']}{word.capitalize()}"


def written_out(text: str, *, elsewhere: str = "") -> str:
    """Return a sentence with its apostrophes and the capitals of names, as far as they are sure.

    `elsewhere` is what the speaker says around it and said before: names that stand there are known.
    """
    text = _TWICE.sub(r"\g<word>", text)
    words = frozenset(text.lower().split())  # a set is quicker to ask than the expressions
    if not _HASTY_WORDS.isdisjoint(words) and is_english(text):  # "im" is a word of German
        text = _HASTY.sub(_with_apostrophe, text)
    if not _SHORT_WORDS.isdisjoint(_PLAIN.sub(" ", text).split()) and is_english(text):
        text = _SHORT_FORM.sub(lambda found: _SHORT_FORMS[found.group()], text)
    text = _MYSELF.sub("I'm ", text)
    text = _IS_LEFT_OUT.sub(r"\g<who> is ", text)
    text = _WITHOUT_ARTICLE.sub(r"\g<have> a ", text) if "have " in text or "'ve " in text else text
    if _KIN_FIRST.match(text):
        text = _KIN_IN_PLACE.sub(_living_there, text)
        text = _BARE_KIN.sub(lambda found: f"My {found['who'].lower()}", text)
    text = (
        _IN_BRACKETS.sub(lambda found: f"{found['name'].capitalize()} (my {found['kin']})", text)
        if "(" in text
        else text
    )
    text = _ROLE_FIRST.sub(r"My \g<kin> is \g<name>", _with_known_name_first(text, elsewhere))
    if "ill" in words:
        text = _ILL.sub("I'll ", text)
    if not _OWNERS.isdisjoint(words):
        text = _ONE_OF_A_KIND.sub(r"\g<who>'s", _THE_WIFE.sub("my ", text))
    text = _I.sub("I", text) if "i" in text else text
    if not _OWNERS.isdisjoint(words):
        text = _KIN_AND_NAME.sub(_named_kin, text)
    return _with_names(text)


def _with_known_name_first(text: str, elsewhere: str) -> str:
    first = _TAKEN_UP.match(text) or _THAT_IS.match(text)
    # Behind a small letter, a capital is of a name, not of the beginning of a sentence.
    if first is None or re.search(rf"[a-zà-ÿ],? {first['name']}\b", elsewhere) is None:
        return text
    return _TAKEN_UP.sub(r"\g<name> is ", _THAT_IS.sub(r"\g<whose> \g<kin> \g<name>\g<end>", text))


def _living_there(found: re.Match[str]) -> str:
    return f"My {found['who'].lower()} {found['name']} lives {found['where']}"


def _with_apostrophe(found: re.Match[str]) -> str:
    said = found.group()
    written = _CONTRACTED[said.lower()]
    return f"I{written[1:]}" if written == "i'm" or written == "i've" else f"{said[0]}{written[1:]}"


def _with_names(text: str) -> str:
    text = _OF_A_PERSON.sub(_with_capital, text)
    return text if any(char.isupper() for char in text.replace("I", "")) else _KIN_NAMED.sub(_with_capital, text)


def _with_capital(found: re.Match[str]) -> str:
    is_noun = found["name"] in KIN_WORDS or found["name"] in _NO_NAMES
    lead = found.groupdict().get("lead") or ""
    return found.group() if is_noun else f"{lead}{found['name'].capitalize()}"
