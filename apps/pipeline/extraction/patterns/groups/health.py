"""Allergies, conditions, injuries, treatment and what was given up."""

from functools import partial

from apps.pipeline.core.enums import MemoryType, Polarity
from apps.pipeline.extraction.patterns.pattern import Pattern

_row = partial(Pattern, type=MemoryType.FACT, topic="health", importance=0.9)
_CONDITION = (
    r"(?:type \d )?(?:diabetes|asthma|adhd|autism|epilepsy|anxiety|depression|migraines?|arthritis|insomnia|anemia|celiac disease|coeliac disease|ibs|pcos|eczema|"
    r"high blood pressure|low blood pressure|hypertension|tinnitus|dyslexia|cancer|endometriosis|a heart condition|a bad (?:back|knee|hip|shoulder)|gastritis|a fear of [\w ]+|a phobia of [\w ]+)"
)

PATTERNS = (
    _row(
        name="allergic_to",
        predicate="allergic_to",
        verbs=("is",),
        expression=r"is (?:severely |badly |deathly |highly |mildly |very )?allergic to (?P<object>.+)",
        content="is allergic to {object}",
        importance=0.95,
        ends="and is|not",
    ),
    _row(
        name="has_allergy",
        predicate="allergic_to",
        verbs=("has",),
        expression=r"has (?:got )?(?:a|an) (?:severe |bad |mild |serious )?(?P<object>[\w -]{2,30}?) (?:allergy|intolerance)\b.*",
        content="has {article} {object} allergy",
        importance=0.95,
    ),
    _row(
        name="cannot_have",
        predicate="can_have",
        verbs=("can",),
        expression=r"can (?:eat|have|drink|tolerate|digest) (?P<object>.+)",
        content="can have {object}",
        topic="food",
        only_negated=True,
        ends="at|in|on|with|for|after|before|without|until|right|yet|today|tonight",
        max_words=4,
    ),
    _row(
        name="has_condition",
        predicate="has_condition",
        verbs=("has", "was", "suffers", "is"),
        expression=rf"(?:has|has got|was diagnosed with|got diagnosed with|has been diagnosed with|suffers from|is living with|lives with) (?P<object>{_CONDITION})\b.*",
        content="has {object}",
    ),
    _row(
        name="diagnosed",
        type=MemoryType.EVENT,
        predicate="diagnosed_with",
        verbs=("was", "got", "has"),
        expression=r"(?:was|got|has been) diagnosed with (?P<object>.+)",
    ),
    _row(
        name="injury",
        type=MemoryType.EVENT,
        predicate="injured",
        verbs=("broke", "hurt", "sprained", "twisted", "injured", "tore", "fractured", "pulled", "had", "has", "underwent"),
        expression=r"(?:broke|hurt|sprained|twisted|injured|tore|fractured|pulled|has (?:broken|hurt|sprained|injured)|had|underwent) (?P<object>(?:[\w' ]+ )?(?:arm|leg|knee|ankle|wrist|back|shoulder|foot|hand|finger|toe|hip|neck|rib|muscle|surgery|operation|injury|accident|stroke|heart attack)\b.*)",
        max_words=16,
        importance=0.8,
    ),
    _row(
        name="takes_medicine",
        predicate="takes",
        verbs=("takes", "is"),
        expression=r"(?:takes|is taking|is on) (?P<object>(?:[\w-]+ ){0,3}(?:medication|medicine|pills?|insulin|antidepressants?|antibiotics?|ibuprofen|vitamins?|statins?|supplements?|painkillers?)\b.*)",
        max_words=10,
    ),
    _row(
        name="given_up",
        predicate="does",
        verbs=("stopped", "quit", "gave", "has", "is"),
        expression=r"(?:stopped|quit|gave up|has (?:stopped|quit|given up)|is (?:giving up|quitting)) (?P<object>\w+ing\b.*|alcohol.*|meat.*|coffee.*|sugar.*|caffeine.*|cigarettes.*|social media.*)",
        polarity=Polarity.NEGATIVE,
        importance=0.7,
        ends=r"a|an|one|two|three|four|five|six|\d+|last|this|in|since|for|when|after|years|months|years ago",
        max_words=4,
    ),
)  # fmt: skip
