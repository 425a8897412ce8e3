"""Plans, wishes, appointments and decisions; the words that say when stay in the sentence."""

from functools import partial

from apps.pipeline.core.enums import MemoryType, SourceConfidence
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.lexicon.calendar import MONTHS
from apps.pipeline.lexicon.tables import alternation

_row = partial(Pattern, type=MemoryType.EVENT, topic="plans", importance=0.6, tags=("goal",), max_words=24)
# Intentions about the conversation itself are no plans.
_DOING = (
    r"(?:be(?:come)? |begin|bring|build|buy|camp|cook|create|get|give (?:a|an|back|my|\w+'s)\\b|go|grow|have|hike|host|improve|invest|join|launch|learn|leave|live|make (?:a|an|my|some|\w+'s)\\b|meet|move|open|organi[sz]e|"
    r"own|paint|participate|perform|plan (?:a|an|my|our|\w+'s)\b|play|present|publish|read|record|renovate|retire|ride|run|save|see the |sell|set up|sign up|spend|start|study|submit|surf|swim|switch|take (?:a|an|my|the|up|part|on|\w+'s|some)\\b|teach|train|travel|try (?:to|out|some|a|an|new)|visit|"
    r"volunteer|watch|win|work|write|adopt|apply|attend|celebrate|climb|compete|expand|explore|finish|fly|graduate|turn|use my|keep \w+ing|make (?:sure|people|things|others|more)|share|support|pass|raise|spread|help (?:people|kids|others|my|families|the|make|solve|with)|marry|experiment)"
)
# "Gonna be awesome!" is about the topic of the conversation.
_MOOD = r"(?:be (?:so|super|really|very|an? |the )*(?:awesome|great|fun|amazing|good|epic|cool|fine|ok|okay|tough|hard|blast|adventure|night|day|time|ride)|keep (?:going|pushing|trying|chasing|grinding|fighting|on|working (?:hard|at)|at it)|make (?:\w+'s|their) dreams|have (?:a )?(?:blast|fun|good time|great time)|see (?:what|how|if))\b"
_WHEN = rf"(?:tomorrow|tonight|this (?:week|weekend|month|summer|year|fall|winter|spring|evening|afternoon)|next \w+|in (?:a|two|three|the|{alternation(MONTHS)})|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|soon)"

PATTERNS = (
    _row(
        name="decided",
        predicate="decided",
        verbs=("decided", "chose", "picked", "opted", "settled", "agreed", "has", "went", "is"),
        expression=r"(?:decided(?: on| to| that| against| not to)?|chose(?: to)?|picked|opted for|settled on|agreed (?:to|on|that)|went with|is going with|has (?:decided|chosen|agreed)(?: on| to| that| against| not to)?) (?P<object>.+)",
        tags=("decision",),
        topic="decisions",
        importance=0.8,
    ),
    _row(
        name="plans_to",
        predicate="plans_to",
        verbs=("plans", "is", "intends", "aims", "has"),
        expression=r"(?:plans (?:to|on)|is (?:planning (?:to|on)|aiming to|looking to|hoping to|about to|determined to|set to|preparing to|getting ready to)|intends to|aims to|has (?:decided|plans|been planning) to) (?P<object>.+)",
    ),
    _row(
        name="considering",
        predicate="plans",
        verbs=("is", "has"),
        expression=r"(?:is|has been) (?:considering|thinking (?:of|about)|looking (?:into|at)|toying with|weighing up|tempted (?:to|by)) (?P<object>.+)",
        source=SourceConfidence.SPECULATED,
        importance=0.4,
    ),
    _row(
        name="planning",
        predicate="plans",
        verbs=("is", "has"),
        expression=r"(?:is|has been) (?:planning|organizing|organising|saving up for|saving for|looking for|searching for|researching|applying (?:to|for)) (?P<object>.+)",
        unless=r"\w+ing$",
    ),
    _row(
        name="wants_to_be",  # a career is a wish that lasts
        predicate="wants",
        verbs=("wants", "would", "hopes"),
        expression=r"(?:wants|would (?:like|love)|hopes) to (?P<object>(?:be|become|train as|qualify as|work as) an? (?:[a-z-]+ ){0,2}?[a-z-]+(?:er|or|ist|ian|ic|ant|ent|ect|eon|man|woman|nurse|vet|chef|pilot|judge)|study [a-z]+(?: [a-z]+)?(?: at .+)?)$",
        importance=0.7,
    ),
    _row(
        name="wants_to",
        predicate="wants",
        verbs=("wants", "would", "hopes", "dreams"),
        expression=rf"(?:wants|would (?:like|love)|hopes|dreams) (?:to (?:be able to |one day |someday )?|of |about )(?P<object>{_DOING}.+)",
        importance=0.5,
        adjustment=-0.05,
    ),
    _row(
        name="going_to",
        predicate="plans_to",
        verbs=("is",),
        expression=rf"is going to (?P<object>{_DOING}.+)",
        unless=_MOOD,
        importance=0.5,
        adjustment=-0.05,
    ),
    _row(
        name="going_away",
        predicate="plans",
        verbs=("is",),
        expression=r"is going (?P<object>(?:\w+ing|on (?:a|an|another|vacation|holiday)|to (?:a|an|the|\w+'s|(?-i:[A-Z])\w*)|away|back to|out to)\b.*)",
        unless=r"(?:\w+ing )?(?:crazy|nuts|through|great|well)\b",
        importance=0.5,
        adjustment=-0.05,
    ),
    _row(
        name="will_at",
        predicate="plans_to",
        verbs=("will",),
        expression=rf"will (?:be )?(?P<object>{_DOING}.*\b{_WHEN}\b.*)",
        unless=_MOOD,
        importance=0.5,
        adjustment=-0.05,
    ),
    _row(
        name="might",
        predicate="plans_to",
        verbs=("might", "may", "could"),
        expression=r"(?:might|may|could) (?P<object>(?:move|switch|change|buy|get|adopt|go|take|try|start|quit|sell|study|apply|visit|travel|join|learn|leave)\b.+)",
        source=SourceConfidence.SPECULATED,
        importance=0.4,
    ),
    _row(
        name="appointment",
        predicate="has_appointment",
        verbs=("has",),
        expression=r"has (?:got )?(?P<object>(?:a|an|another|\w+'s|some|her|his|their) (?:[\w'-]+ ){0,4}(?:appointment|operation|scan|mri|check-up|interview|exam|meeting|flight|deadline|presentation|wedding|trip|vacation|holiday|competition|tournament|show|performance|gig|concert|audition|race|marathon|surgery|recital|class|game|match|date|party|event|exhibition|conference|test|checkup)\b.*)",
        tags=(),
    ),
)  # fmt: skip
