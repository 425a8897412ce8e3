"""What is said of health in jest: "allergic to Mondays", "allergic to my mother in law", "so OCD about my desk"."""

import re2

from apps.pipeline.lexicon.kinship import PERSON_NOUNS
from apps.pipeline.lexicon.tables import alternation

# Nobody is allergic to these, as an RE2 expression; "my mother's cat" is another matter.
NO_ALLERGENS = (
    r"(?:work|people|being|having to|mornings?|maths?|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)\b"
    rf"|(?:(?:[\w-]+['’]s|my|our|his|her|the) (?:[\w-]+ )?)?(?:{alternation(PERSON_NOUNS)})(?:$|[^\w'’-])"
)
_ALLERGIC = re2.compile(rf"(?i)\ballergic to (?:{NO_ALLERGENS})")
_AS_A_QUALITY = re2.compile(
    r"\b(?i:so|super|very|totally|kinda|kind of|a bit|a little|a tad|such an?) (?:OCD|ADHD|ADD|PTSD)(?:$|[^-\w])"
)


def is_in_jest(clause: str) -> bool:
    """Return True if a clause speaks of an allergy or a condition in jest."""
    return _ALLERGIC.search(clause) is not None or _AS_A_QUALITY.search(clause) is not None
