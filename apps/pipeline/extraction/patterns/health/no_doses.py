"""Numbers beside a medicine that are no dose that somebody takes: years, how much is left, what is sold or fetched."""

import re

from apps.pipeline.lexicon.kinship import PERSON_NOUNS
from apps.pipeline.lexicon.tables import alternation

_PLAUSIBLE = r"(?:19[5-9]\d|20(?:0[1-9]|[1-3]\d))"  # not 2000, which is a dose as often
_YEAR = re.compile(rf"^{_PLAUSIBLE}$")
_FIRST_YEAR = re.compile(
    rf"(?i)^{_PLAUSIBLE}(?![\d.,]*\d)(?! ?(?:mgs?|mcg|µg|g|ml|iu|units?|milligrams?|micrograms?)\b)[ ,]*(?:and )?"
)
_LEFT = re.compile(
    r"(?i)\b(?:\d+|one|two|three|four|five|six|ten)(?: more)?(?: (?:tablets?|pills?|capsules?|patches|puffs?|doses|boxes|packs?|sachets?|units?|mgs?|ml))?(?: (?:are|is|of (?:them|those)))?(?: still)? (?:left|remain\w*)\b"
)
# "I sell 500 mg paracetamol", "I ordered 50 mg sertraline for my wife"
_SOMEBODY = (
    rf"(?:(?:my|our|the|his|her) (?:[\w-]+ )?(?:{alternation(PERSON_NOUNS)})|him|her|them|others|customers|patients)"
)
_HANDLED = re.compile(
    r"(?i)\b(?:I|we) (?:sell|stock|dispense)\b"
    rf"|\b(?:I|we)(?:['’](?:m|re|ve)| am| are| have)? (?:just |also |only |often )?(?:order|ordered|buy|bought|get|fetch|fetched|collect|collected|pick(?:ed)? up) [^.;!?]{{3,60}}? for {_SOMEBODY}\b"
)


def is_year(number: str) -> bool:
    """Return True for a bare number that is a year: "2019"."""
    return _YEAR.match(number.strip(" .,")) is not None


def is_for_others(clause: str) -> bool:
    """Return True if a clause says that the speaker sells medicines, or fetches one for somebody else."""
    return _HANDLED.search(clause) is not None


def without_year(detail: str) -> str:
    """Return a dose without the year in front of it: "2019, 500 mg" is 500 mg."""
    return _FIRST_YEAR.sub("", detail, count=1)


def without_stock(text: str) -> str:
    """Return a text without what counts a stock: "500 mg, only 3 left" is "500 mg, only"."""
    return _LEFT.sub("", text)
