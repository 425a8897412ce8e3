"""Likes, dislikes, favourites, interests and diet: one predicate `likes`, so that a change of heart is seen."""

from functools import partial

from apps.pipeline.core.enums import MemoryType, Polarity
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.lexicon.foods import FOODS
from apps.pipeline.lexicon.tables import alternation

_row = partial(Pattern, type=MemoryType.PREFERENCE, topic="tastes", importance=0.6)
# Praise of something just shown or said is no preference.
_PASSING = (
    r"(?:that|this|these|those|how|what|when|all (?:the|those|these)|the (?:way|idea|look|vibe|colou?rs?|sound|fact|part|details|thought|energy|photo|pic|picture|design|enthusiasm|spirit|blue|red|green|name)"
    r"|hearing (?:about|from|that)|to (?:hear|see|know|check|help|join|come|be)|seeing (?:that|this)|them|it|him|her)\b"
)

PATTERNS = (
    _row(
        name="dislikes",
        predicate="likes",
        verbs=("hates", "dislikes", "detests", "despises", "loathes"),
        expression=r"(?:hates|dislikes|detests|despises|loathes) (?P<object>.+)",
        polarity=Polarity.NEGATIVE,
    ),
    _row(
        name="cannot_stand",
        predicate="likes",
        verbs=("can",),
        expression=r"can (?:stand|bear|stomach|abide) (?P<object>.+)",
        unless=r"(?:up|by|on|in|still|out|for)\b",
        only_negated=True,
    ),
    _row(
        name="likes",
        predicate="likes",
        verbs=("likes", "loves", "enjoys", "adores", "has"),
        expression=r"(?:likes|loves|enjoys|adores|has always (?:loved|liked|enjoyed)|has loved) (?P<object>.+)",
        unless=_PASSING,
    ),
    _row(
        name="fan_of",
        predicate="likes",
        verbs=("is", "has"),
        expression=r"(?:is|has been|has always been) (?:a |an |such a )?(?:big |huge |massive |great |real |lifelong |true )*(?:fan of|fond of|keen on|crazy about|in love with|partial to|hooked on|addicted to|obsessed with) (?P<object>.+)",
    ),
    _row(
        name="fears",
        type=MemoryType.FACT,
        predicate="fears",
        verbs=("is", "has"),
        expression=r"(?:is|has always been) (?:really |very |a bit |so )?(?:afraid|scared|terrified|frightened) of (?P<object>.+)",
        unless=_PASSING,
        max_words=6,
    ),
    _row(
        name="interested_in",
        predicate="interested_in",
        verbs=("is", "has"),
        expression=r"(?:is|has been|has always been|got) (?:very |really |deeply |super |big )?(?:into|interested in|passionate about|fascinated by|drawn to|curious about|enthusiastic about) (?P<object>.+)",
        max_words=16,
    ),
    _row(
        name="passion_for",
        predicate="interested_in",
        verbs=("has",),
        expression=r"has (?:a|an|always had a) (?:[\w-]+ )?(?:passion|love|thing|soft spot|weakness|interest) (?:for|in) (?P<object>.+)",
    ),
    _row(
        name="prefers",
        predicate="prefers",
        verbs=("prefers", "would"),
        expression=r"(?:prefers|would rather (?:have|use|do|take|eat|drink)) (?P<object>.+)",
        max_words=16,
    ),
    _row(
        name="diet",
        type=MemoryType.FACT,
        predicate="diet",
        verbs=("is", "became", "went", "has"),
        expression=r"(?:is|became|has become|went|is now|has been|has gone)(?: a| an)? (?:strictly |mostly )?(?P<object>vegetarian|vegan|pescatarian|gluten[- ]free|keto|kosher|halal|teetotal)\b.*",
        content="is {object}",
        topic="food",
        importance=0.8,
    ),
    _row(
        name="keeps_diet",
        type=MemoryType.FACT,
        predicate="diet",
        verbs=("keeps", "eats"),
        expression=r"(?P<verb>keeps|eats) (?P<object>kosher|halal|gluten[- ]free|vegan|vegetarian|keto)\b.*",
        content="{verb} {object}",
        topic="food",
        importance=0.8,
    ),
    _row(
        name="goes_without",
        type=MemoryType.FACT,
        predicate="consumes",
        verbs=("has",),
        expression=r"has (?P<object>[a-z]+(?: [a-z]+)? since .+)",
        topic="food",
        only_negated=True,
    ),
    _row(
        name="does_without",
        type=MemoryType.FACT,
        predicate="consumes",
        verbs=("goes",),
        expression=rf"goes without (?P<object>(?:{alternation(FOODS)}|drinks?|alcohol|booze|beer|wine|lactose|cigarettes|sweets|snacks)\b.*)",
        topic="food",
        polarity=Polarity.NEGATIVE,
        importance=0.7,
    ),
    _row(
        name="consumes",
        type=MemoryType.FACT,
        predicate="consumes",
        verbs=("eats", "drinks", "smokes", "cooks", "bakes", "watches", "reads", "listens", "is"),
        expression=r"(?:eats|drinks|smokes|cooks|bakes|watches|reads|listens to|is (?:reading|watching)) (?P<object>.+)",
        importance=0.5,
        max_words=16,
    ),
)
