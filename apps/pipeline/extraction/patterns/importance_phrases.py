"""Things that are important to the speaker, as the subject of a sentence: "Painting helps me relax"."""

import re
from dataclasses import dataclass

import re2

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.extraction.patterns import third_person
from apps.pipeline.extraction.patterns.general_statements import free_phrase
from apps.pipeline.extraction.patterns.pattern import Pattern

_EFFECT = (
    r"(?:helps?|helped|helping|makes?|made|gives?|gave|given|brings?|brought|keeps?|kept|taught|teach(?:es)?|inspires?|inspired|motivates?|motivated|reminds?|"
    r"means?|meant|allows?|lets?|calms?|changed|drives?|relaxes?|energi[sz]es|cheers?|supports?|supported|encouraged?|encourages|push(?:es|ed)|matters?|mattered|gets?|got|forced?|forces|leads?|led|puts?|lifts?|lifted|fills?|filled|saves?|saved|touche[sd]|shows?|showed|shaped?|shapes|challenges?|challenged|excites?|thrills?|scares?|scared|worries|bothers?|annoys?|stresses|soothes|comforts?|grounds|recharges?|refreshes|heals?|healed|fascinates?|mesmerizes?)"
)
_MOVES = re2.compile(
    rf"^(?P<thing>.{{3,60}}?) (?P<said>(?:(?:has|have|had|also|really|always|just|truly|definitely|can|would) )*{_EFFECT} (?:keep |to |(?:a lot|so much|everything|the world|the most|it possible|it easier|joy|peace|comfort|happiness|so much joy|such joy|lots of joy) )?(?:(?:to|for) )?(?:(?:me|us)\b.*|(?:my|our) (?:own )?(?:life|lives|heart|mood|mind|soul|spirits?|day|days|day-to-day|outlook|view|health|confidence|creativity|passion|stress|anxiety|perspective|world|imagination|interest)\b.*))$"
)
_MATTERS = re2.compile(
    r"^(?P<thing>.{3,60}?)(?P<said>(?:'s| is| are| was| were| has been| have been| has always been| have always been)(?: (?:so|really|very|super|always|also|definitely|truly|mostly|still|such))* "
    r"(?:(?:(?:a|an|the) )?(?:\w+ )?(?:important|special|dear|precious|sacred|close|part|inspiration|source|big deal|thing|reminder|way|outlet|escape|favou?rites?|passion|dream) (?:to|for|of|in) (?:me|my|us|our|mine)\b|(?:a|an|the|one of the) (?:\w+ )?ways? to [\w ]{3,40}?\b(?:me|my|myself|us|our)\b|one of (?:my|our) (?:\w+ )?(?:faves?|favou?rites?|passions|hobbies)\b"
    r"|(?:(?:a|an|the|one of the) )?(?:[\w-]+ ){1,4}(?:to|for) (?:me|us)\b|the (?:best|hardest|worst|proudest|happiest|highlight|turning point|most \w+)\b.*|(?:my|our) (?:own |main |new |biggest |greatest |favou?rite |all-time |number one |true |real |happy |go-to )*(?:passions?|hobb(?:y|ies)|escape|dreams?|haven|favou?rites?|thing|rocks?|goals?|place|outlet|therapy|priority|strength|family|motivation|inspiration|way|jam|guilty pleasure|comfort food|home|life)\b).*)$"
)
_NOT_A_THING = re.compile(
    r"(?i)^(?:it|its|it's|that's|(?:this|that|these|those)(?:$| (?:is|was|has|really|all|also|one|kind|stuff|just|place|time|way)\b)|you|your|you're|they|he|she|there|what|which|who|where|when|how|i|i'm|i've|we|we're|thanks?|glad|happy|wow|yes|yeah|no|if|"
    r"all|so|but|and|since|because|as|while|although|though|until|once|unless|whether|before|after|for|here|here's|sounds?|looks?|hope|hopefully|let|just|one|stuff|everything|sorry|sure|their|his|her)\b"
)
_POINTING = re.compile(r"(?i)^(?:this|that|these|those) ")
_TALK = re.compile(
    r"(?i)\b(?:you|your|words|convo|chat|call|message|pic|photo|picture|that|it|it's|but|really|not|maybe|even|everyone|i|we)\b"
)

