"""What is only said: by somebody about others, or about the speaker by a thing that does not know."""

import re2

from apps.pipeline.extraction.patterns.health.told import HealthStatement
from apps.pipeline.lexicon.kinship import KIN_WORDS

# What somebody says of others may be wrong; doctors are believed.
_DOCTORS = re2.compile(
    r"(?i)\b(?:doctors?|dr|doc|nurses?|gp|ob|midwife|vet|consultant|specialist|surgeon|hospital|clinic|physio\w*|dentist|pharmacist|they|\p{L}+(?:ologist|iatrist|ician))\b"
)
# What an acquaintance has or takes is nothing that an assistant needs; what they can't eat may be.
_OF_ONES_OWN = frozenset({"takes_medicine", "has_condition", "diagnosed", "has_aid", "sees_doctor", "state_of_health"})
_ACQUAINTED = re2.compile(
    r"(?i)\b(?:my|our|a|the|some) (?:\w+ )?(?:neighbou?rs?|friends?|mates?|buddy|clients?|customers?|colleagues?|co-?workers?|boss|teacher|passenger|patient|tenant|landlord|landlady|students?|bloke|guy|lady)\b"
)
_REPORTS = re2.compile(
    r"(?i)\b(?:\p{L}+ )?(?:told (?:me|us)|says|said|claims?|is sure|are sure|is convinced|heard|apparently|according to)\b"
)
# "The quiz says I'm autistic"; relatives and who was spoken of may know.
_SAYS_OF_SPEAKER = re2.compile(
    r"(?i)\b(?P<who>\p{L}+) (?:says?|said|claims?|reckons?|told me)(?: (?:that|it))* (?:i|we)\b"
)
_MAY_KNOW = KIN_WORDS | frozenset("i we he she they who and also just have had".split())


def is_hearsay(told: HealthStatement, clause: str) -> bool:
    """Return True for what is told of somebody else by hearsay, or of an acquaintance's own affairs."""
    if told.owner.is_speaker:
        return False
    if told.row in _OF_ONES_OWN and _ACQUAINTED.search(clause):
        return True
    return _REPORTS.search(clause) is not None and not _DOCTORS.search(clause)


def is_said_by_nobody_who_knows(clause: str) -> bool:
    """Return True where a thing, a site or a stranger says something of the speaker: "the quiz says I'm autistic"."""
    found = _SAYS_OF_SPEAKER.search(clause)
    return found is not None and found["who"].lower() not in _MAY_KNOW and not _DOCTORS.search(clause)
