"""Foods, medicines and animals that "it" and "them" mean: "I avoid milk because it gives me cramps".

The thing is written in the place of the pronoun, so that the other patterns read it. It stands right before, or in the
question before: "Peanuts? I'm allergic to them."
"""

import re

from apps.pipeline.extraction.patterns.health.terms import medicines_in
from apps.pipeline.lexicon.foods import is_food
from apps.pipeline.lexicon.kinship import ANIMALS

# "Peanuts? I'm deathly allergic to them."
_NAMED = re.compile(r"(?i)^\W*(?:(?:and|so|oh|the|any|some) )?(?P<thing>[a-z][\w-]{2,}) ?\?+$")
_OF_IT = re.compile(
    r"(?i)(?P<lead>\b(?:allergic to|intolerant to|can['’]?t (?:eat|have|touch|drink)|never eat) )(?:them|it|those|that|these)\b"
)
# "Does it have nuts? I'm allergic to them."
_ASKED_FOR = re.compile(
    r"(?i)^\W*(?:does|do|is|are|has|have|did|can) (?:it|this|that|these|those|they|there|you) (?:[a-z]+ ){0,3}?(?:have|has|contains?|got|with|any|use|uses|put)(?: (?:any|some|the))? (?P<thing>[a-z][\w-]{2,})(?: in (?:it|them|this|that|there))? ?\?+$"
)
_ALLERGIC_TO_IT = re.compile(
    r"(?i)(?P<lead>\b(?:allergic|intolerant) to )(?:them|it|those|that|these)(?=$|[.,;:!?]| (?:so|and|but|too|as well|btw|sadly|unfortunately)\b)"
)
# "I avoid milk because it gives me cramps."
_ITS_EFFECT = re.compile(
    r"(?i)(?P<lead>\b(?P<thing>[a-z]{3,}),? (?:because|since|cause|cos|but) )(?:it|they|that|those) (?=(?:(?:always|really|just|also|still) )?(?:gives?|makes?|upsets?|causes?|triggers?|brings?|sets?|(?:doesn|don)['’]?t agree)\b)"
)
# "No almonds, I'm allergic to them."
_THEM = re.compile(
    r"(?i)(?P<thing>\b(?:no|any|without|avoid|skip|hates?|loves?|likes?) (?P<what>[a-z]{3,}s)(?: please)?,? (?:because |as |since |cos |but )?(?:I['’]m|I am) (?:\w+ly |very |so )?allergic to )them\b"
)


def with_things_named(sentence: str, *, before: str) -> str:
    """Return a sentence that names the things its pronouns mean, as far as that is sure; `before` is the one before."""
    sentence = _THEM.sub(lambda found: found["thing"] + found["what"].lower(), sentence)
    if (named := _NAMED.match(before)) and _may_be_eaten_or_met(thing := named["thing"].lower()):
        sentence = _OF_IT.sub(lambda found: found["lead"] + thing, sentence, count=1)
    elif (asked := _ASKED_FOR.match(before)) and is_food(thing := asked["thing"].lower()):
        sentence = _ALLERGIC_TO_IT.sub(lambda found: found["lead"] + thing, sentence, count=1)
    return _ITS_EFFECT.sub(_named_again, sentence)


def _named_again(found: re.Match[str]) -> str:
    """Return what has an effect by its name, if it is a food or a medicine."""
    thing = found["thing"].lower()
    return f"{found['lead']}{thing} " if _may_be_eaten_or_met(thing) else found.group()


def _may_be_eaten_or_met(thing: str) -> bool:
    """Return True for a food, a medicine or an animal, unlike "really?" and "why?"."""
    return is_food(thing) or thing in ANIMALS or next(medicines_in(thing), None) is not None
