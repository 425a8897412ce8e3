"""Whose medicine, condition or reaction a clause tells of."""

import re
from dataclasses import dataclass

from apps.pipeline.core.statement import Mention
from apps.pipeline.extraction.patterns.antecedents import Antecedent
from apps.pipeline.extraction.patterns.health.foreign_subjects import ForeignSubject, bare_subject, foreign_subject
from apps.pipeline.extraction.patterns.health.mentioned_people import MENTION, TREATS, at_the_beginning, meant, person
from apps.pipeline.extraction.patterns.health.owner import PLACE, STRANGER, Owner, speaker_as_owner
from apps.pipeline.extraction.patterns.health.reduced_clauses import is_subject_of_another_verb

_HAS = re.compile(r"(?:is|has|was|had|takes|can['’]t|cannot)\b")
_ASIDE = re.compile(r"\([^()]{0,60}\)|, (?:just )?(?:like|unlike|as well as) [^,]{1,30},")
# "Ana (vegan), Bo (nut allergy)" of a list of people; "I work in Cork (I have asthma)" is none.
_IN_BRACKETS = re.compile(r"(?:^|[,:;] |\band |& )(?P<name>[A-ZÀ-Þ][a-zà-ÿ]+|[Mm]e) \((?:[a-z-]+,? ){0,3}$")
_FIRST_PERSON = re.compile(r"(?i)\b(?:I|we|my|our)\b")
_RELATIVE = re.compile(r"(?i)^\W*(?:and )?(?:who|whose|which)\b")
# "I have a son who has asthma"; but "I'm somebody who" and "as a person who" are the speaker.
_DESCRIBED = re.compile(
    r"(?<!\bam )(?<!['’]m )(?<!\b[Aa]s )(?<!\bbe )(?<!\bwas )(?<!\bis )(?<!['’]s )"
    r"(?<!, )(?<!\bonly )\b(?i:an?|the|some|another|this|that|one|my|our|his|her|their) (?:[\w-]+ ){1,3}(?:who(?:['’]s)? |(?:that|which) (?=takes |has (?!\w+e[dn]\b)))"
)


def owner_in(
    clause: str, *, end: int, speaker: Mention, last: Owner, antecedent: Antecedent, has_statement: bool = True
) -> Owner:
    """Return whose the thing is that stands before `end`: the person named last before it, or else after it.

    `last` is whom the clause before was about, `antecedent` the person whom "she" means. Without a statement of health
    ("The nurse is on leave.") an unknown subject does not end talk about the one before.
    """
    if (listed := _in_brackets(clause, end, speaker)) is not None:
        return listed
    clause = _ASIDE.sub(lambda found: " " * len(found.group()), clause)  # "Emil (our youngest) can't …"
    seen = _Seen(end, before=at_the_beginning(clause, end=end))
    seen.foreign = foreign_subject(clause, end=end) if has_statement else None
    for found in MENTION.finditer(clause):
        if found["speaker"] and is_subject_of_another_verb(found, clause, end=end):
            if seen.before is None or seen.before.is_speaker:
                seen.before = STRANGER
            continue
        owner = meant(
            found,
            clause,
            speaker=speaker,
            last=seen.other or last,
            antecedent=Antecedent() if seen.other else antecedent,
        )
        if owner is PLACE:
            seen.take_place(found, has_statement=has_statement)
        elif owner is not None:
            seen.take(found, owner)
    return seen.owner(clause, last, has_statement=has_statement)


@dataclass(slots=True)
class _Seen:
    """Who was found in a clause so far, before and behind `end`."""

    end: int
    before: Owner | None = None
    place: int = -1  # where the one before stands
    after: Owner | None = None
    other: Owner | None = None  # the last one who is not the speaker: "she" means them
    foreign: ForeignSubject | None = None

    def take(self, found: re.Match[str], owner: Owner) -> None:
        self.other = self.other if owner.is_speaker else owner
        if found.start() < self.end:
            self.before, self.place = owner, found.start()
            if self.foreign is not None and _is_instead(found, self.foreign):
                self.foreign = None
        elif self.after is None and (owner.is_speaker or found["kin"]):
            self.after = owner

    def take_place(self, found: re.Match[str], *, has_statement: bool) -> None:
        """Know nobody behind "the girl I met in Rome", but somebody's sister behind "my sister in Cork"."""
        if has_statement and found.start() < self.end and (self.before is None or self.before.is_speaker):
            self.before, self.place = STRANGER, found.start()

    def owner(self, clause: str, last: Owner, *, has_statement: bool) -> Owner:
        """Return whom the clause is about, if `last` was whom the one before was about."""
        is_relative = _RELATIVE.match(clause) is not None
        if self.foreign is not None and not (last.is_known and not last.is_speaker and is_relative):
            return STRANGER
        if self.is_described(clause):
            return STRANGER
        if is_relative:  # "… who has had gout": who that is stands in the clause before
            return self.before or last
        is_speakers = last.is_speaker and (self.before is None or self.before.is_speaker)
        if has_statement and is_speakers and bare_subject(clause, end=self.end) > self.place:
            return STRANGER
        return self.before or self.after or last

    def is_described(self, clause: str) -> bool:
        """Return True if somebody is only described behind the one before: "I have a son who"."""
        # "My students who": "my" is the speaker, and stands at the same place.
        last = self.place - 1 if self.before is not None and self.before.is_speaker else self.place
        described = _DESCRIBED.finditer(clause, 0, self.end)
        return any(each.start() > last and _is_somebody(each, clause) for each in described)


def _is_somebody(described: re.Match[str], clause: str) -> bool:
    """Return False for a doctor, who tells or gives, and where the speaker is meant: "the one who has asthma is me"."""
    noun = described.group().split(" who")[0].split()[-1].lower()
    is_doctor = TREATS.search(noun) is not None and _HAS.match(clause[described.end() :]) is None
    return not is_doctor and not clause.rstrip(" .!").endswith(" is me")


def _in_brackets(clause: str, end: int, speaker: Mention) -> Owner | None:
    """Return behind whose name the brackets stand in which something is told, in a list of people."""
    found = _IN_BRACKETS.search(clause, 0, end)
    if found is None or _FIRST_PERSON.search(clause[found.end("name") : end]):
        return None
    if found["name"].lower() == "me":
        return speaker_as_owner(speaker)
    is_told_by_speaker = re.search(r"\b[Ii]\b", clause[: found.start()]) is not None
    return None if is_told_by_speaker else person(found["name"])


def _is_instead(found: re.Match[str], foreign: ForeignSubject) -> bool:
    """Return True for whom the clause is about in place of its subject: "the doctor has me on", "my mum is"."""
    is_possessive = found["speaker"] or found["pronoun"]
    return found.start() >= (foreign.end if is_possessive else foreign.start)
