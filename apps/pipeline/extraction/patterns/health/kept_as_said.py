"""What a clause says of a body in words that no other reader knows, kept as it was said.

A clause counts that has a subject, a verb and a sign of health that lasts: a condition, a medicine, an aid, a sense, a
part of the body with what has become of it. What is of the moment is left out.
"""

from collections.abc import Iterator

import re2

from apps.pipeline.core.statement import Mention
from apps.pipeline.extraction.patterns import third_person
from apps.pipeline.extraction.patterns.clause import ParsedClause
from apps.pipeline.extraction.patterns.clause_parser import parse
from apps.pipeline.extraction.patterns.general_statements import free_phrase
from apps.pipeline.extraction.patterns.health.medicines import FindOwner
from apps.pipeline.extraction.patterns.health.owner import Owner
from apps.pipeline.extraction.patterns.health.told import HealthStatement, is_open
from apps.pipeline.extraction.patterns.openers import clause_words
from apps.pipeline.extraction.patterns.sentences import Sentence, clauses_of
from apps.pipeline.lexicon.health_terms import BODY_PART
from apps.pipeline.lexicon.kinship import NOUNS, partners

_PART = rf"(?:{BODY_PART}|heart|lungs?|kidneys?|liver|thyroid|bladder|bowels?|stomach|tummy|skin|joints?|gums?|scalp|throat|sinus(?:es)?|septum|spine|eyesight|hearing|sight|memory|balance|cartilage|hip)s?"
_WHOSE = r"(?:my|our|his|her|their|the|left|right|both|lower|upper|one|\p{Lu}\p{Ll}+['’]s)"
# What has become of a part of the body, or of a sense.
_BECAME = (
    r"(?:bone on bone|worn(?: out)?|replaced|broken?|fractur\w+|tor[en]|sprain\w*|dislocat\w+|operated|removed|damaged|fused|swell\w*|swollen|inflam\w+|stiff|numb|weak(?:er)?|going|gone|gives? (?:out|way)"
    r"|acting up|acts? up|playing up|plays? up|flar(?:es?|ing) up|flare-?ups?|lock(?:s|ed|ing)|click\w*|crack\w*|peel\w*|dry|itch\w*|sensitive|bad|dodgy|gammy|knackered|shot|wonky|buggered|trouble|problems?|issues?"
    r"|ache[sd]?|aching|hurts?|hurting|sore|pain\w*|not what|isn['’]t what|too much for|deteriorat\w+|fail(?:s|ed|ing)|clos(?:es|ing) up|bleed\w*)"
)
_CANNOT = r"(?:can['’]?t|cannot|can not|can barely|can hardly|could never|barely|hardly)"
_SENSES = (
    rf"(?:{_CANNOT} (?:see|hear) (?:well|much|anything|properly|far|out of|on the|in the|from|without|at night)|{_CANNOT} (?:smell|taste) (?:anything|much|well|properly)|{_CANNOT} (?:tell red|tell green|tell colou?rs|distinguish colou?rs|kneel|swallow|walk (?:far|without|unaided)|(?:(?:manage|do|climb|use|handle|face) (?:the |any |many )?stairs|(?:manage|climb) (?:the |any |many )?(?:steps|hills)))"
    r"|hears? (?:nothing|little|almost nothing|badly)|hard of hearing|(?:short|near|long|far)[ -]?sighted|legally blind|lost (?:(?:my|his|her|the|all|most of my|some) )?(?:sight|vision|hearing|sense|voice)|loses? (?:my|his|her) balance)"
)
_STATES = (
    r"(?:pregnant|expecting|weeks along|miscarr\w+|menopaus\w+|breast ?feeding|in remission|in recovery|sober|recovering from|(?:trouble|difficulty|problems) (?:sleeping|breathing|walking|swallowing|hearing|seeing|concentrating)|no sense of (?:smell|taste)|sensitive to|(?:gets?|feels?|faints?|passes out|goes) (?:(?:dizzy|light-?headed|faint|breathless|short of breath|sick|numb|out of breath) )?(?:when(?:ever)?|at the sight|from)|(?:can['’]?t|cannot) (?:lift|carry) (?:anything|more|over|heavy)|(?:can['’]?t|cannot) (?:stand|sit|walk) (?:for )?(?:long|far|more)|on dialysis|on chemo\w*|bedridden|housebound|registered (?:blind|disabled)|disabled|in a wheelchair|amputat\w+|transplant\w*"
    r"|concuss\w+|seizures?|blackouts?|faint(?:s|ed|ing)|panic attacks?|migraines?|dizzy spells|a stroke|a heart attack|a stent|bypass|arthroscop\w+|keyhole|(?:hip|knee) replacement)"
)
_AIDS = r"(?:pacemaker|defibrillator|hearing aids?|(?:insulin |the )?pump|glucose (?:monitor|sensor)|cpap|inhaler|epi-?pens?|splint|brace|insoles|orthotics|stoma|catheter|prosthe\w+|crutch(?:es)?|walking (?:stick|frame)|wheelchair|oxygen|compression (?:socks|stockings)|night guard|retainer)"
_SIGN = re2.compile(
    rf"(?i)\b(?:{_WHOSE} (?:\w+ )?{_PART}\b.{{0,40}}\b{_BECAME}|{_BECAME}\b.{{0,25}}\b{_WHOSE} (?:\w+ )?{_PART}|{_SENSES}|{_STATES}|(?:wear|wears|wearing|use|uses|sleep|sleeps) .{{0,20}}{_AIDS}|allerg\w+|intoleran\w+|diagnos\w+)\b"
)
_OF_THE_MOMENT = re2.compile(
    r"(?i)\b(?:today|tonight|yesterday|last night|this (?:morning|afternoon|evening)|right now|at the moment|just now|(?:all|the whole) (?:day|night|morning|afternoon|evening)|tomorrow|(?:on|next|this) (?:mon|tues|wednes|thurs|fri|satur|sun)day|appointment|killing|asked|called|rang|read(?:ing)?|watch\w*|tired|hungover)\b"
)
# "The steps of this equation", "short-sighted about money"
_FIGURATIVE = re2.compile(r"(?i)\b(?:stairs|steps|hills|sighted) (?:about|of|in this|in the|in that|project)\b")
# Of a boss, or of what somebody did once, this is a judgement.
_SIGHTED = re2.compile(r"(?i)^(?:is|was|has been) .{0,20}\b(?:short|near|long|far)[ -]?sighted\b")
_LEAD = re2.compile(
    r"(?i)^(?:(?:and|but|so|also|well|now),? )*(?:i (?:should|must|ought to|have to|want to|need to|would like to|may|might) (?:also |just |perhaps )?(?:add|mention|say|confess|admit|note|explain|warn you|tell you|point out)|i (?:forgot|nearly forgot|almost forgot|didn['’]t|did not) (?:to )?(?:mention|say|tell you)|(?:just )?so you know|you should know|(?:it['’]s )?worth (?:knowing|mentioning)|i (?:regret|am sorry|['’]m sorry|am afraid|['’]m afraid) (?:to say )?|bear in mind|keep in mind|the (?:thing|problem|trouble|matter|point) is)(?: that)?,? "
)
_OF_THE_BODY = re2.compile(rf"(?i)^my (?P<what>(?:\w+ )?{_PART}) (?P<said>.+)$")
_ING = re2.compile(r"(?i)^(?:is|are|was|were|['’]s)(?: \w+ly)? \w+ing\b")
_NO_OBJECT = re2.compile(r"(?i)\b(?:it|this|that|them|these|those|there)\b")
_GARBLED = re2.compile(r"\b(?:is|has) \w+ (?:is|has)\b")
_FEWEST, _MOST = 3, 24  # words


