"""Work: employers, roles, teams, pay."""

from functools import partial

from apps.pipeline.core.enums import EntityType, MemoryType
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.lexicon.calendar import NAMES
from apps.pipeline.lexicon.tables import alternation

ROLE_NOUN = (
    r"(?:engineer|developer|programmer|designer|teacher|nurse|doctor|surgeon|lawyer|attorney|accountant|manager|director|consultant|analyst|architect|"
    r"scientist|researcher|professor|lecturer|student|writer|author|journalist|editor|photographer|painter|artist|musician|singer|actor|actress|dancer|chef|"
    r"cook|baker|barista|waiter|waitress|bartender|driver|pilot|paramedic|firefighter|policeman|officer|soldier|veteran|plumber|electrician|carpenter|"
    r"mechanic|farmer|gardener|salesperson|recruiter|marketer|banker|trader|broker|realtor|freelancer|contractor|entrepreneur|founder|owner|ceo|cto|cfo|"
    r"intern|apprentice|secretary|assistant|receptionist|librarian|translator|interpreter|tutor|coach|trainer|instructor|psychologist|therapist|counselor|"
    r"counsellor|psychiatrist|dentist|pharmacist|veterinarian|vet|physicist|chemist|biologist|mathematician|economist|statistician|historian|philosopher|"
    r"geologist|astronomer|tester|admin|administrator|technician|operator|lead|retiree|pensioner|blogger|youtuber|streamer|postdoc|"
    r"\w+ologist|\w+ographer|electrician|politician|physician|technician|dietician|pirate|astronaut|king|queen|spy|detective|wizard|judge|captain|"
    r"beekeeper|florist|tailor|hairdresser|stylist|cleaner|foreman|lineman|fireman|postman|postwoman|policewoman|fisherman|salesman|saleswoman|businesswoman|businessman|craftsman|tradesman|handyman|doorman|cameraman|chairman|chairwoman|colou?rist|bricklayer|welder|joiner|roofer|decorator|builder|surveyor|optician|physiotherapist|paralegal|solicitor|barrister|nanny|caregiver|carer|social worker|midwife|courier|cashier|clerk|butcher|priest|pastor|monk|nun)"
)
_HOLDS = r"(?:is|works as|has become|became|will be|is going to be) (?:now |the (?:new )?|a (?:new )?)?"
ORG_ENDS = (
    "today|yesterday|tomorrow|as|in|for|since|and|on|with|now|from|after|last|this|next|during|every|not|instead|here"
)
_NAME = r"(?-i:(?:The |[Tt]he )?[A-Z0-9À-Þ]).*"
_row = partial(Pattern, type=MemoryType.FACT, topic="work", importance=0.8)
_event = partial(Pattern, type=MemoryType.EVENT, topic="work", importance=0.7, max_words=20)

