"""Statements without a typed row: events, ongoing activities and lasting feelings, in the speaker's own words."""

import re

import re2

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.extraction.patterns.clause import ParsedClause
from apps.pipeline.extraction.patterns.dated_events import names_a_date
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.calendar import UNAMBIGUOUS_MONTHS
from apps.pipeline.lexicon.health_terms import HEALTH_SIGN
from apps.pipeline.lexicon.tables import alternation

# Verbs about the conversation, the moment or opinions.
_EMPTY_VERBS = frozenset(
    "thinks thought guesses guessed knows knew hopes hoped means meant says said sees hears heard agrees agreed bets bet "
    "wonders wondered appreciates appreciated understands understood believes supposes promises remembers remembered forgot "
    "forgets asks asked tells told looks sounds seems let lets could will would should must might may cares trusts "
    "thanks wishes imagines assumes figured figures doubts cares sends sent shows showed shares has was is".split()
)
# In the present, what people do over and over is told in free words: not what they can or want, nor what they do in the
# talk itself.
_PASSING_VERBS = frozenset(
    "can cannot want wish recommend suggest imagine inspire congratulate encourage admit apologize apologise bet call check deserve disagree agree "
    "expect forgive give happen hate hear hope invite like look love make mean mind notice owe picture promise realize realise "
    "recall regret resonate relate see seem send should shout show sound stand support swear sympathize talk tell thank try turn understand vote wait "
    "welcome wonder would"
    # No verbs at all, where somebody leaves a word out.
    " first last when as while if then once both each what who where why how one too".split()
)
_REGULAR = frozenset("always usually often sometimes rarely mostly never seldom".split())
_DONE_REGULARLY = frozenset("bring call check give let look make see send show support talk try turn".split())
# What was only read or heard is no life, and "live for weekends" no home.
_EMPTY_DEED = re2.compile(
    r"(?i)^(?:(?:was told|read|heard|saw)(?: \w+)? that\b|lives (?:in the moment|for)\b|moved here\b)"
)
_EMPTY_STATE = re2.compile(
    r"(?i)^(?:is|was|feels|felt|has been)(?: \w+ly| so| very| really| just| always| still| also| super| all| pretty| too| a bit| kinda| even| more| truly)* "
    r"(?:glad|in (?:(?-i:[A-Z])\w*|[\w']+ (?:teens|twenties|thirties|forties|fifties|sixties|seventies|eighties)\b)|happy (?:for|to (?:hear|help|see))|sorry|sure|fine|good|ok|okay|here|there|back|great|well|done|ready|afraid|right|wrong|tired|hungry|bored|busy$|sleepy|curious|jealous|"
    r"impressed|surprised|not|able|free|on (?:my|the) (?:way|phone|bus|train|line|couch|plane|road|call)|on a call|at (?:work|home|lunch)|taking (?:the|a) (?:bus|train|tram|taxi|cab|nap|break|shower|call)|running late|sitting|standing|waiting|heading|leaving (?:now|soon|for)|eating|having (?:lunch|dinner|breakfast|coffee|tea)|moving (?:to the next|on)|using this|looking at|with you|all ears|in (?:awe|luck|shock)|up for|down|aware|certain|kidding|joking|wondering|asking|saying|talking|telling|guessing|"
    r"going to (?:be\b|check|make (?:it|this|that)|give (?:it|that|them|up)|stay|forget|find|keep (?:going|pushing|trying|chasing|grinding|fighting|striving|believing|on|working (?:hard|at)|you|it)|make .*dreams|see (?:what|how|if|you)|look|try (?:it|that)|let\b)|hearing|feeling|thinking (?:it|that|so|of you)|doing (?:ok|well|good|great|my)|rooting|cheering|amazed|stoked for|proud of you|so proud|happy|sick|cold|hot|sad|mad|confused|lost|awake|exhausted)\b"
)
_STATE = re2.compile(
    r"(?i)^(?:is|was|feels|felt|has been)(?: \w+ly| so| very| really| just| always| also| super| such| pretty| truly)* (?:excited|proud|grateful|thankful|nervous|worried|scared|afraid|passionate|"
    r"determined|devoted|tempted|swamped|busy|keen|torn|invested|obsessed|comfortable|confident|moved|touched|over the moon|allergic|much|less|inspired|stressed|overwhelmed|thrilled|stoked|pumped|honou?red|blessed|lucky|used|ready|committed|dedicated|focused|involved|surrounded|raised|inspired|known|good|great|bad|terrible|happy|super|new|part|close|responsible|"
    r"a|an|the|in|on|at|from|one|my|[\w]+ing|[\w]+'s)\b.{8,}"
)
_HAS_TO = re.compile(
    r"(?i)^(?:has|had) (?:to (?:run|go|get going|head|sleep|say|admit|try|check|savor|look|have|see|agree|ask)\b|not\b|no\b|got to\b"
    r"|a (?:great|good|nice|fun|blast|lovely|wonderful) (?:time|day|one|night|evening|weekend)$)"
)
_VERB_GROUP = re2.compile(r"(?i)^(?:has [\p{L}-]+e[dn]\b|\S+)(?: (?:[\p{L}-]+ing|not|been|to|[\p{L}-]+ly|all)\b)*")
_PRONOUN_OBJECT = re.compile(
    r"(?i) (?:(?:it|them|one|there|what|how|why)\b(?!-| of\b)|so(?:$|[,.!]| (?:much|too|that|far)\b)"
    r"|(?:this|that|these|those)(?:$|[,.!?]| (?:is|was|and|to|so|in|on|at|for|with|from|when|as|all|too|up|out|more|year's)\b))"
)

