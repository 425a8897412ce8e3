"""Trips, achievements and beginnings."""

from functools import partial

from apps.pipeline.core.enums import MemoryType, Polarity
from apps.pipeline.extraction.patterns.pattern import Pattern

_row = partial(Pattern, type=MemoryType.EVENT, topic="events", importance=0.6, max_words=28)

PATTERNS = (
    _row(
        name="never_forgets",
        predicate="remembers",
        verbs=("will",),
        expression=r"will forget (?P<object>.+)",
        polarity=Polarity.NEGATIVE,
        only_negated=True,
        importance=0.5,
    ),
    _row(
        name="remembers",
        predicate="remembers",
        verbs=("remembers",),
        expression=r"remembers (?P<object>(?:\w+ing|when|\w+'s \w+) .+)",
        unless=r"(?:when you|talking|you|hearing|seeing you)\b",
        only_speaker=True,
        importance=0.5,
    ),
    _row(
        name="cherishes",
        predicate="remembers",
        verbs=("will", "cherishes", "treasures"),
        expression=r"(?:will (?:remember|cherish|treasure)|cherishes|treasures) (?P<object>.+)",
        importance=0.5,
    ),
    _row(
        name="trip",
        predicate="visited",
        verbs=("visited", "went", "travelled", "traveled", "flew", "drove", "toured", "has", "is", "took", "spent"),
        expression=r"(?P<object>(?:visited|travell?ed (?:to|around|through)|flew to|drove to|toured|took a (?:trip|road trip|vacation|cruise|holiday)|went (?:to|on a|on an|camping|hiking|skiing|fishing|sailing|diving|surfing|backpacking|kayaking|swimming|biking|climbing)|has (?:visited|travell?ed to|been to)|is (?:visiting|travell?ing|flying to|driving to|off to|in town)|spent .{2,30} (?:in|at|with)) .+)",
        unless=r"is off to (?:bed|sleep|work|the (?:gym|shops?|store|office|next)|a (?:meeting|call))\b",
        topic="travel",
    ),
    _row(
        name="achieved",
        predicate="achieved",
        verbs=("won", "finished", "completed", "passed", "ran", "published", "released", "reached", "earned", "received", "has", "placed", "scored", "beat", "broke", "made", "achieved", "got", "signed", "landed"),
        expression=r"(?P<object>(?:(?:won|finished|completed|passed|published|released|reached|earned|received|placed|scored|achieved|landed|has (?:won|finished|completed|passed|published|released|received|reached|achieved|been (?:accepted|nominated|selected|invited)))|ran (?:a|an|the|\w+'s)|got (?:accepted|into|an award|a scholarship|selected|nominated|published|recognized|invited|approved)|signed) .+)",
    ),
    _row(
        name="started",
        predicate="started",
        verbs=("started", "began", "is", "has", "joined", "launched", "created", "founded", "opened", "took"),
        expression=r"(?P<object>(?:started|began|has (?:started|begun|joined|launched|created|opened)|is (?:starting|launching|opening|creating|joining)|joined|launched|created|founded|opened|took up) .+)",
        unless=r"(?:joined|has joined|is joining) User\b|(?:started|began|has started|has begun) (?:using|doing|with) (?:it|this|that)\b",
    ),
    _row(
        name="attended",
        predicate="attended",
        verbs=("attended", "participated", "took", "hosted", "organized", "organised", "performed", "competed", "volunteered", "presented", "gave", "met", "ran", "led", "has", "held"),
        expression=r"(?P<object>(?:attended|participated in|took part in|hosted|organi[sz]ed|performed|competed|presented|gave a (?:talk|speech|presentation|lecture|concert)|met|led|held|has (?:attended|hosted|met|organi[sz]ed|participated in)) .+)",
    ),
)  # fmt: skip
