"""Study and service: schools, subjects, degrees, and those who serve."""

from functools import partial

from apps.pipeline.core.enums import EntityType, MemoryType
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.extraction.patterns.topics.work import ORG_ENDS

_row = partial(Pattern, type=MemoryType.FACT, topic="education", importance=0.8)
_event = partial(Pattern, type=MemoryType.EVENT, topic="education", importance=0.7, max_words=20)

PATTERNS = (
    _row(
        name="studies",
        predicate="studies",
        verbs=("studies", "is", "majors", "has"),
        expression=r"(?:studies|is studying|majors in|is majoring in|has been studying|is (?:getting|doing|pursuing) (?:a|an|[\w]+'s) (?:degree|master'?s|masters|bachelor'?s|phd|doctorate|mba)(?: degree)?(?: in)?) (?P<object>.+)",
        content="studies {object}",
        unless=r"(?:for|hard|now|tonight|today|late)\b",
        ends="at|because|since|for|with",
        max_words=6,
    ),
    _row(
        name="study_year",
        predicate="studies",
        verbs=("is",),
        expression=r"is (?:now )?(?:in|doing) (?:the|my|their|\w+'s|a)? ?(?P<object>(?:first|second|third|fourth|fifth|final|last|\d(?:st|nd|rd|th)) year\b.*)",
        ends="and|so|because",
        max_words=10,
    ),
    _row(
        name="studies_at",
        predicate="studies_at",
        verbs=("studies", "is", "goes", "attends"),
        expression=r"(?:studies|is studying|is a student|goes to|attends|is enrolled) (?:at |in )?(?P<object>(?:the )?(?-i:[A-ZÀ-Þ]).*\b(?:university|college|school|academy|institute|conservatory|polytechnic|uni)\b.*|(?-i:[A-Z]{2,6})\b.*)",
        content="studies at {object}",
        entity=EntityType.ORGANISATION,
        ends=ORG_ENDS,
        max_words=6,
    ),
    # "Ellie's at Sheffield doing radiography", "my son is in the army"
    _row(
        name="is_at",
        predicate="studies_at",
        verbs=("is",),
        expression=r"is (?P<object>(?:away )?at (?:uni|university|college|sixth form|boarding school|(?-i:[A-ZÀ-Þ])\w+(?: (?-i:[A-ZÀ-Þ])\w+)? (?:doing|studying|reading) [a-z]+)\b.*|in the (?:army|navy|air force|marines|police|fire service|coastguard)(?:,.*| (?:over|in|since|for|as|now|and|till|until)\b.*)?|in (?:nursery|preschool|kindergarten|reception|year (?:\d+|[a-z]+)|(?:\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth) grade|high school|medical school|law school)\b.*)",
        importance=0.6,
        ends="and|but|so|because|until|till|for",
        max_words=10,
    ),
    _event(
        name="graduated",
        predicate="graduated",
        verbs=("graduated", "has", "finished", "completed", "earned", "got", "is"),
        expression=r"(?P<object>(?:(?:has |just )?graduated|is graduating|(?:finished|completed|earned|got|has finished|has completed) (?:a|an|the|[\w]+'s) (?:[\w']+ ){0,2}(?:degree|diploma|phd|thesis|master'?s|bachelor'?s|studies|certificate|certification))\b.*)",
    ),
)  # fmt: skip
