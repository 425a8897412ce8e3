"""How a sentence is meant: asserted, imagined, played, mocked, or of no lasting interest."""

import re2

from apps.pipeline.vocabulary import SpeechAct

_HYPOTHETICAL = re2.compile(
    r"(?i)^(?:.{0,40}?\b)?(?:what if|imagine(?: that| if)?|suppose(?: that)?|hypothetically,?(?: if)?|let'?s (?:say|assume)(?: that)?|say)\s+(I\b.*)"
)
_ROLEPLAY = re2.compile(
    r"(?i)^(?:.{0,40}?\b)?(?:pretend(?:ing)?(?: that| like)?(?: to be)?|act as (?:if|though)|let'?s pretend(?: that)?|for this (?:story|game|scene),?"
    r"|in this (?:story|game|role-?play|scene),?)\s+(I\b.*)"
)
# "I'm basically a lawyer" and "I'm actually a doctor, so walk me through it" frame a request, not a life.
_RHETORICAL = re2.compile(
    r"(?i)\bI(?:'m| am) (?:basically|practically|actually|kind of|sort of|kinda|pretty much|virtually) (?:a|an|the)\b"
)
_SARCASM = re2.compile(
    r"(?i)^(?:oh,? (?:great|wonderful|fantastic|joy|perfect|good|nice|lovely)[,.!]* (?:another|just what|more|yet)\b"
    r"|(?:yeah,? )?(?:right|sure),? (?:because|like)\b|just what I (?:needed|wanted)\b|as if\b|thanks a lot for\b|I(?:'d| would) (?:so )?love (?:nothing more|another)\b)|/s$"
)
_UNREAL = re2.compile(
    r"(?i)\b(?:if (?:I|we)\b|if only|I wish\b|wish I\b|as if I\b|I(?:'d| would) (?:be|have|do|never|probably)\b|I (?:could|should|would) have\b|could've|should've|would've)"
)

_INDICATIVE = {"were": "am", "was": "am", "had": "have", "worked": "work", "lived": "live", "spoke": "speak"}


def speech_act_of(sentence: str) -> tuple[SpeechAct | None, str]:
    """Return how a sentence is meant and the claim in it; None where nothing in it may be kept."""
    if _SARCASM.search(sentence):
        return None, ""
    if played := _ROLEPLAY.search(sentence):
        return SpeechAct.ROLEPLAY, _indicative(played.group(1))
    if imagined := _HYPOTHETICAL.search(sentence):
        return SpeechAct.HYPOTHETICAL, _indicative(imagined.group(1))
    if _RHETORICAL.search(sentence):
        return SpeechAct.HYPOTHETICAL, sentence
    return SpeechAct.ASSERTED, sentence


def _indicative(claim: str) -> str:
    """Turn what is imagined into the claim itself: "I were a doctor" → "I am a doctor"."""
    subject, _, rest = claim.partition(" ")
    verb, _, tail = rest.partition(" ")
    return " ".join((subject, _INDICATIVE.get(verb.lower(), verb), tail)).strip()


def is_unreal(clause: str) -> bool:
    """Tell whether a clause speaks of what is not so: conditions, wishes, missed chances."""
    return _UNREAL.search(clause) is not None
