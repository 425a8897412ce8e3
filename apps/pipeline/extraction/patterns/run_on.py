"""Run-on sentences, as people dictate or type them in haste: where the next statement begins without a full stop.

Of a long stretch of words with next to no punctuation, a statement begins at a subject with a finite verb, unless the
word before it needs one ("that I", "when she", "because he"). What follows a condition stays with it, so that "if I get
the job I'm moving" is never read as "I'm moving".
"""

import re
from collections.abc import Iterator

from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.health_terms import BODY_PART
from apps.pipeline.lexicon.kinship import KIN_WORDS
from apps.pipeline.lexicon.tables import alternation

_FEWEST_WORDS = 14
_WORDS_PER_SIGN = 9  # from which on so few signs do not divide a text into sentences
_REACH = 12  # words behind a condition that it may hold for
_MOST_STARTS = 12  # of one sentence
_SIGN = re.compile(r"[,;:.!?…\n–—]")
_JOINT = r"(?:(?:and|n|but|so|plus|cause|cuz|coz|cos|then|also|anyway|well|okay|ok) ){0,2}"
_OWN = rf"(?:[Mm]y|[Oo]ur|[Hh]er|[Hh]is)(?: (?:left|right|older|younger|little|lil|big|old))? (?:{alternation(KIN_WORDS)}|{BODY_PART}s?|doctor|doc|boss|name)"
_START = re.compile(
    rf"(?<=[\w)]) (?={_JOINT}(?:(?P<short>(?:I|i|[Hh]e|[Ss]he|[Ww]e|[Tt]hey)['’](?:m|s|ve|re)|[Ii]m|[Ii]ve|[Hh]es|[Ss]hes)|(?P<subject>(?:I|i|[Hh]e|[Ss]he|[Ww]e|[Tt]hey)|{_OWN}(?: [A-ZÀ-Þ][a-z]+)?|(?!(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b)[A-ZÀ-Þ][a-zà-ÿ]+)(?P<is>['’]s)?) (?P<verb>[a-z0-9]+(?:['’]t)?)\b)"
)
# After these the subject belongs to what has begun.
_GOVERNS = frozenset(
    "that if when whenever what which who whom whose where how why like as than whether because since until till before after unless though "
    "although while said says say saying told tell think thinks know knew guess hope mean wish believe reckon heard swear to of for with by "
    "at in on from about once is was are were be been the a an my our his her your their and n but so or plus not dr doctor doc mr mrs ms miss "
    "called named uncle aunt coach st saint all both did does do can could would will should may might have has had it".split()
)
_DEPENDS = re.compile(
    r"(?i)\b(?:if|unless|when|whenever|whether|imagine|suppose|pretend|wish|says?|said|told|until|till)\b"
)
_FINITE = frozenset(
    "is are was were has had have am do does did can cannot could will would must should may might can't couldn't won't "
    "wouldn't don't doesn't didn't isn't aren't wasn't weren't hasn't haven't hadn't ain't gotta gonna wanna dont doesnt cant isnt got".split()
)


def starts_in(text: str) -> Iterator[int]:
    """Yield the positions of a text at which another statement begins; none in text that has signs enough."""
    words = text.count(" ") + 1
    if words < _FEWEST_WORDS or words < _WORDS_PER_SIGN * (len(_SIGN.findall(text.rstrip(" .!?…"))) + 1):
        return
    begun = number = 0
    for found in _START.finditer(text):
        before = text[begun : found.start()]
        if _begins(found, before):
            begun, number = found.start() + 1, number + 1
            yield begun
        if number == _MOST_STARTS:
            return


def _begins(found: re.Match[str], before: str) -> bool:
    words = before.split()
    last = words[-1].lower().strip(",'’") if words else ""
    is_name = found["subject"] is not None and found["subject"][0].isupper() and last in KIN_WORDS
    if len(words) < 3 or last in _GOVERNS or is_name or _DEPENDS.search(" ".join(words[-_REACH:])):
        return False
    if found["short"] or found["is"]:
        return True
    verb = found["verb"].replace("’", "'")
    if verb in _FINITE or verbs.may_be_past(verb):
        return True
    subject = found["subject"]
    is_first = subject in ("I", "i", "We", "we", "They", "they")
    return _is_base(verb) if is_first else verb.endswith("s") and _is_base(verbs.base_form(verb))


def _is_base(word: str) -> bool:
    return bool(verbs.past_of(word)) or word in _REGULAR


_REGULAR = frozenset(
    "live work love like hate enjoy play use need prefer want help start move call plan stay visit own suffer look cook "
    "bake smoke turn retire join study manage attend train avoid rent swim walk talk carry wear inject".split()
)
