"""Name, age, nationality."""

from functools import partial

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.extraction.patterns.pattern import Pattern

_row = partial(Pattern, type=MemoryType.FACT, topic="identity", importance=0.7)
_DEMONYM = (
    r"(?:american|australian|austrian|belgian|brazilian|british|bulgarian|canadian|chilean|chinese|colombian|croatian|cuban|czech|danish|dutch|egyptian|english|"
    r"estonian|ethiopian|filipino|finnish|french|georgian|german|ghanaian|greek|hungarian|indian|indonesian|iranian|irish|israeli|italian|jamaican|japanese|"
    r"kenyan|korean|latvian|lebanese|lithuanian|mexican|moroccan|nigerian|norwegian|pakistani|peruvian|polish|portuguese|romanian|russian|scottish|serbian|"
    r"slovak|slovenian|spanish|swedish|swiss|syrian|taiwanese|thai|tunisian|turkish|ukrainian|vietnamese|welsh)"
)
_FAITH = "catholic|protestant|orthodox|mormon|sikh|jewish|christian|muslim|buddhist|hindu|atheist|agnostic"

PATTERNS = (
    _row(
        name="age",
        predicate="age",
        verbs=("is", "turned", "turns"),
        expression=r"(?:is|turned|turns|is turning|is about to turn) (?P<object>(?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty)(?: and a half)?)(?: years? old| yo)?\b[\s.!]*"
        r"(?:now|today|yesterday|on \w+|last \w+|this \w+|next \w+)?[\s.!]*(?:(?:,| and) .*)?",
        content="is {object} years old",
    ),
    _row(
        name="weight",
        predicate="weight",
        verbs=("weighs", "is"),
        expression=r"(?:weighs|is) (?:now |about |around |currently |down to |up to |at )*(?P<object>\d{2,3}(?:[.,]\d)? ?(?:kg|kgs|kilos?|kilograms?|lbs?|pounds?))\b[\s.!]*(?:now|today|these days)?[\s.!]*",
        content="weighs {object}",
    ),
    _row(
        name="height",
        predicate="height",
        verbs=("is",),
        expression=r"is (?:about |around )?(?P<object>(?:\d[.,]\d{1,2} ?(?:m|meters?|metres?)|\d{3} ?(?:cm|centimet(?:er|re)s?)|\d ?(?:'|ft|feet|foot) ?(?:\d{1,2} ?(?:\"|''|in|inches)?)?))(?: tall)?[\s.!]*",
        content="is {object} tall",
    ),
    _row(
        name="nationality",
        predicate="nationality",
        verbs=("is",),
        expression=rf"is (?:half |originally |a |an )*(?P<object>{_DEMONYM})(?: citizen)?[\s.!]*",
        content="is {object}",
    ),
    _row(
        name="faith",
        predicate="faith",
        verbs=("is",),
        expression=rf"is (?:a |an )?(?P<object>{_FAITH})(?:(?: so| and| but| since|,).*)?",
        content="is {object}",
    ),
    _row(
        name="goes_by",
        predicate="nickname",
        verbs=("goes", "is"),
        expression=r"(?:goes by|is (?:called|known as|nicknamed)) (?P<object>(?-i:[A-ZÀ-Þ]).*)",
        content="goes by {object}",
        ends="by|for|because|at|in",
        max_words=3,
    ),
    _row(
        name="introduces_self",
        predicate="name",
        verbs=("is",),
        expression=r"is (?P<object>(?-i:[A-ZÀ-Þ][a-zà-ÿ]+(?: [A-ZÀ-Þ][a-zà-ÿ'-]+){0,2}))[\s.!]*(?:,? (?:from|by the way|the new)\b.*)?",
        content="is called {object}",
        unless=r"(?:(?:very|so|not|still|just|all|team|type|gen|generation|happy|sorry|good|fine|great|european|african|asian|latin[oax]|hispanic|arab|black|white|[a-z]+ing)\b|(?:"
        + _FAITH
        + r")\b)",
        importance=0.9,
        only_speaker=True,
    ),
    _row(
        name="handedness",
        predicate="handedness",
        verbs=("is",),
        expression=r"is (?P<object>left[- ]handed|right[- ]handed|ambidextrous|a leftie|a lefty)\b.*",
        content="is {object}",
    ),
    _row(
        name="identifies_as",
        predicate="identifies_as",
        verbs=("identifies", "is"),
        expression=r"(?:identifies as|is (?:a|an)) (?P<object>(?:(?:trans|transgender|non-?binary|gay|lesbian|bisexual|bi|queer|single|proud) )*"
        r"(?:introvert|extrovert|trans (?:woman|man)|transgender (?:woman|man)|non-?binary(?: person)?"
        r"|lesbian|single (?:mom|mother|dad|father|parent)|twin|only child|night owl|morning person|early bird|perfectionist|minimalist|homebody|foodie|bookworm))\b.*",
    ),
)  # fmt: skip

# What no other row knows: "I'm a physio", "I'm a beekeeper in Kent".
OTHERWISE = (
    _row(
        name="is_a",
        predicate="is_a",
        verbs=("is",),
        expression=r"is an? (?P<object>[a-z-]+(?: [a-z-]+)?)(?: (?:in|at|from|for|by) .*|[,;(].*)?[\s.!]*",
        content="is {article} {object}",
        unless=r"(?:bit|little|lot)\b|(?:\w+ )*(?:mess|wreck|fan|idiot|moment|hurry|few|while|day|state|loss|rush|way|kind|sort|pain|problem|joke|thing|one|person|mood|week|minute|month|year|guest|member|joy|fool|regular|customer|user|meeting|call|bus|train|break)$|(?:really|very|so|too|quite|pretty|good|great|bad|big|huge|happy|new|sad)\b|[a-z]+ly\b",
        importance=0.6,
        only_speaker=True,
        max_words=2,
    ),
)  # fmt: skip