_CUT = re.compile(
    r"[;(…]|,? so (?:keep|please|make|no|be|can|could|just|let|don't|do not|never)\b|\s(?:for|with|to|like) you(?:$|[ ,.!])|\s[-–—]+\s?|[!?…]+\s|\.{2,}\s|,? (?:haha|lol|you know|and stuff)\b|,? (?:and|but|so|which|as|'?cause|cuz|because|since)? ?(?:it|it's|its|that's|there's|this|they're|what)\b(?=.*)"
    r"|, (?:so|but|which|and|huh|right|though|too)\b.*",
    re.IGNORECASE,
)
_DANGLING = re.compile(
    r"(?i)(?:[\s,]++(?:and|but|so|or|to|with|the|a|an|of|for|that|as|because|which|how|if|when|about|in|at|on|cause|then|just|really|though|too|not|plus|called|even|like|from|since|until|before|after))+$"
)
# What is left of "I wanted to let you know" and "I came across it".
_UNFINISHED = re.compile(
    r"(?i)(?:^|\s)(?:to (?:let|give|make|get|tell|show|see|use|try|do|keep|put|take|have|find|bring|want|love|like)|(?:when \w+ )?came across|\w+'ll \w+|for (?:sticking|making|giving|letting|doing))$"
)
# "this bowl" means nothing later; "this week" stays.
_POINTING = re.compile(
    r"\b(?:this|these|those) (?!(?:who|that|days|week|weekend|month|year|morning|afternoon|evening|summer|winter|spring|fall|autumn|time|semester|season|quarter|\w+day|is|was|and|to|in)\b)(?=[a-z])"
)


def general_row(statement: ParsedClause, *, name: str, to_assistant: bool) -> Pattern | None:
    """Return the row for a general statement, or None if it is not worth storing.

    What people say to one another in free words is mostly of their lives. What is said to an assistant is mostly of the
    task at hand: there a statement must show by itself that it lasts.
    """
    if to_assistant and not _shows_that_it_lasts(statement, name):
        return None
    phrase, verb = statement.phrase, statement.verb.lower()
    if not _is_near(statement) and not to_assistant and not (verbs.may_be_past(verb) and verb != "was"):
        return None
    least = 1 if statement.is_negated and to_assistant else 3 if statement.about_speaker else 2
    if _has_pronoun_object(phrase) or _EMPTY_DEED.match(phrase) or _HAS_TO.match(phrase) or len(phrase.split()) < least:
        return None
    if verb in ("is", "was", "feels", "felt") or phrase.startswith("has been"):
        return STATE if _is_lasting_state(statement) else None
    if verb in ("has", "had"):
        return HAVING if len(phrase) > 12 else None
    if verb in _EMPTY_VERBS:
        return None
    if verbs.may_be_past(verb):
        return EVENT
    return ONGOING if _is_lasting_deed(statement) else None


