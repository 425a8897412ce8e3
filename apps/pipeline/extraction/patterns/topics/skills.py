"""Languages, instruments, tools and what someone is learning."""

from functools import partial

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.extraction.patterns.pattern import Pattern

_row = partial(Pattern, type=MemoryType.FACT, topic="skills", importance=0.6)

PATTERNS = (
    _row(
        name="speaks",
        predicate="speaks",
        verbs=("speaks", "is"),
        expression=r"(?:speaks|is fluent in|is a native speaker of) (?:fluent |some |a bit of |a little |basic )?(?P<object>(?-i:[A-Z]).*)",
        content="speaks {object}",
        ends="at|with|to",
        max_words=10,
    ),
    _row(
        name="can_do",
        predicate="knows_skill",
        verbs=("knows", "can", "is"),
        expression=r"(?:knows how to|can|is able to) "
        r"(?P<object>(?:play|speak|cook|code|program|swim|drive|ski|dance|sing|draw|paint|bake|sew|juggle|type|read|write|(?-i:[a-z]+ing|[A-Z][\w+#]*))\b.*)",
        ends="if|now|for you",
        unless=r"(?:play|read|write|type|code|program)$",
    ),
    _row(
        name="good_at",
        predicate="good_at",
        verbs=("is",),
        expression=r"is (?:very |pretty |quite |not )?(?:good|great|skilled|experienced|proficient|talented|terrible|bad|hopeless) (?:at|in) (?P<object>.+)",
        max_words=8,
    ),
    _row(
        name="knows",
        predicate="knows_skill",
        verbs=("knows", "has"),
        expression=r"(?:knows|has (?:a lot of |some |\d+ years of |[\w]+ years of )?experience (?:with|in)) (?P<object>(?-i:[A-Z]|[a-z]+ing\b).*)",
        max_words=8,
    ),
    _row(
        name="plays",
        predicate="plays",
        verbs=("plays", "is", "has", "played", "started"),
        expression=r"(?:plays|is playing|has been playing|has played|started playing|picked up|has taken up|took up) (?P<object>(?:the |some |in a )?[\w].*)",
        topic="hobbies",
        unless=r"(?:it|along|around|with (?:it|that)|a (?:big |huge |key )?(?:role|part))\b",
        max_words=14,
    ),
    _row(
        name="learning",
        predicate="learning",
        verbs=("is", "has", "started", "learned", "learns"),
        expression=r"(?:is learning|has been learning|started learning|is teaching themselves|is taking (?:lessons|classes|a class|a course)(?: in| on)?|started taking|has been taking|is practicing|has been practicing|learned|learned how to) (?:how to )?(?P<object>.+)",
        max_words=16,
    ),
)  # fmt: skip