def kept_as_said(part: str, *, speaker: Mention, owner_before: FindOwner) -> Iterator[HealthStatement]:
    """Yield what the clauses of a part say of a body; without a subject of their own they say it of nobody."""
    for clause in clauses_of(Sentence(text=part, asks=False)):
        clause = _LEAD.sub("", clause)
        if not _is_of_health(clause) or is_open(clause) or _OF_THE_MOMENT.search(clause):
            continue
        told = _told(clause_words(clause), speaker, owner_before)
        if told is not None:
            yield told


def _is_of_health(clause: str) -> bool:
    return _SIGN.search(clause) is not None and not _FIGURATIVE.search(clause)


def _told(clause: str, speaker: Mention, owner_before: FindOwner) -> HealthStatement | None:
    body = _OF_THE_BODY.match(clause)
    if body is not None:
        said = free_phrase(third_person.third_person(body.group("said"), name=speaker.text))
        if not said or _ING.match(said):
            return None
        owner = Owner(mention=speaker, is_speaker=True)
        return _statement(owner, f"{speaker.text}'s {body.group('what')} {said}", "")
    statement = parse(clause, speaker=speaker.text)
    if statement is None or statement.is_hedged:
        return None
    is_sight = _SIGHTED.match(statement.phrase) is not None
    if is_sight and (statement.phrase.startswith("was") or not (statement.about_speaker or _is_family(statement))):
        return None
    phrase = free_phrase(statement.phrase, least=2 if is_sight else 0)
    owner = Owner(mention=statement.subject, is_speaker=statement.about_speaker)
    if statement.subject.text in ("She", "He"):
        owner = owner_before(1)
    least = 2 if is_sight else _FEWEST - owner.text.count("'s ") // 2  # "User's mum's knee is bad"
    if not phrase or not owner.is_known or not (least <= len(phrase.split()) <= _MOST):
        return None
    return _statement(owner, "", statement.predicate_text(phrase), is_negated=statement.is_negated or statement.is_over)


def _is_family(statement: ParsedClause) -> bool:
    word = statement.relation.word if statement.relation else ""
    return word in NOUNS and (bool(NOUNS[word].kin) or word in partners())


def _statement(owner: Owner, sentence: str, phrase: str, *, is_negated: bool = False) -> HealthStatement | None:
    said = sentence or phrase
    if _NO_OBJECT.search(said) or _GARBLED.search(said):
        return None
    return HealthStatement(owner, "state_of_health", said.partition(" ")[2].lower(), phrase, is_negated, sentence)