def _has_pronoun_object(phrase: str) -> bool:
    """Return True for "went there" and "has been doing it": what is meant stands in another sentence."""
    verb = _VERB_GROUP.match(phrase)
    return verb is not None and _PRONOUN_OBJECT.match(phrase, verb.end()) is not None


# What one does in the simple present to an assistant is done again and again; other verbs may be of the task at hand.
_HABITUAL = frozenset(
    "bake bike brew climb coach collect commute cook cycle dance deploy draw drink drive eat fish fly garden grow hike host hunt jog juggle kayak "
    "knit meditate paint play practise practice rent ride row run sail sew sing skate ski sleep smoke speak surf swim teach train travel tutor vape "
    "volunteer wear work write".split()
)
_DURATIVE = frozenset(
    "live work stay study teach own run play know speak drive belong support follow train rent commute manage lead".split()
)


def _is_named(statement: ParsedClause) -> bool:
    return statement.subject.text not in ("She", "He", "They")


# A regular time, a date, a long time, or someone or something by name.
_TIME = (
    rf"\b(?i:every|each|always|usually|since|daily|weekly|monthly|\w+days|weekends|mornings|evenings|(?:\d+|\w+) years?|years|(?:a|per) (?:day|week|month|year)|to (?:work|school|uni|college|church|nursery)|{alternation(UNAMBIGUOUS_MONTHS)}"
    r"|(?:last|next) (?:year|month|summer|winter|spring|autumn|fall))\b|\b(?:19|20)\d\d\b"
)
_WHEN = re2.compile(_TIME)
# What happened on a weekday happened once.
_WEEKDAY = re.compile(r"(?<!last )(?<!next )\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b")
_LASTS = re2.compile(rf"{_TIME}| (?:'s )?\p{{Lu}}\p{{Ll}}")
_OF_THE_MOMENT = re2.compile(
    r"(?i)^(?:needs|wants|has to|has got to|is|was|feels|felt|got|gets|has got|had got)\b|\b(?:now|today|tonight|yesterday|just|already|this (?:morning|afternoon|evening|week))\b|, "
)
# "now" with a regular time tells of a new habit, not of the moment.
_REGULARLY = re2.compile(r"(?i)\b(?:every \w+|on \w+days|\w+days|(?:once|twice|\w+ times) (?:a|per) \w+)\b")
_NOW = re.compile(r"(?i)\bnow\b")
_OWNS_SEVERAL = re2.compile(
    r"(?i)^has (?:got )?(?:about |around |over |almost |nearly )?(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) (?:[a-z'-]+ ){0,3}[a-z'-]+s\b"
)
_HEALTH = re2.compile(rf"(?i)\b{HEALTH_SIGN}\b")
_PASSING_STATE = re2.compile(
    r"(?i)^(?:calls?|called|asks?|asked|googled|read|wonders|looks|looked|heard|saw|has a question|is looking|is asking|is reading|is wondering)\b|\bquestion\b"
)
# "Priyanka is going on maternity leave in July"
_PLANNED = re2.compile(
    r"(?i)^is (?:not )?(?:going|having|getting|moving|coming|leaving|starting|flying|taking|visiting|staying)\b"
)
_OF_SOMEBODY_OPEN = re.compile(r"\b(?:him|her|it|them|this|that)\b")
_WANTED = re2.compile(r"(?i)^(?:needs|wants|has to|has got to)\b")
_LASTING_STATE = re2.compile(
    r"(?i)^(?:is|has been|was) .*\b(?:since|for (?:\w+ )?years|every|always|on \w+days|(?:a|per) (?:day|week|month|year))\b"
)


def _shows_that_it_lasts(statement: ParsedClause, name: str) -> bool:
    phrase = statement.phrase.replace(f"{name}'s ", "").replace(f" {name}", "")
    if not (_is_near(statement) or _is_named(statement)):
        return False
    if statement.is_over and _HEALTH.search(phrase):
        return True  # "no longer needs the tablets"
    is_passing = _OF_THE_MOMENT.search(phrase if not _REGULARLY.search(phrase) else _NOW.sub("", phrase)) is not None
    if _HEALTH.search(phrase) and not (is_passing or _PASSING_STATE.search(phrase)):
        return True
    if statement.verb.lower() in ("is", "was") or phrase.startswith("has been"):
        is_planned = _PLANNED.match(phrase) and names_a_date(phrase) and not _OF_SOMEBODY_OPEN.search(phrase)
        return bool(is_planned) or _LASTING_STATE.match(phrase) is not None
    if not _WANTED.match(phrase) and (names_a_date(phrase) or _is_relation_to(statement, name)):
        return True
    return not is_passing and _is_done_again(statement, phrase)


