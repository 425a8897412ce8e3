"""Where someone lives, comes from and moves."""

from functools import partial

from apps.pipeline.core.enums import EntityType, MemoryType
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.lexicon.calendar import MONTHS, WEEKDAYS
from apps.pipeline.lexicon.tables import alternation

_ENDS = (
    "today|yesterday|tomorrow|with|for|as|near|now|after|before|to|on|last|next|this|during|from|about|around|at|all|then|by|every|over|together|"
    "alone|once|recently|again|two|three|four|five|six|ten|and|not|instead|in|"
    r"earlier|(?:\d+|an?|(?:a )?few|a couple of|several) (?:days?|weeks?|months?|years?) (?:ago|back)"
)
# A name with a capital, or one lower-case word as people type it on a phone.
_PLACE = r"(?P<object>(?:the |downtown |north |south |east |west )?(?-i:[A-ZÀ-Þ]).*|[a-zà-ÿ-]{3,}(?: (?:now|anymore|again))?)"

_row = partial(
    Pattern, type=MemoryType.FACT, topic="home", importance=0.8, entity=EntityType.PLACE, ends=_ENDS, max_words=4
)

PATTERNS = (
    _row(
        name="lives_in",
        predicate="lives_in",
        verbs=("lives", "is", "resides", "stays", "has"),
        expression=rf"(?:lives|is living|is based|is now based|is located|resides|is settled|has lived|has been living) (?:over |out |here )?in {_PLACE}",
        content="lives in {object}",
        unless=r"(?:fear|poverty|hope|peace|denial|harmony|pain|style|luxury|sin|person|town|here|there|general|fact|debt|limbo|uncertainty)\b",
    ),
    _row(
        name="moved_to",
        predicate="lives_in",
        verbs=("moved", "has", "relocated", "settled"),
        expression=r"(?:moved|has moved|relocated|has relocated|settled)(?: here| back| over| out| away| down)?(?: from [\w' ]{2,30})? (?:to|in) (?P<object>(?:the )?(?-i:[A-ZÀ-Þ]).*)",
        content="lives in {object}",
        unless=rf"(?:{alternation({*MONTHS, *WEEKDAYS, *(f'{day}s' for day in WEEKDAYS)})}|(?:the )?(?:[\w-]+ )*(?:team|department|group|class|shift|ward|league|version|plan)$)\b",
    ),
    _row(
        name="will_move_to",
        type=MemoryType.EVENT,
        predicate="plans_to_move_to",
        verbs=("is", "plans", "will"),
        expression=r"(?:is (?:moving|relocating|planning to move|going to move|about to move)|plans to move|will move|will be moving)(?: back| over| out)? "
        r"(?:from [\w' ]{2,30} )?to (?P<object>(?-i:[A-ZÀ-Þ]).*)",
        tags=("goal",),
        ends="because|so",
        max_words=10,
        entity=None,
    ),
    _row(
        name="will_be_in",
        type=MemoryType.EVENT,
        predicate="plans_to_be_in",
        verbs=("will",),
        expression=rf"will be (?:staying |living )?in (?P<object>(?-i:[A-ZÀ-Þ]).*\b(?:from|until|till|in|on|for|since)\b.*(?:\d|(?i:{alternation(MONTHS)})|weeks?|months?).*)",
        tags=("goal",),
        ends="because|so",
        max_words=12,
        entity=None,
    ),
    _row(
        name="lived_in",
        predicate="lived_in",
        verbs=("lived", "used", "spent"),
        expression=r"(?:lived|used to live|was living|spent [\w ]{2,20} living) in (?P<object>(?-i:[A-ZÀ-Þ]).*)",
        importance=0.6,
    ),
    _row(
        name="comes_from",
        predicate="comes_from",
        verbs=("is", "comes", "was", "grew"),
        expression=r"(?:(?:is|comes|hails)(?: originally)? from|(?:grew up|was born(?: and raised)?|was raised) (?:in|near|outside)) (?P<object>(?-i:[A-ZÀ-Þ]).*)",
        content="comes from {object}",
        importance=0.7,
    ),
    _row(
        name="lives_with",
        predicate="lives_with",
        verbs=("lives", "shares", "moved"),
        expression=r"(?:lives|is living|shares (?:a|an|the) (?:flat|apartment|house|place|room)|moved in) with (?P<object>.+)",
        content="lives with {object}",
        entity=None,
        ends="in|at|for|now",
        max_words=8,
    ),
    _row(
        name="shares_home",
        predicate="lives_with",
        verbs=("shares",),
        expression=r"shares (?P<object>(?:a|an|the) (?:\w+ )?(?:flat|apartment|house|place|room) (?:in|with) .+)",
        entity=None,
        ends="but",
        max_words=14,
    ),
    _row(
        name="is_in",
        predicate="is_in",
        verbs=("is",),
        expression=r"is (?:over |out |based |living )?in (?P<object>(?-i:[A-ZÀ-Þ])[\w'-]+(?: (?-i:[A-ZÀ-Þ])[\w'-]+)?)[\s.!]*(?:,.*)?",
        unless=rf"(?:{alternation(MONTHS)})\b",
    ),
    _row(
        name="home_kind",
        predicate="home",
        verbs=("lives", "rents", "is"),
        expression=r"(?:lives in|rents|is (?:now )?renting in) (?P<object>(?:a|an) .*\b(?:rental|bedsit|sublet|house ?share|flat|apartment|house|studio|cottage|farm|van|village|loft|condo|dorm|room|town|(?:care|nursing|retirement) home)\b.*)",
        entity=None,
        ends="but|for",
        max_words=12,
    ),
    # Who only "is in" a room or a town is on a visit: a rental or a care home lasts.
    _row(
        name="home_for_now",
        predicate="home",
        verbs=("is",),
        expression=r"is (?:now )?in (?P<object>an? (?:[\w-]+ )?(?:rental(?: (?:flat|apartment|house|home|place))?|bedsit|sublet|house ?share|(?:care|nursing|retirement) home)(?:,? (?:in|near|now|until|till|since|for|but)\b.*)?)",
        entity=None,
        ends="but|for|until|till",
        max_words=12,
    ),
)
