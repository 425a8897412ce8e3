"""What somebody says they are beside a main clause: "As a coeliac, I …", "vegan here", "I am, as you know, diabetic".

Each is written as the plain statement that it stands for, so that the other patterns read it.
"""

import re

from apps.pipeline.lexicon.health_terms import CONDITION_ADJECTIVES
from apps.pipeline.lexicon.kinship import KIN_WORDS
from apps.pipeline.lexicon.tables import alternation

_DEGREE = r"(?:(?:fellow|another|lifelong|life-long|long-?time|strict|severe|severely|type (?:1|2|one|two)) ){0,2}"
_QUALITY = (
    rf"(?:vegetarian|vegan|veggie|pescatarian|pescetarian|{alternation(CONDITION_ADJECTIVES)}|(?:\w+[ -])?intolerant)"
)
_OPENING = r"^(?P<opening>\W*(?:(?:and|so|also|but|well|btw|hi|hey|hello|oh|yes|no)\b,? ){0,2})"
# "As a coeliac, I", "Being diabetic, I", "Speaking as a vegan, I": the clause behind it has to be the
# speaker's, unlike that of "As a diabetic I know told me".
_SPEAKERS = rf",? (?P<rest>(?i:I(?! (?:know|knew|met|meet|follow|read|saw|heard|date|dated|work|worked|grew)\b)|I['’](?:m|ve|d|ll)|my (?!(?:\w+ )?(?:{alternation(KIN_WORDS)})\b)|we|what (?:can|should|could|do) I|can I|should I|is it (?:ok|okay|safe) for me)\b.*)$"
_AS_ONE = re.compile(
    rf"(?i){_OPENING}(?:(?:speaking )?as an? |being (?:an? )?)(?P<what>{_DEGREE}{_QUALITY}){_SPEAKERS}"
)
# "As someone with asthma, I", "As somebody who's allergic to cats, I"
_AS_SOMEBODY = re.compile(
    rf"(?i){_OPENING}(?:speaking )?as (?:someone|somebody|a person) (?:(?P<has>with)|who(?P<verb>['’]s| is| has| takes| lives with| suffers from| can['’]?t| cannot)) (?P<what>[^,.;!?]{{3,60}}), (?P<rest>(?:I|my|we)\b.*)$"
)
_OWN_VERB = {"'s": "am", "is": "am", "has": "have", "takes": "take", "lives with": "live with"} | {
    "suffers from": "suffer from"
}
# "Vegan here, any tips?", "Allergic to penicillin here."
_HERE = re.compile(
    rf"(?i){_OPENING}(?P<what>{_DEGREE}{_QUALITY}|(?:severely |deathly |very )?allergic to [\w -]{{2,40}}?) here(?: btw)?(?P<end>$|[,.;:!?]+(?: -)?|\s+-)\s*"
)
# "I'm the token vegan at work"
_THE_ONE = re.compile(
    rf"(?i)\b(?P<be>I['’]m|I am) (?:the|your|that|our) (?:[\w-]+ )?(?P<what>{_QUALITY})(?=$|[.,;!]| (?:at|in|of|here|on|among)\b)"
)
# "I am, as you know, coeliac"; an aside of doubt stays.
_ASIDE = re.compile(
    r"(?P<be>\b(?:I am|I['’]m|(?i:my) \w+ is))(?:, (?!(?:I|we) (?:think|guess|believe|suppose|hope|fear)|maybe|perhaps|possibly|probably|supposedly|apparently|according|as if|if|unless|not\b)[\w'’ ]{2,30},| (?:unfortunately|sadly|regrettably)) "
    rf"(?=(?:(?:an?|very|also|severely|deathly) )?(?:{_QUALITY}|allergic to|in|on)\b)"
)
# "Peanuts? I'm deathly allergic to them."
_NAMED = re.compile(r"^\W*(?:(?:and|so|oh|the|any|some) )?(?P<thing>[A-Za-z][\w-]{2,}(?: [a-z][\w-]{2,})?) ?\?+$")
# "No almonds, I'm allergic to them."
_THEM = re.compile(
    r"(?i)(?P<thing>(?:^|\b(?:no|any|without|avoid|skip|hates?|loves?|likes?|with|about|of|the) )(?P<what>(?!(?:please|thanks|always|sometimes)\b)[a-z]{3,}s)(?: please)?,? (?:because |as |since |cos |but |and )?(?:I['’]m|I am) (?:\w+ly |very |so )?allergic to )them\b"
)
_OF_IT = re.compile(
    r"(?i)(?P<lead>\b(?:allergic to|intolerant to|can['’]?t (?:eat|have|touch|drink)|never eat) )(?:them|it|those|that|these)\b"
)
# Of a couple one is.
_WE_ARE = re.compile(r"(?P<we>\b[Ww]e(?:['’]re| are)) pregnant\b")
# "We're all vegan except me"
_OTHERS = re.compile(r"^(?P<opening>\W*(?:\w+, )?)[Ww]e(?=['’ ].{3,60}\b(?:except|apart from|but not)(?: for)? me\b)")
_MAY_TELL = re.compile(r"(?i)\b(?:as|being|here|the|your|that|our|am|is|it|them|those|these|pregnant|me)\b|['’]m\b")


def with_self_told(sentence: str, *, before: str = "") -> str:
    """Return a sentence in which the speaker says plainly what they are; `before` is the sentence before it."""
    if not _MAY_TELL.search(sentence):
        return sentence
    sentence = _OTHERS.sub(r"\g<opening>They", sentence)
    sentence = _WE_ARE.sub(r"\g<we> having a baby", sentence)
    sentence = _ASIDE.sub(r"\g<be> ", _THE_ONE.sub(r"\g<be> \g<what>", sentence))
    sentence = _THEM.sub(lambda found: found["thing"] + found["what"].lower(), sentence)
    if named := _NAMED.match(before):
        sentence = _OF_IT.sub(lambda found: found["lead"] + named["thing"].lower(), sentence, count=1)
    if one := _AS_ONE.match(sentence):
        return f"I am {one['what']}; {one['rest']}"
    if somebody := _AS_SOMEBODY.match(sentence):
        return f"I {_own_verb(somebody)} {somebody['what']}; {somebody['rest']}"
    if here := _HERE.match(sentence):
        rest = sentence[here.end() :]
        return f"I am {_in_sentence(here['what'])}{'; ' + rest if rest else here['end'].strip()}"
    return sentence


def _own_verb(somebody: re.Match[str]) -> str:
    """Return the verb of the first person: "who takes" is "I take"."""
    if somebody["has"]:
        return "have"
    verb = somebody["verb"].strip().lower().replace("’", "'")
    return _OWN_VERB.get(verb, verb)


def _in_sentence(what: str) -> str:
    """Return a description without the capital of a beginning."""
    what = re.sub(r"(?i)^(?:fellow|another) ", "", what)
    return what[:1].lower() + what[1:]
