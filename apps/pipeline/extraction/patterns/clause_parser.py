"""Parser of clauses: the subject, and the statement about it in the third person."""

import re
from dataclasses import replace

from apps.pipeline.extraction.patterns import openers, relatives, third_person, verb_group
from apps.pipeline.extraction.patterns.clause import ParsedClause
from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.calendar import WEEKDAYS
from apps.pipeline.lexicon.tables import alternation

_SUBJECT = re.compile(
    r"^(?P<word>I|i|We|we)(?P<short>['’]?(?:m|ve|d|ll|re)\b|['’](?:m|ve|d|ll|re))?\s+(?P<rest>.+)$", re.DOTALL
)
# Whom or where by an article, an owner, a number or a name: "work for Acme", not "work for hire agreement".
_GIVEN = r"(?:(?:a|an|the|my|our|two|three|four)\b|(?-i:[A-ZÀ-Þ]))"
_ELIDED = re.compile(
    r"(?i)^(?P<lead>(?:just|finally|recently|also|even|really|still|already|only)\s+)?(?P<verb>gonna|wanna|want(?= to )|planning|thinking of|thinking about|hoping|looking forward|working on|researching|learning|saving up|studying|trying to|been(?= (?!there\b|a while\b|thinking\b|meaning\b))|"
    # States can't be commanded: "live in Parkdale with my roommate".
    rf"(?:live(?= (?:in|with|near|on) {_GIVEN})|own(?= (?:a|an|two|three|my)\b)|work(?= (?:at|for|as) {_GIVEN}| (?:nights|weekends|shifts|part[- ]time|full[- ]time|from home)(?=$|[.,;!]| (?:on|at|for|as|every|most|since|now)\b)))(?!.*\bor\b)|weigh(?= \d)|suffer(?= from)|"
    r"went|got|had|took|made|saw|met|bought|found|started|finished|moved|joined|lost|won|visited|tried|spent|signed|passed|quit|decided|began|came|ate|ran|read|wrote|built|watched|"
    r"learned|left|sold|gave|felt|prefer|used to|(?:can't|cannot)(?= (?:stand|abide|eat|have|tolerate|drink|bear|stomach) ))\s*\b(?!['’])(?P<rest>.+)$"
)
# "Also seeing a counsellor every second Thursday", "going on Tuesdays and Saturdays"
_ONGOING = re.compile(
    rf"^(?:(?:[Aa]lso|[Nn]ow|[Ss]till|[Cc]urrently|[Aa]lready|[Bb]een) )*(?P<verb>(?!(?:[Tt]hing|[Nn]othing|[Ee]verything|[Ss]omething|[Aa]nything|[Mm]orning|[Ee]vening|[Dd]uring|[Bb]eing|[Ii]ncluding|[Aa]ccording|[Rr]egarding|[Cc]onsidering|[Tt]raining|[Mm]eeting|[Ww]edding|[Bb]uilding)\b)[A-Za-z]{{2,}}ing) (?P<rest>.*\b(?:every (?:second |other )?(?:day|morning|evening|night|week|weekend|month|{alternation(WEEKDAYS)})|(?:on )?(?:{alternation(f'{day}s' for day in WEEKDAYS)})|(?:once|twice|three times) a (?:day|week|month))\b.*)$",
    re.IGNORECASE,
)
_NEVER = re.compile(r"^[Nn]ever (?P<verb>[a-z]+) ")
_ELIDED_PAST = re.compile(
    r"^(?P<lead>(?:[Jj]ust|[Ff]inally|[Rr]ecently|[Aa]lso|[Ee]ven) )?(?P<verb>[A-Za-z]+) "
    r"(?P<rest>(?:my|our|a|an|the|some|this|two|three|to|with|at|in|on|for|out|up|back|off|through|into|from|over|another|and) .+)$",
    re.DOTALL,
)
_NO_OWN_PAST = frozenset(
    "loved liked looked sounded seemed used need heard saw said meant thought based related compared supposed".split()
)
_SHORT = {"m": "is", "re": "is", "ve": "has", "ll": "will", "d": "would"}
_NO_LONGER = re.compile(r"(?i)\s*\b(?:anymore|any more(?! of\b| than\b)|any longer|no longer)\b")

