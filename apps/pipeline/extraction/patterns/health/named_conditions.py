"""Conditions that are only named: the topic of a thing, the purpose of a deed, or those of people who are not known.

"An exam on epilepsy", "raising money for cancer", "kids with eczema" tell nothing of the speaker's health.
"""

import re2

from apps.pipeline.lexicon.kinship import KIN_WORDS
from apps.pipeline.lexicon.tables import alternation

# Words may stand between a preposition and a condition: "for the breast cancer".
_BEFORE = r"(?:the )?(?:\p{L}+ )?$"
_TOPIC = re2.compile(
    rf"(?i)\bon {_BEFORE}|\b(?:i|we|you|they) (?:treat|study|teach|research|beat|kicked|overcame) $|\bnegative for (?:\p{{L}}+ and )?$"
)
# "Raising money for cancer", "a cake for a celiac": done for others, unless something is done for a body.
_PURPOSE = re2.compile(
    rf"(?i)\b(?:rais\w+|donat\w+|fund\w*|run|runs|running|ran|race|marathon|walk\w*|march\w*|volunteer\w*|wear\w*|design\w*|teach\w*|apps?|cake|bak\w+|cook\w*|knit\w*)\b.*\bfor (?:an? )?{_BEFORE}"
)
_TREATED = re2.compile(
    r"(?i)\b(?:tak(?:e|es|en|ing)|pills?|tablets?|meds?|medic\w*|treat\w*|brace|splint|insulin|doctor|hospital|surgery|therap\w*|prescri\w*|diet|specialist|\p{L}+ologist)\b"
)
# "For my arthritis", "I'm on a diabetes plan".
_OF_SOMEBODY = re2.compile(
    rf"(?i)\b(?:my|our|his|her) (?:\p{{L}}+ )?$|(?:\b(?:am|is|are|was|were|be|been|put|puts|me|him|her|them|stay|go|went)|['’](?:m|s|re)) on {_BEFORE}"
)
_PEOPLE = rf"(?:{alternation(KIN_WORDS)}|adults|people|students?|patients?|clients?|co-?workers?|roommates?|neighbou?rs?|guests?|customers?|girls?|boys?|men|women|man|woman|lady)"
_OF_OTHERS = re2.compile(
    rf"(?i)\b(?:have|has|got|know|see|met|need|meet|treat|teach|for|of) (?:[\p{{L}}'’-]+ ){{0,4}}{_PEOPLE}(?: (?:in|at|from|of) [\p{{L}}-]+){{0,2}} with (?:\p{{L}}+ )?$"
)
_SUFFERS = re2.compile(
    r"(?i)\b(?:diagnosed|live|lives|living|lived|struggl\w+|deal\w*|dealt|cop\w+|suffer\w*|down|ill|sick|hospital|bed|born|up|work|home"
    r"|problems?|trouble|issues?|history|along|together|been|am) with (?:\p{L}+ )?$"
)


def is_only_named(before: str) -> bool:
    """Return True if what stands before a condition in its clause says that nobody who is known has it."""
    if _OF_OTHERS.search(before) and not _SUFFERS.search(before):
        return True
    if _OF_SOMEBODY.search(before):
        return False
    return _TOPIC.search(before) is not None or (_PURPOSE.search(before) is not None and not _TREATED.search(before))
