"""Conditions that are only named: the topic of a thing, the purpose of a deed, or those of people who are not known.

"An exam on epilepsy", "raising money for cancer", "kids with eczema" tell nothing of the speaker's health.
"""

import re2

# Words may stand between a preposition and a condition: "for the breast cancer".
_BEFORE = r"(?:the )?(?:\p{L}+ )?$"
_TOPIC = re2.compile(
    rf"(?i)\bon {_BEFORE}|\b(?:i|we|you|they) (?:treat|study|teach|research|beat|kicked|overcame) $|\bnegative for (?:\p{{L}}+ and )?$"
)
_PURPOSE = re2.compile(rf"(?i)\bfor {_BEFORE}")
# "On leave for depression", "tablets for gout": what is done for a body.
_TREATED = re2.compile(
    r"(?i)\b(?:tak(?:e|es|en|ing)|took|on|off|pills?|tablets?|capsules?|meds?|medic\w*|treat\w*|inhaler|inject\w*|insulin|cream|ointment|drops|doctor|dr|gp"
    r"|see(?:s|ing|n)?|hospital|clinic|surgery|operat\w*|therap\w*|prescri\w*|diet|appointment|scan|tested positive|specialist|\p{L}+ologist)\b"
)
# "For my arthritis", "I'm on a diabetes plan".
_OF_SOMEBODY = re2.compile(
    rf"(?i)\b(?:my|our|his|her) (?:\p{{L}}+ )?$|(?:\b(?:am|is|are|was|were|be|been|put|puts|me|him|her|them|stay|go|went)|['’](?:m|s|re)) on {_BEFORE}"
)
_OF_OTHERS = re2.compile(
    r"(?i)\b(?:have|has|got|know|see|met|need|meet|treat|teach|for|of) (?:an? |some |lots of |many |the )?(?:[\p{L}'’-]+ ){1,4}with (?:\p{L}+ )?$"
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
