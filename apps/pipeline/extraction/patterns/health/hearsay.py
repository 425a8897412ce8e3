"""What is only said: by somebody about others, or about the speaker by a thing that cannot know."""

import re2

from apps.pipeline.extraction.patterns.health.told import HealthStatement

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
_SAYS_OF_SPEAKER = re2.compile(
    r"(?i)\b(?:quiz|webmd|google|internet|web|website|site|page|app|article|ai|bot|chatbot|chatgpt|horoscope|watch|smartwatch|profile|shirt|t-?shirt|meme)"
    r" (?:it )?(?:says?|said|claims?|reckons?|thinks|told me)(?: (?:that|it))* (?:i|we)\b"
)


def is_hearsay(told: HealthStatement, clause: str) -> bool:
    """Return True for what is told of somebody else by hearsay, or of an acquaintance's own affairs."""
    if told.owner.is_speaker:
        return False
    if told.row in _OF_ONES_OWN and _ACQUAINTED.search(clause):
        return True
    return _REPORTS.search(clause) is not None and not _DOCTORS.search(clause)


def is_said_by_a_thing(clause: str) -> bool:
    """Return True where a thing or a site says something of the speaker: "the quiz says I'm autistic"."""
    return _SAYS_OF_SPEAKER.search(clause) is not None
