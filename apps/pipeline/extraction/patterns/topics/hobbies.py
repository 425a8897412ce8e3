"""Hobbies, routines, memberships and voluntary work."""

from functools import partial

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.extraction.patterns.pattern import Pattern

_row = partial(Pattern, type=MemoryType.FACT, topic="hobbies", importance=0.5, max_words=18)

_REGULARLY = r"(?:every (?:day|morning|evening|night|week|weekend|month|year|other day|\w+day)|each (?:day|morning|week|weekend)|daily|(?:once|twice|[a-z]+ times|\d times) (?:a|per) (?:day|week|month|year)|on (?:weekends|weekdays|\w+days)|at (?:\d|five|six|seven|eight|nine|ten|eleven|midnight|noon|night)[\w:]*(?: ?[ap]m)?)"

PATTERNS = (
    _row(
        name="does_activity",
        predicate="does",
        verbs=("does", "practices", "practises", "goes", "is"),
        expression=r"(?:does|practices|practises|goes|is doing) (?P<object>(?:yoga|pilates|crossfit|karate|judo|ballet|meditation|running|swimming|hiking|climbing|cycling|dancing|fishing|camping|surfing|skiing|jogging|bouldering|birdwatching|ceramics|pottery|origami|volunteer work|[a-z]+ing|to the gym|for (?:a )?(?:runs?|walks?|hikes?|swims?))\b.*)",
    ),
    _row(
        name="trains_for",
        predicate="training_for",
        verbs=("is", "has", "trains", "signed"),
        expression=r"(?:is (?:training|preparing|practicing|rehearsing|studying|getting ready|prepping)|trains|has been (?:training|preparing|practicing)|signed up|is signed up|registered|has signed up) for (?P<object>.+)",
        tags=("goal",),
        importance=0.6,
    ),
    _row(
        name="has_been_doing",
        predicate="does",
        verbs=("has",),
        expression=r"has been (?P<object>(?:running|swimming|hiking|climbing|cycling|dancing|painting|writing|reading|cooking|baking|gardening|drawing|knitting|skiing|surfing|volunteering|teaching|meditating|journaling|fishing|skating|singing|sewing|collecting|coding|blogging|streaming)\b.*)",
    ),
    _row(
        name="member_of",
        predicate="member_of",
        verbs=("is", "belongs", "joined", "has", "sings", "plays", "dances", "rows", "acts"),
        expression=r"(?:is (?:a |an active |also )?member of|belongs to|is part of|is in|(?:sings|plays|dances|rows|acts|is (?:singing|playing|dancing|rowing|acting)) (?:in|with|for)|joined|has joined|became a member of) (?P<object>(?:a|an|the|\w+'s) (?:[\w'-]+ ){0,5}(?:club|team|group|choir|band|orchestra|gym|society|association|church|league|community|union|committee|board|class|program|network|studio)\b.*)",
        ends="and|to|last|in|because|here",
    ),
    _row(
        name="volunteers",
        predicate="volunteers_at",
        verbs=("volunteers", "is", "has", "volunteered"),
        expression=r"(?:volunteers|is volunteering|has been volunteering|volunteered|has volunteered) (?:at|for|with|in) (?P<object>.+)",
        importance=0.6,
    ),
    _row(
        name="collects",
        predicate="collects",
        verbs=("collects", "breeds", "grows", "brews", "builds", "restores", "is"),
        expression=r"(?:collects|is collecting|breeds|grows|brews|builds|restores) (?P<object>.+)",
    ),
    _row(
        name="routine",
        predicate="routine",
        tags=("behaviour",),
        verbs=("runs", "swims", "walks", "does", "gets", "wakes", "meditates", "cycles", "goes", "works", "commutes", "practices", "trains", "has", "takes", "jogs", "reads", "starts", "must", "tests", "checks", "measures", "injects"),
        unless=r"\w+ (?:\w+ )?(?:it|that|this|them)\b",
        expression=rf"(?P<object>\w+ (?:.*\b)?{_REGULARLY}\b.*)",
        keeps=_REGULARLY,
    ),
)  # fmt: skip