def _is_done_again(statement: ParsedClause, phrase: str) -> bool:
    """Return True for regular or long activities: "I run three times a week", "we have two cats"."""
    if statement.is_negated and " " not in phrase:
        return not verbs.may_be_past(phrase)
    if _is_habit(statement) or _OWNS_SEVERAL.match(phrase):
        return True
    if not verbs.may_be_past(statement.verb) and verbs.base_form(statement.verb) not in _DURATIVE:
        return _WHEN.search(phrase) is not None or bool(_REGULAR.intersection(statement.adverbs) - {"never"})
    return _LASTS.search(_WEEKDAY.sub("", phrase)) is not None or bool(
        _REGULAR.intersection(statement.adverbs) - {"never", "still"}
    )


def _is_habit(statement: ParsedClause) -> bool:
    """Return True for habits of the speaker in the simple present: "I wear size 43 shoes", "I work night shifts"."""
    base = verbs.base_form(statement.verb)
    is_present = not verbs.may_be_past(statement.verb) and statement.verb.endswith("s")
    return (
        statement.about_speaker
        and is_present
        and base in _HABITUAL
        and len(statement.phrase.split()) > 1
        and not statement.is_over
    )


def _is_relation_to(statement: ParsedClause, name: str) -> bool:
    """Return True for "Priya is our designer" and "Walter mows the lawn for me"."""
    phrase = f"{statement.phrase} "
    if statement.about_speaker or not _is_named(statement):
        return False
    return f" for {name} " in phrase or f" {name} " in phrase


def _is_near(statement: ParsedClause) -> bool:
    """Of someone who is only named, or "she", the rows know what lasts; in free words only what happened is kept."""
    return statement.about_speaker or statement.is_owned


def _is_lasting_deed(statement: ParsedClause) -> bool:
    base = verbs.base_form(statement.verb)
    if not base.replace("-", "").isalpha():
        return False
    return base not in _PASSING_VERBS or (base in _DONE_REGULARLY and bool(_REGULAR.intersection(statement.adverbs)))


def _is_lasting_state(statement: ParsedClause) -> bool:
    if _EMPTY_STATE.match(statement.phrase):
        return False
    if statement.is_owned and _LASTING_STATE.match(statement.phrase):
        return True
    if statement.is_owned and statement.verb == "feels":
        return True
    return _STATE.match(statement.phrase) is not None or _told_at_length(statement)


def _told_at_length(statement: ParsedClause) -> bool:
    return statement.verb in ("was", "felt") and len(statement.phrase.split()) >= 5


def _general(name: str, type: MemoryType, importance: float) -> Pattern:
    return Pattern(
        name=name, type=type, predicate="", expression=".*", importance=importance, adjustment=-0.1, max_words=34
    )


EVENT = _general("event", MemoryType.EVENT, 0.4)
ONGOING = _general("ongoing", MemoryType.FACT, 0.4)
STATE = _general("state", MemoryType.FACT, 0.35)
HAVING = _general("having", MemoryType.FACT, 0.4)


def free_phrase(phrase: str, *, least: int = 0) -> str:
    """Cut a phrase where it begins to comment on itself; "" when fewer words than `least` are left.

    By default that is four words of a state, and two of anything else.
    """
    cut = _CUT.search(phrase, 12)
    kept = phrase[: cut.start()] if cut else phrase
    kept = _DANGLING.sub("", kept.strip(" .,!~*\"'")).strip(" .,!~*\"'")
    if cut:
        kept = _DANGLING.sub("", _UNFINISHED.sub("", kept).strip()).strip(" .,")
    words = kept.split()
    least = least or (4 if words[:1] and words[0] in ("is", "was", "has", "feels", "felt") else 2)
    return _POINTING.sub("the ", kept) if least <= len(words) <= EVENT.max_words else ""