# "We deploy to Hetzner, not AWS any more" only ends AWS.
_CONTRAST = re.compile(r",? (?:and |but )?not [^,;]{1,60}? (?:any ?more|any longer)\b")
_AND_VERB = re.compile(r" and (?P<verb>am|are|have) ")
# "We live now in Lombok", "he builds already a cradle"
_LATE_ADVERB = re.compile(
    r"^(?P<verb>[a-z]+) (?:now|also|already|still|currently) (?=(?:in|at|on|for|as|a|an|the|two|three|only)\b)"
)
_AFTER_ALL = re.compile(r"(?i),? after all\b")


def parse(clause: str, *, speaker: str) -> ParsedClause | None:
    """Parse a clause about the speaker, their people, or someone named; None for other clauses."""
    opened = openers.opened(clause)
    said = opened.said
    statement = _first_person(said, speaker) or _elided(said, speaker) or _of_someone(said, speaker)
    if statement is None or not opened.is_belief:
        return statement
    return replace(statement, is_hedged=True)


def _first_person(said: str, speaker: str) -> ParsedClause | None:
    match = _SUBJECT.match(said)
    if match is None:
        return None
    short = (match["short"] or "").lstrip("'")
    # Without the apostrophe, "I'll" looks like "ill" and "I'd" like "id".
    if short in ("ll", "d", "re") and "'" not in match["short"]:
        return None
    words = match["rest"].split()
    auxiliary = _SHORT.get(short, "")
    if short == "d" and words[0].lower() in ("been", "had", "gone", "never", "always"):
        auxiliary = "had"
    return _read(words, auxiliary, ParsedClause.about(speaker), speaker)


def _elided(said: str, speaker: str) -> ParsedClause | None:
    """Parse "Just moved to Rome" and "Lost my job": the omitted subject is the speaker."""
    if (never := _NEVER.match(said)) and verbs.may_be_past(never["verb"]):
        return _read(said.split(), "", ParsedClause.about(speaker), speaker)
    if (ongoing := _ONGOING.match(said)) and not _ELIDED.match(said):
        return _read(f"{ongoing['verb'].lower()} {ongoing['rest']}".split(), "is", ParsedClause.about(speaker), speaker)
    match = _ELIDED.match(said) or _ELIDED_PAST.match(said)
    if match is None or (match.re is _ELIDED_PAST and not _opens_with_past(match["verb"].lower())):
        return None
    verb = match["verb"].lower().strip()
    auxiliary = "has" if verb == "been" else "is" if verb.split()[0].endswith("ing") else ""
    return _read(f"{verb} {match['rest']}".split(), auxiliary, ParsedClause.about(speaker), speaker)


def _opens_with_past(word: str) -> bool:
    return verbs.may_be_past(word) and word not in _NO_OWN_PAST and word not in verbs.INVARIABLE


def _of_someone(said: str, speaker: str) -> ParsedClause | None:
    someone = relatives.subject_of(said, speaker=speaker)
    if someone is None:
        return None
    statement = ParsedClause(
        subject=someone.mention,
        phrase="",
        about_speaker=False,
        is_plural=someone.is_plural,
        is_owned=someone.is_owned,
        relation=someone.kinship,
    )
    return _read(someone.rest.split(), someone.auxiliary, statement, speaker)


def _read(words: list[str], auxiliary: str, statement: ParsedClause, speaker: str) -> ParsedClause | None:
    group = verb_group.read(words, auxiliary=auxiliary)
    if group is None:
        return None
    if group.is_negated and group.words[0].endswith(","):  # "I don't fly, not for any price"
        group = replace(group, words=(group.words[0].rstrip(","),))
    is_third = not (statement.about_speaker or statement.is_plural or group.is_negated)
    phrase = third_person.third_person(group.phrase(is_third=is_third), name=speaker)
    if not statement.is_plural:
        phrase = _AND_VERB.sub(lambda found: f" and {verbs.third_person(found['verb'])} ", phrase)
    phrase = _LATE_ADVERB.sub(r"\g<verb> ", phrase)
    kept = _AFTER_ALL.sub("", phrase)
    is_after_all = kept != phrase
    kept = _CONTRAST.sub("", kept)
    whole, kept = kept, _NO_LONGER.sub("", kept)
    is_over = group.is_over or kept != whole
    return replace(
        statement,
        phrase=kept,
        adverbs=group.adverbs,
        is_negated=group.is_negated or is_over,
        is_over=is_over,
        is_past_denial=group.is_past_denial,
        is_hedged=group.is_hedged,
        is_after_all=is_after_all,
    )
