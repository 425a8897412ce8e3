"""Grammatical subjects that are neither the speaker nor anybody known: "The new boss is vegan", "nobody is coeliac".

What such a clause says of health is nobody's whom a memory could name, and never falls back to the speaker.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from apps.pipeline.extraction.patterns.health.terms import conditions_in, medicines_in
from apps.pipeline.lexicon.health_terms import BODY_PART, CONDITION_ADJECTIVES
from apps.pipeline.lexicon.kinship import KIN_WORDS
from apps.pipeline.lexicon.tables import alternation

_DETERMINER = (
    r"(?:the|an?|my|our|your|their|his|her|this|that|these|those|some|another|every|each|no|both|most|many|several)"
)
# A word of a noun phrase; conjunctions, pronouns and relatives end it.
_NO_NOUN = r"(?:and|but|or|so|because|cause|if|when|who|that|which|i|we|you|he|she|it|me|us|him|them)"
_WORD = rf"(?:(?:to|by|behind|near|beside|opposite) (?:me|us)\b|(?!{_NO_NOUN}\b)[\w-]+(?:['’]s)?)"
_NOBODY = (
    r"(?:nobody|no[ -]one|none(?: of \w+(?: \w+)?)?|they|neither|(?:one|some|half|two|three) of \w+(?: \w+){0,2}?)"
)
_SUBJECT = rf"(?P<subject>(?:{_NOBODY}|{_DETERMINER}(?: {_WORD}){{1,6}}?|^who))"
_BE = r"(?: (?:is|are|was|were)|['’](?:s|re))"
_ADVERBS = r"(?: (?:also|all|both|still|now|really|very|actually|always|either|strictly|fully|only|a|an|type (?:1|2|one|two))){0,3}"
_QUALITY = rf"(?:vegetarians?|vegans?|veggie|pescatarian|halal|kosher|coeliacs?|celiacs?|{alternation(CONDITION_ADJECTIVES)}|allergic|(?:\w+[ -])?intolerant|on|off|taking|using|eating|avoiding|gluten[ -]free|dairy[ -]free|keto)"
# "was sick on tramadol", "has been put on it": what only a patient is.
_ON_A_MEDICINE = rf"(?:{_BE}| (?:has|have|had) been| got) (?:sick|ill|poorly|unwell|(?:put|started|kept|placed|moved|switched)(?: back)?|back) (?:on|off)\b"
_DONE = r"(?:\w{2,}ed|put|been|given|taken|gone|brought|cut|told|said|made|come|to)"  # "has added": an act
_STATE = (
    rf"(?:{_BE}{_ADVERBS} {_QUALITY}\b"
    rf"|{_ON_A_MEDICINE}"
    rf"|{_BE} given\b"
    rf"|(?: (?:has|have|had)|['’]s got|['’]ve got)\b(?!{_ADVERBS} {_DONE}\b)"
    r"| (?:can['’]?t|cannot|can(?: not)?|mustn['’]t|shouldn['’]t|doesn['’]?t|don['’]?t|won['’]?t) (?:eat|have|take|tolerate|drink|digest|handle|touch|do|bear)\b"
    r"| (?:takes?|uses|eats?|avoids?|injects|wears|suffers|react(?:s|ed)|needs|lives with|went|became|turned|gave up|follows|quit)\b)"
)
_FOREIGN = re.compile(
    rf"(?i)(?<![\w'’-])(?<!\bat )(?<!\bin )(?<!\bon )(?<!\bof )(?<!\bto )(?<!\bfor )(?<!\bfrom )(?<!\bwith )(?<!\bafter )(?<!\bsince )(?<!\bas ){_SUBJECT}(?={_STATE})"
)
# "Hubby has gout", "SO has coeliac": a noun without an article that begins a clause. Other words there belong to a
# statement whose subject is left out ("Still have asthma"), and other capitals to a name.
_NO_BARE_NOUN = (
    r"(?:i|im|we|you|he|she|it|its|this|that|these|those|there|here|what|which|who|whose|how|why|when|where|both|also|still|just|never|always"
    r"|now|only|once|since|after|before|already|again|too|not|no|yes|ok|do|did|been|being|have|has|had|am|is|are|was|were|can|even|then|today"
    r"|at|in|on|for|with|from|during|as|by|of|to|per|all|plus|cos|thus|thanks|sometimes|weekends|mornings|evenings|nights|my|our|your|his|her|their|the|an?|\w+ly|\w+ed|\w+ing)"
)
_BEGINS = r"(?:^\W*(?:(?:and|but|so|also|well|oh|btw|plus|anyway|ok|yeah|yes|no)\b[, ]{1,2}){0,3}|, |\b(?:and|but|heard|guess|apparently) )"
_BARE = re.compile(
    rf"(?i){_BEGINS}(?P<subject>(?!{_NO_BARE_NOUN}\b)(?-i:[a-z][\w’-]+|[A-Z]{{2,4}}\b)(?: (?!{_NO_NOUN}\b)[\w-]+){{0,2}}?)(?={_STATE})"
)
# Other verbs may be those of "I", unless the noun is a plural: "often have migraines", "twins have asthma".
_THIRD_PERSON = re.compile(
    r"(?i)['’]s\b| (?:is|has|takes|uses|eats|avoids|injects|wears|suffers|reacts|needs|lives|follows)\b"
)
# "moms allergic to sulfa", "my sisters allergic to milk": an apostrophe was left out, or nothing more.
_RELATIVES = re.compile(
    rf"(?i)(?<![\w'’-])(?P<subject>(?:{alternation(KIN_WORDS)})(?:(?<!s)s)?)(?= (?:\w+ly |so |very |super )?allergic to\b)"
)
# What is part of the speaker or taken, and whom the speaker is one of.
_OF_THE_SPEAKER = re.compile(
    rf"(?i)\b(?:{BODY_PART}|blood|skin|memory|body|family|household|tablet|pill|med|medicine|medication|dose|prescription)s?\b"
)


@dataclass(frozen=True, slots=True)
class ForeignSubject:
    """The place of a subject in its clause, as offsets of characters."""

    start: int
    end: int


def foreign_subject(clause: str, *, end: int) -> ForeignSubject | None:
    """Return the last subject before `end` that has, takes or is something itself, or None."""
    last: ForeignSubject | None = None
    for found in _subjects(clause):
        if found.end > end:
            break
        last = found
    return last


def bare_subject(clause: str, *, end: int) -> int:
    """Return where the last noun without an article begins that has, takes or is what stands at `end`; -1 for none."""
    place = -1
    for found in (*_BARE.finditer(clause), *_RELATIVES.finditer(clause)):
        subject = found["subject"]
        has_verb = found.re is _RELATIVES or subject.endswith("s") or _THIRD_PERSON.match(clause, found.end("subject"))
        if has_verb and found.end("subject") <= end and _is_somebody_else(subject):
            place = max(place, found.start("subject"))
    return place


def _subjects(clause: str) -> Iterator[ForeignSubject]:
    for found in _FOREIGN.finditer(clause):
        if _is_somebody_else(found["subject"]):
            yield ForeignSubject(found.start("subject"), found.end("subject"))


def _is_somebody_else(subject: str) -> bool:
    is_term = next(medicines_in(subject), None) or next(conditions_in(subject), None)
    return not is_term and _OF_THE_SPEAKER.search(subject) is None