PATTERNS = (
    _row(
        name="works_at",
        predicate="works_at",
        verbs=("works", "is", "has"),
        expression=r"(?:works|is working|is employed|has been working|has worked)(?: now| remotely| full[- ]time| part[- ]time)?"
        rf"(?: as (?:a|an|the) [\w -]{{2,40}}?)? (?:at|for) (?P<object>{_NAME})",
        content="works at {object}",
        entity=EntityType.ORGANISATION,
        ends=ORG_ENDS,
        max_words=5,
    ),
    _row(
        name="works_at_place",
        predicate="workplace",
        verbs=("works", "is", "has"),
        expression=r"(?:works|is working|has worked|has been working)(?: now| full[- ]time| part[- ]time| nights)? (?P<verb>(?:at|for) (?:an?|the)|in an?) (?P<object>.+)",
        content="works {verb} {object}",
        ends="today|yesterday|as|since|with|now|this|next|during|every|not|here",
        unless=r"(?:moment|same|fix|bug|feature|way|time|minute|desk|computer|hurry|team|while)\b",
        max_words=8,
    ),
    _row(
        name="working_time",
        predicate="working_time",
        verbs=("works",),
        expression=r"works (?P<object>(?:part[- ]time|full[- ]time|nights?|night shifts?|shifts|weekends|from home|remotely|freelance|\d+ hours|(?:two|three|four|five) days) ?.*)",
        content="works {object}",
        max_words=8,
        importance=0.6,
    ),
    _row(
        name="new_working_time",
        predicate="working_time",
        verbs=("has", "went", "is", "goes"),
        expression=r"(?:(?:has gone|went|is going|goes)|is (?:now )?(?:down|up|back) to) (?P<object>(?:part|full)[- ]time|(?:\d|two|three|four|five) days(?: (?:a|per) week)?)\b.*",
        content="works {object}",
        importance=0.6,
    ),
    _row(
        name="new_employer",
        predicate="works_at",
        verbs=("joined", "started", "is", "has", "got", "accepted"),
        expression=r"(?:started (?:working )?(?:at|with)|(?:started|got|accepted) (?:a|the|[\w]+'s) (?:new )?(?:job|role|position|job offer|offer) (?:at|with|from)"
        rf"|is (?:now )?employed (?:at|by)) (?P<object>{_NAME})",
        content="works at {object}",
        entity=EntityType.ORGANISATION,
        ends=ORG_ENDS,
        max_words=4,
    ),
    _row(
        name="joined_as",
        predicate="works_at",
        verbs=("joined", "has"),
        expression=rf"(?:joined|has joined) (?P<object>{_NAME} as (?:a|an|the|their|head)\b.*)",
        content="works at {object}",
        entity=EntityType.ORGANISATION,
        ends=ORG_ENDS,
        max_words=4,
    ),
    _row(
        name="works_as_for_years",
        predicate="works_as",
        verbs=("has",),
        expression=r"has been (?P<object>an? [a-z][a-z -]{2,40}?) for (?:[\w-]+ ){1,3}?years\b.*",
        unless=r"an? (?:customer|client|member|patient|fan|reader|user|subscriber|vegetarian|vegan|mess|wreck|long|while)\b",
        content="has been {object} for years",
        importance=0.75,
    ),
    _row(
        name="works_as",
        predicate="works_as",
        verbs=("is", "works", "became", "has"),
        expression=rf"(?:is|were|is working as|works as|became|is now|has become|has been working as) (?:a|an|the) (?P<object>(?:[\w-]+ ){{0,4}}?{ROLE_NOUN}\b(?: (?:of|for) .+)?.*)",
        content="is {article} {object}",
        ends=r"at|in|for|with|by|from|on|who|since|working|now|and|not|here",
        max_words=9,
    ),
    # "My wife is pastry chef": some languages have no article here.
    _row(
        name="works_as_bare",
        predicate="works_as",
        verbs=("is",),
        expression=rf"is (?P<object>(?:[a-z]+ )?{ROLE_NOUN})(?: (?:in|at) .*)?[\s.!]*",
        content="is {article} {object}",
        unless=r"(?:\w+ )?(?:lead|king|queen|owner|admin|assistant|judge|captain|spy|pirate|veteran|trainer|editor|operator)$|(?:my|your|his|her|their|the|our|no|not|also|now|still|such|like|another|one|very|so|too|only|just|really|basically)\b",
        ends=r"at|in",
        max_words=2,
    ),
    _row(
        name="works_as_named",
        predicate="works_as",
        verbs=("works", "is", "has", "worked"),
        expression=r"(?:works|is working|has worked|has been working) as (?P<object>.+)",
        unless=r"(?:expected|intended|usual|planned|before|always|well|hard|long|soon|a (?:team|whole|charm|fallback))\b",
        ends=r"at|in|for|with|by|from|on|who|since|now|and|not|here",
        max_words=6,
    ),
    _row(
        name="works_as_at",
        predicate="works_as",
        verbs=("is",),
        expression=r"is an? (?P<object>(?:[\w-]+ ){0,3}[\w-]+) (?:at|for) (?:(?:the |an? )?(?-i:[A-Z])\w.*|.*\b(?:hospital|school|university|company|clinic|theat(?:re|er)|restaurant|bakery|office|agency|firm|startup|station|museum|library|bank|lab|shop|store|farm|hotel|studio)\b.*)",
        unless=r"(?:\w+ )*(?:bit|lot|fan|regular|guest|customer|member|beginner|loss|patient|visitor|natural)$",
        max_words=4,
    ),
    _row(
        name="role_at",
        predicate="works_as",
        verbs=("is", "works", "has", "became", "will"),
        expression=rf"{_HOLDS}(?P<object>(?:[\w-]+ ){{0,3}}?{ROLE_NOUN}) (?:at|for) {_NAME}",
        content="is {object}",
        max_words=5,
    ),
    _row(
        name="office",
        predicate="works_as",
        verbs=("is", "works", "has", "became", "will"),
        expression=rf"{_HOLDS}(?P<object>(?:(?:deputy|assistant|acting|joint) )?(?:head|director|chair|vice president|secretary|captain) of [\w -]{{3,40}}|(?:team|tech|test|group|project|shift|section) (?:lead|leader)\b.*|(?:[\w-]+ ){{0,3}}?{ROLE_NOUN} in {_NAME})",
        content="is {object}",
        ends="at|from|since|now|starting|as of",
        max_words=6,
    ),
    _row(
        name="reports_to",
        predicate="has_manager",
        verbs=("reports", "will"),
        expression=rf"(?:reports|will report|will be reporting) (?:directly )?to (?:(?:somebody|someone|a [a-z]+) (?:called|named) )?(?P<object>{_NAME})",
        content="reports to {object}",
        entity=EntityType.PERSON,
        ends=ORG_ENDS,
        max_words=3,
    ),
    _row(
        name="was_role",
        predicate="worked_as",
        verbs=("was", "used", "worked"),
        expression=rf"(?:was|used to be|used to work as|worked as) (?:a|an|the) (?P<object>(?:[\w-]+ ){{0,4}}?{ROLE_NOUN}\b.*)",
        importance=0.6,
        max_words=14,
    ),
    _row(
        name="works_in_field",
        predicate="works_in",
        verbs=("works", "is", "has"),
        expression=r"(?:works|is working|has worked|has been working) in (?P<object>[\w' &-]+)",
        content="works in {object}",
        unless=r"(?:silence|progress|pairs|shifts|peace|person|private|the (?:morning|evening|afternoon|garden|kitchen|yard|office|dark)|a team|my|[a-z]+'s)\b",
        ends="at|for|as|since|with|on",
        max_words=5,
    ),
    _row(
        name="teaches",
        predicate="teaches",
        verbs=("teaches", "is", "has"),
        expression=r"(?:teaches|is teaching|has taught|has been teaching) (?P<object>.+)",
        unless=r"(?:User|him|her|me|them|us|you|it|that|this|the|a|an|how|about|myself|himself|herself|people|everyone|\w+'s|\w+day)\b",
        max_words=8,
    ),
    _row(
        name="responsible_for",
        predicate="responsible_for",
        verbs=("handles", "does", "covers", "is", "looks", "takes", "manages", "leads", "runs", "owns"),
        expression=r"(?:handles|does|covers|manages|leads|runs|owns|is responsible for|is in charge of|looks after|takes care of|takes over|is taking over) (?P<object>(?:the|all|all the|our|\w+'s) .+)",
        unless=r"(?:the )?(?:\w+ )*(?:marathon|race|tests?|suite|script|command|query|migration|build|code|program|rest|case|request|error|exception)\b",
        ends="and|but|now|since|from|until|for",
        max_words=8,
    ),
    _row(
        name="responsible_for_field",
        predicate="responsible_for",
        verbs=("handles", "runs", "does"),
        expression=r"(?:handles|runs|does) (?P<object>[a-z]+(?: and [a-z]+)?)(?: now| for User| these days)*[\s.!]*",
        unless=r"(?:it|this|that|them|well|fine|late|out|away|fast|daily|everything|nothing|so|too|not|better|good|great|yoga|pilates|sports?|homework|marathons?)\b",
        max_words=3,
    ),
    _row(
        name="trade",
        predicate="trade",
        verbs=("makes", "builds", "develops", "offers"),
        expression=r"(?:makes|builds|develops|offers) (?P<object>[a-z][\w-]*(?: [\w-]+){0,3} for .+)",
        unless=r"(?:it|this|that|them|some|an?|the|my|dinner|lunch|breakfast|room|time|plans|sense)\b",
        only_speaker=True,
        max_words=12,
    ),
    _row(
        name="sells",
        predicate="trade",
        verbs=("sells", "produces", "imports", "manufactures"),
        expression=r"(?:sells|produces|imports|manufactures) (?P<object>[a-z][\w-]+ .+|[a-z][\w-]+s)",
        unless=r"(?:it|this|that|them|some|an?|the|my|\w+'s|out|off|up|everything|nothing|so|too|very)\b",
        only_speaker=True,
        max_words=12,
        importance=0.6,
    ),
    _row(
        name="earns",
        predicate="income",
        verbs=("earns", "makes", "gets", "is"),
        expression=r"(?:earns|makes|gets|gets paid|is paid|is on) (?P<object>(?:about |around |only )?(?:[€$£] ?\d[\d.,]*k?|\d[\d.,]*k? ?(?:dollars|euros|pounds|quid|rupees|shillings|€|\$|£)) (?:an|per|a) (?:hour|week|month|year)\b.*)",
        content="earns {object}",
        is_single=True,
        max_words=7,
        ends="now|after|before|and|but|so|at|from|as",
        importance=0.7,
    ),
    _row(
        name="is_open",
        predicate="opening_hours",
        verbs=("is",),
        expression=rf"is (?:now |only )?open (?P<object>(?:on |from )?(?:{alternation(NAMES)}|every day|daily|weekdays|weekends|seven days)\b.*)",
        only_speaker=True,
        is_single=True,
        max_words=10,
    ),
    _row(
        name="works_on_team",
        predicate="works_on_team",
        verbs=("works", "is"),
        expression=r"(?:works|is working|is) (?:on|in) the (?P<object>[\w &-]+ team)\b.*",
        content="is on the {object}",
    ),
    _row(
        name="works_on",
        predicate="works_on",
        verbs=("works", "is", "has"),
        expression=r"(?:works|is (?:currently )?working|has been working|is building|is developing|is writing) (?:hard )?(?:on )?(?P<object>(?:a|an|the|two|some|\w+'s|new|this) .+)",
        max_words=16,
        importance=0.6,
    ),
    _row(
        name="manages",
        predicate="manages",
        verbs=("manages", "leads", "supervises", "runs", "is"),
        expression=r"(?:manages|leads|supervises|runs|is running) (?P<object>(?:a|an|the|two|my|\w+'s) .+)",
        unless=r"(?:\w+'?s? )(?:\w+ )*(?:marathon|race|\d+ ?km?|tests?|suite|script|command|query|migration|build|code|program)\b",
        max_words=14,
    ),
    _event(
        name="job_change",
        predicate="job_change",
        verbs=("lost", "quit", "left", "got", "was", "resigned", "retired", "has", "accepted", "started", "is", "found", "changed"),
        expression=r"(?P<object>(?:(?:lost|quit|left|changed|got|found|started|accepted) (?:a|an|the|another|[\w ]+'s)? ?(?:new |old |dream |part[- ]time |full[- ]time )*(?:job|role|position|promotion|job offer|offer|internship|jobs)"
        r"|is (?:joining|starting (?:at|with)|leaving) (?-i:[A-Z][\w&. ]+)|got (?:promoted|laid off|fired|hired)|was (?:promoted|laid off|fired|hired|let go)|resigned|retired|has (?:retired|resigned)|is retired|is unemployed|is between jobs|is (?:changing|switching|quitting) jobs?)\b.*)",
    ),
)  # fmt: skip
