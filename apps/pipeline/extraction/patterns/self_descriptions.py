"""What somebody says they are beside a main clause: "As a coeliac, I …", "vegan here", "I am, as you know, diabetic".

Each is written as the plain statement that it stands for, so that the other patterns read it. Only what surely is the
speaker's own is written so: "As a diabetic, my patient …" and "Being vegan, I imagine, is hard" stay as they are.
"""

import re

from apps.pipeline.lexicon.health_terms import CONDITION_ADJECTIVES
from apps.pipeline.lexicon.kinship import ANIMALS, KIN_WORDS
from apps.pipeline.lexicon.tables import alternation

_DEGREE = r"(?:(?:fellow|another|lifelong|life-long|long-?time|strict|severe|severely|type (?:1|2|one|two)) ){0,2}"
_QUALITY = (
    rf"(?:vegetarian|vegan|veggie|pescatarian|pescetarian|{alternation(CONDITION_ADJECTIVES)}|(?:\w+[ -])?intolerant)"
)
_OPENING = r"^\W*(?:(?:and|so|also|but|well|btw|hi|hey|hello|oh)\b,? ){0,2}"
# What the speaker is told, thinks or would do says nothing of what they are.
_SPEAKERS = (
    r", (?P<rest>(?i:I(?:['’]m(?! (?:told|not one))|['’]ve(?! (?:read|heard|been told))"
    r"| (?!(?:imagine|think|guess|suppose|would|hear|know|want|wish|expect|assume|believe|reckon|see|understand|never)\b))"
    r"|my (?:options?|diet|doctor|gp|meals?|blood sugar|sugars?)\b|(?:what )?(?:can|should) I\b).*)"
)
# Without a comma, "I" may begin a relative clause: "as a vegan I met told me", "as a vegan I need to feed is coming".
_GOES_ON = r" (?P<goes_on>(?i:I (?:(?:can['’]?t|cannot) (?!stand\b)|need (?!to\b)|avoid |struggle )).*)"
_AS_ONE = re.compile(
    rf"(?i){_OPENING}(?:(?:speaking )?as an? |(?P<being>being )(?:an? )?)(?P<what>{_DEGREE}{_QUALITY})(?: myself)?(?:{_SPEAKERS}|{_GOES_ON})$"
)
# "As someone with asthma, I", "As somebody who's allergic to cats, I"
_AS_SOMEBODY = re.compile(
    rf"(?i){_OPENING}(?:speaking )?as (?:someone|somebody|a person) (?:(?P<has>with)|who(?:['’]s| is))"
    rf" (?P<what>(?![^,]*\b(?:my|an?|never|not|family|parents|house|household|home|{alternation(KIN_WORDS - ANIMALS)})\b)(?:(?!\b(?:can|could|would|will)\b)[^,.;!?]){{3,60}}?)(?:{_SPEAKERS}|{_GOES_ON})$"
)
_PARENT = r"(?:mum|mom|mam|dad|parent)"
# "Vegan here, any tips?", "Coeliac mum here" (of "diabetic mum here, how do I manage her?" the speaker is a doctor), "Allergic to penicillin here."; a list of dishes goes on with ":" or "there".
_HERE = re.compile(
    rf"(?i){_OPENING}(?P<what>{_DEGREE}{_QUALITY}(?= here| {_PARENT} here(?!.*\b(?:she|he|her|him|his)\b))|(?:severely |deathly |very )?allergic to [\w -]{{2,40}}?)(?: {_PARENT})? here(?: btw)?"
    r"(?P<end>$|[,.;!?]+(?: -)?|\s+-)\s*(?!.*\bthere\b)"
)
# "I'm the token vegan at work"
_THE_ONE = re.compile(
    r"(?i)\b(?P<be>I['’]m|I am) (?:the|your|that|our) (?:token|only|resident|sole|lone|local|designated) "
    rf"(?P<what>{_QUALITY})(?=$|[.,;!]| (?:at|in|of|here|on|among)\b)"
)
# "I am, as you know, coeliac"; an aside of doubt or denial stays.
_ASIDE = re.compile(
    r"(?P<be>\b(?:I am|I['’]m|(?i:my) \w+ is))(?:, (?:as you (?:may )?know|as I said|as it happens|for the record|of course|by the way|btw|fyi|in fact|also|like"
    r"|sadly|unfortunately|regrettably|(?:un)?like (?:my|the) [\w'’ ]{2,20}|unlike me),| (?:unfortunately|sadly|regrettably)) "
    rf"(?=(?:(?:an?|very|so|also|severely|deathly) )?(?:{_QUALITY}|allergic to)\b)"
)
# Of a couple, one is pregnant, and both are having a baby.
_WE_ARE = re.compile(r"(?P<we>\b[Ww]e(?:['’]re| are)) pregnant(?=$|[.!,]| again| and)")
# "We're all vegan except me" is about the others.
_OTHERS = re.compile(
    r"^(?P<opening>\W*(?:(?:so|but|and)\b,? |\w+, )?)[Ww]e(?=(?:['’]re| are| all)(?: \w+){1,3} (?:except|apart from|but not)(?: for)? me\b)"
)


def with_self_told(sentence: str) -> str:
    """Return a sentence that says plainly what its speaker, or the couple or family, is."""
    sentence = _WE_ARE.sub(r"\g<we> having a baby", _OTHERS.sub(r"\g<opening>They", sentence))
    sentence = _ASIDE.sub(r"\g<be> ", _THE_ONE.sub(r"\g<be> \g<what>", sentence))
    one = _AS_ONE.match(sentence)
    if one and (one["rest"] or not one["being"]):  # "being diabetic I cannot …" needs its comma
        return f"I am {one['what']}; {one['rest'] or one['goes_on']}"
    if somebody := _AS_SOMEBODY.match(sentence):
        rest = somebody["rest"] or somebody["goes_on"]
        return f"I {'have' if somebody['has'] else 'am'} {somebody['what']}; {rest}"
    if here := _HERE.match(sentence):
        rest = sentence[here.end() :]
        return f"I am {_in_sentence(here['what'])}{'; ' + rest if rest else here['end'].strip()}"
    return sentence


def _in_sentence(what: str) -> str:
    """Return a description without the capital of a beginning."""
    what = re.sub(r"(?i)^(?:fellow|another) ", "", what)
    return what[:1].lower() + what[1:]
