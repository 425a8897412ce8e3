"""What is said of health in jest: "allergic to Mondays", "allergic to my mother in law", "so OCD about my desk"."""

import re2

from apps.pipeline.lexicon.kinship import PERSON_NOUNS
from apps.pipeline.lexicon.tables import alternation

# The whole of what somebody is allergic to in jest, as an RE2 expression: not "my mother's cat", nor "baby powder".
NO_ALLERGENS = (
    r"(?:being|having to)\b|(?:(?:work|people|mornings?|maths?|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)"
    rf"|(?:(?:[\w-]+['’]s|my|our|his|her|the) (?:[\w-]+ )?)?(?:{alternation(PERSON_NOUNS)})(?: in law)?)(?: lol| haha)?(?:$|[.!?;)])"
)
_ALLERGIC = re2.compile(rf"(?i)\ballergic to (?:{NO_ALLERGENS})")
_AS_A_QUALITY = re2.compile(
    r"(?i)\b(?:so|super|very|totally|kinda|kind of|a bit|a little|a tad|such an?) (?:OCD|ADHD|ADD|PTSD)(?:$|[^-\w])"
)


def is_in_jest(clause: str) -> bool:
    """Return True if a clause speaks of an allergy or a condition in jest."""
    return _ALLERGIC.search(clause) is not None or _AS_A_QUALITY.search(clause) is not None