VALUE = Pattern(
    name="matters", type=MemoryType.PREFERENCE, predicate="values", expression=".*", topic="values", importance=0.4, adjustment=-0.1, max_words=34
)  # fmt: skip
_REACTION = Pattern(
    name="reaction", type=MemoryType.FACT, predicate="reacts_to", expression=".*", topic="health", importance=0.9, max_words=34
)  # fmt: skip
_BODILY = re.compile(r"\b(?:hives|rash|headaches?|migraines?|cramps|heartburn|nausea|bloated|itch|sick|ill)\b")


@dataclass(frozen=True, slots=True)
class Value:
    """A thing with its effect on the speaker, and the sentence that states it."""

    thing: str
    content: str
    row: Pattern = VALUE


_IT = re.compile(r"^(?:[Ii]t|[Tt]hat|[Tt]his)(?='s | )")
_THEY = re.compile(r"^(?:[Tt]hey|[Tt]hese)(?='re | )")
_PLURAL = re.compile(r"(?:^[A-Z][a-z]+s|\b(?:[Mm]y|[Oo]ur) (?:\w+ ){0,2}\w+s|\w's \w+s)$")
_TOPIC = re2.compile(
    r"^(?P<thing>(?:[A-Z]\w+ing|[A-Z][a-z]+s|[A-Z][a-z]+|[Mm]y \w+|[Oo]ur \w+)(?: (?:in|of|with|and|for|on|to|the|a|my|our|[a-z]+)){0,4}?)(?:'s| is| are| was| were| has| have| can| really| always| brings?| gives?| makes?| helps?| means?) "
)
_ADVERB = re2.compile(r"(?: (?:[\p{L}-]+ly|also|just|even|still|sure|all))+$")
_NOBODY = re.compile(
    r"(?i)(?:sounds?|looks?|seems?|must|great|good|nice|congrats?|well|same|other|most|each|hope|love|some|having|being|seeing|getting|every|any|my (?:day|week|point|pleasure|bad)|something|someone|nobody|everybody)\b"
)
_NOTHING = frozenset("it that this them something anything nothing everything".split())


# What a thing does for good, where a statement to an assistant may well be of the task at hand.
_LASTING_EFFECT = re2.compile(
    r"(?i)^(?:(?:really|always|also|just|often|usually) )*(?:helps|help|calms|calm|relaxes|motivates|inspires|energi[sz]es|soothes|means|keeps me|makes? me (?:break out|come out|swell|wheeze|cough|sneeze|itchy|throw up|bloated|itch|happy|feel|sleepy|sick|ill|anxious|nervous)"
    r"|gives? me (?:hives|an? rash|headaches?|migraines|cramps|heartburn|nausea|nightmares|joy|peace|energy))\b|^(?:'s| is| are)\b"
)
_DETERMINED = re.compile(r"(?i)^(?:the|this|that|these|those|an?) ")


def value_in(clause: str, *, name: str, before: str = "", to_assistant: bool = False) -> Value | None:
    """Parse "Painting helps me relax" or "Family is important to me"; None if the thing is not named.

    `before` is the thing that the previous sentence was about, which "it" then refers to.
    """
    if before and before.lower() not in _NOTHING:
        pronoun = _THEY if _PLURAL.search(before) else _IT
        clause = pronoun.sub(lambda _: before[:1].upper() + before[1:], clause)
    found = _MOVES.match(clause) or _MATTERS.match(clause)
    if found is None or "each other" in clause or " together" in clause:
        return None
    thing = found.group("thing").strip(" ,")
    if _NOT_A_THING.match(thing) or _TALK.search(thing) or re.search(r"[,;:.!?]", thing):
        return None
    if to_assistant and (_DETERMINED.match(thing) or not _LASTING_EFFECT.match(found.group("said"))):
        return None
    thing = third_person.third_person(_POINTING.sub("the ", thing), name=name)
    said = free_phrase(third_person.third_person(_spelled(found.group("said")), name=name), least=2)
    content = f"{thing[:1].upper()}{thing[1:]} {said}."
    row = _REACTION if _BODILY.search(said) else VALUE
    return Value(thing=thing, content=content, row=row) if said and name in said else None


def topic_of(sentence: str, *, name: str) -> str:
    """Return what a sentence speaks of by its subject, which the next one may call "it" or "they"; "" for none."""
    found = _TOPIC.match(sentence)
    thing = _ADVERB.sub("", found.group("thing")) if found else ""
    if not thing or _NOT_A_THING.match(thing) or _TALK.search(thing) or _NOBODY.match(thing):
        return ""
    return third_person.third_person(thing, name=name)


def _spelled(said: str) -> str:
    return f"is {said[3:]}" if said.startswith("'s ") else said.strip()
