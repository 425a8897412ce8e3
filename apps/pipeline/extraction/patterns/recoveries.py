"""What is over or allowed again: "the stress fracture has healed", "chicken is fine again"."""

from dataclasses import dataclass

import re2

from apps.pipeline.extraction.patterns.catalogue import BY_NAME
from apps.pipeline.extraction.patterns.pattern import Pattern, without_article
from apps.pipeline.lexicon.foods import is_food
from apps.pipeline.lexicon.health_terms import BODY_PART, CONDITION_NOUNS

_HEALED = re2.compile(
    rf"(?i)^(?:my|the) (?P<object>{CONDITION_NOUNS})(?: (?:has|have|is|are)|'s)(?: (?:finally|completely|fully|all|now|pretty much|been))* (?:healed|gone|cured|cleared up|over|better(?: now)?)\b"
)
_BODY_FINE = re2.compile(
    rf"(?i)^(?:my|the) (?P<object>(?:left |right |lower |upper )?{BODY_PART})(?:'s| is| are| feels)(?: (?:totally|perfectly|completely|fully|all|now|finally|absolutely))* (?:fine|ok|okay|healed|better|good|all right)(?: again| now)\b"
)
_FINE_AGAIN = re2.compile(
    r"(?i)^(?P<object>[a-z]+)(?:'s| is| are) (?:(?:totally|perfectly|now) )?(?:(?:fine|ok|okay|allowed|good)(?: (?:for me))? (?:again|now)|back(?: (?:on the menu|in my life|again|in))?)\b"
)
_CONDITION = BY_NAME["has_condition"]
_EATS = BY_NAME["consumes"]


@dataclass(frozen=True, slots=True)
class Recovery:
    """A condition that is over, a part of the body that is well again, or a food that is eaten again."""

    row: Pattern
    value: str
    content: str
    is_negated: bool


def recovery_in(clause: str, *, name: str) -> Recovery | None:
    """Read the end of a condition or of a diet; None for anything else."""
    if healed := _HEALED.match(clause):
        condition = without_article((healed.group("object") or "").lower())
        article = "an" if condition[0] in "aeiou" else "a"
        has_one = condition.endswith(("fracture", "hernia", "disc", "ligament", "murmur"))
        what = f"{article} {condition}" if has_one else condition
        return Recovery(_CONDITION, condition, f"{name} no longer has {what}.", is_negated=True)
    if well := _BODY_FINE.match(clause):
        part = (well.group("object") or "").lower()
        row = _CONDITION.evolved(predicate=part.replace(" ", "_"))
        return Recovery(row, "fine again", f"{name}'s {part} is fine again.", is_negated=False)
    fine = _FINE_AGAIN.match(clause)
    food = (fine.group("object") or "").lower() if fine else ""
    if is_food(food):
        return Recovery(_EATS, food, f"{name} eats {food} again.", is_negated=False)
    return None
