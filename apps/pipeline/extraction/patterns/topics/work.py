"""Work and study: employers, roles, teams, schools."""

from functools import partial

from apps.pipeline.core.enums import EntityType, MemoryType
from apps.pipeline.extraction.patterns.pattern import Pattern

ROLE_NOUN = (
    r"(?:engineer|developer|programmer|designer|teacher|nurse|doctor|surgeon|lawyer|attorney|accountant|manager|director|consultant|analyst|architect|"
    r"scientist|researcher|professor|lecturer|student|writer|author|journalist|editor|photographer|painter|artist|musician|singer|actor|actress|dancer|chef|"
    r"cook|baker|barista|waiter|waitress|bartender|driver|pilot|paramedic|firefighter|policeman|officer|soldier|veteran|plumber|electrician|carpenter|"
    r"mechanic|farmer|gardener|salesperson|recruiter|marketer|banker|trader|broker|realtor|freelancer|contractor|entrepreneur|founder|owner|ceo|cto|cfo|"
    r"intern|apprentice|secretary|assistant|receptionist|librarian|translator|interpreter|tutor|coach|trainer|instructor|psychologist|therapist|counselor|"
    r"counsellor|psychiatrist|dentist|pharmacist|veterinarian|vet|physicist|chemist|biologist|mathematician|economist|statistician|historian|philosopher|"
    r"geologist|astronomer|tester|admin|administrator|technician|operator|lead|retiree|pensioner|blogger|youtuber|streamer|postdoc|"
    r"\w+ologist|\w+ographer|electrician|politician|physician|technician|dietician|pirate|astronaut|king|queen|spy|detective|wizard|judge|captain|"
    r"beekeeper|florist|tailor|hairdresser|stylist|cleaner|nanny|caregiver|carer|social worker|midwife|courier|cashier|clerk|butcher|priest|pastor|monk|nun)"
)
_HOLDS = r"(?:is|works as|has become|became|will be|is going to be) (?:now |the (?:new )?|a (?:new )?)?"
_ORG_ENDS = (
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
        ends=_ORG_ENDS,
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
        name="new_employer",
        predicate="works_at",
        verbs=("joined", "started", "is", "has", "got", "accepted"),
        expression=r"(?:started (?:working )?(?:at|with)|(?:started|got|accepted) (?:a|the|[\w]+'s) (?:new )?(?:job|role|position|job offer|offer) (?:at|with|from)"
        rf"|is (?:now )?employed (?:at|by)) (?P<object>{_NAME})",
        content="works at {object}",
        entity=EntityType.ORGANISATION,
        ends=_ORG_ENDS,
        max_words=4,
    ),
    _row(
        name="joined_as",
        predicate="works_at",
        verbs=("joined", "has"),
        expression=rf"(?:joined|has joined) (?P<object>{_NAME} as (?:a|an|the|their|head)\b.*)",
        content="works at {object}",
        entity=EntityType.ORGANISATION,
        ends=_ORG_ENDS,
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
        expression=rf"{_HOLDS}(?P<object>(?:(?:deputy|assistant|acting|joint) )?(?:head|director|chair|vice president|secretary|captain) of [\w'’ -]{{3,40}}|(?:chairman|chairwoman|chairperson|president|treasurer|trustee|governor) of (?:the|an?|\w+['’]s|their|his|her) [\w'’ -]{{3,40}}|(?:team|tech|test|group|project|shift|section) (?:lead|leader)\b.*|(?:[\w-]+ ){{0,3}}?{ROLE_NOUN} in {_NAME})",
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
        ends=_ORG_ENDS,
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
        verbs=("makes", "sells", "builds", "develops", "offers", "produces", "imports", "manufactures"),
        expression=r"(?:(?:makes|builds|develops|offers) (?P<object>[a-z][\w-]*(?: [\w-]+){0,3} for .+)|(?:sells|produces|imports|manufactures) (?P<goods>[a-z][\w-]+.*))",
        unless=r"(?:it|this|that|them|some|an?|the|my|dinner|lunch|breakfast|room|time|plans|sense)\b",
        only_speaker=True,
        max_words=12,
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
    _row(
        name="studies",
        predicate="studies",
        verbs=("studies", "is", "majors", "has"),
        expression=r"(?:studies|is studying|majors in|is majoring in|has been studying|is (?:getting|doing|pursuing) (?:a|an|[\w]+'s) (?:degree|master'?s|masters|bachelor'?s|phd|doctorate|mba)(?: degree)?(?: in)?) (?P<object>.+)",
        content="studies {object}",
        unless=r"(?:for|hard|now|tonight|today|late)\b",
        ends="at|because|since|for|with",
        topic="education",
        max_words=6,
    ),
    _row(
        name="study_year",
        predicate="studies",
        verbs=("is",),
        expression=r"is (?:now )?(?:in|doing) (?:the|my|their|\w+'s|a)? ?(?P<object>(?:first|second|third|fourth|fifth|final|last|\d(?:st|nd|rd|th)) year\b.*)",
        topic="education",
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
        topic="education",
        ends=_ORG_ENDS,
        max_words=6,
    ),
    _event(
        name="graduated",
        predicate="graduated",
        verbs=("graduated", "has", "finished", "completed", "earned", "got", "is"),
        expression=r"(?P<object>(?:(?:has |just )?graduated|is graduating|(?:finished|completed|earned|got|has finished|has completed) (?:a|an|the|[\w]+'s) (?:[\w']+ ){0,2}(?:degree|diploma|phd|thesis|master'?s|bachelor'?s|studies|certificate|certification))\b.*)",
        topic="education",
    ),
)  # fmt: skip
