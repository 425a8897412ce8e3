"""What someone owns, uses, buys and drives."""

from functools import partial

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.lexicon.calendar import NAMES
from apps.pipeline.lexicon.tables import alternation

_row = partial(Pattern, type=MemoryType.FACT, topic="possessions", importance=0.5)
_THING = (
    r"(?:car|bike|bicycle|motorbike|motorcycle|scooter|van|truck|boat|phone|iphone|laptop|macbook|computer|pc|tablet|ipad|camera|guitar|piano|violin|drum|house|apartment|"
    r"flat|cabin|garden|watch|tv|console|printer|telescope|kayak|tent|collection|business|shop|store|studio|subscription|membership|website|blog|podcast|channel|"
    r"keyboard|synth|bookcase|library|tattoo)s?"
)

PATTERNS = (
    _row(
        name="drives",
        predicate="drives",
        verbs=("drives", "rides"),
        expression=r"(?:drives|rides) (?P<object>(?:a|an|the|\w+'s) .+)",
        ends="to|every|when|for|in|on",
        max_words=7,
    ),
    _row(
        name="bought",
        type=MemoryType.EVENT,
        predicate="bought",
        verbs=("bought", "purchased", "ordered", "got", "has", "picked"),
        expression=r"(?:bought|purchased|ordered|picked up|has (?:bought|purchased|ordered)|got) (?P<object>(?:a|an|some|two|three|the|new|another|\w+'s|\w+ a|\w+ an|themselves a) .+)",
        unless=r"(?:an?|two|three) \d|(?:an?|the|another|some|\w+'s) (?:\w+ )?(?:e-?mail|message|call|text|error|warning|notification|question|problem|issue|idea|chance|letter|result|answer|reply|bug|feeling|lot|bit|grip|hold|look|sense|point|response|traceback|exception)s?\b",
        max_words=20,
    ),
    _row(
        name="has_named",
        predicate="owns",
        verbs=("has", "owns"),
        expression=r"(?:has|has got|owns) (?P<object>an? (?:[a-z-]+ ){1,4}?(?:called|named) (?-i:[A-ZÀ-Þ]).*)",
        ends="and|who|in|on|at|with|for|from|that",
        max_words=8,
    ),
    _row(
        name="owns",
        predicate="owns",
        verbs=("owns", "has"),
        expression=rf"(?:owns|has|has got) (?P<object>(?:a|an|two|three|\d+|some|several) (?:[\w'-]+ ){{0,4}}{_THING}\b.*)",
        max_words=14,
    ),
    _row(
        name="uses",
        predicate="uses",
        verbs=("uses", "is", "switched", "has"),
        expression=r"(?:uses|is using|has been using|switched (?:over )?(?:from [\w ]+ )?to|has switched to) (?P<object>.+)",
        content="uses {object}",
        topic="tech",
        unless=r"(?:a|an|the)$|(?:the )?(?:first|second|third|last|other|new|old|same)$|(?:the|your|his|her|their) (?:\w+ )?(?:one|way|approach|method|function|class|loop|version|code|query|command|file|option)\b",
        ends="for|in|at|on|to|as|every|with|not|instead|now|during|almost|last|this|since|yesterday|today|because|from",
        max_words=6,
    ),
    _row(
        name="runs_on",
        predicate="uses",
        verbs=("is",),
        expression=r"is (?:now )?on (?P<object>(?-i:[A-Z])[\w.+#-]*(?: v?\d[\w.]*)?)(?: (?:now|these days|since .+|for .+|until .+))?[\s.!]*(?:,.*)?",
        content="is on {object}",
        topic="tech",
        unless=rf"(?:{alternation(NAMES)})\b",
    ),
    _row(
        name="saved_up",
        predicate="saved_up",
        verbs=("put", "set", "saved", "has"),
        expression=r"(?:has )?(?:put aside|set aside|saved(?: up)?) (?P<object>(?:about |around )?[€$£]?\d.*)",
        max_words=12,
        ends="so|and",
        is_single=True,
    ),
    _row(
        name="sold",
        type=MemoryType.EVENT,
        predicate="sold",
        verbs=("sold", "gave", "donated"),
        expression=r"(?:sold|gave away|donated) (?P<object>.+)",
        max_words=14,
    ),
)
