"""The speech act of a sentence: asserted, imagined or ironic; what is played is hidden as others' words."""

import re

import re2

from apps.pipeline.core.enums import SpeechAct

_HYPOTHETICAL = re2.compile(
    r"(?i)^(?:.{0,40}?\b)?(?:what if|imagine(?: that| if)?|suppose(?: that)?|hypothetically,?(?: if)?|let'?s (?:say|assume)(?: that)?|say)\s+I\b"
)
# "I'm basically a lawyer", and "I'm actually a doctor, so walk me through it", only frame a request.
_RHETORICAL = re.compile(
    r"(?i)\bI(?:'m| am) (?:(?:basically|practically|kind of|sort of|kinda|pretty much|virtually) (?:a|an|the)\b"
    r"|actually (?:a|an|the)\b(?:[^.!?]{0,80},? so (?!(?:I|we|my|our|that)\b)|[^.!]{0,80}\?))"
)
_SARCASM = re2.compile(
    r"(?i)^(?:oh,? (?:great|wonderful|fantastic|joy|perfect|good|nice|lovely)[,.!]* (?:another|just what|more|yet)\b"
    r"|(?:yeah,? )?(?:right|sure),? (?:because|like)\b|(?:oh,? )?(?:yeah|sure),? right\b[,.!]|just what I (?:needed|wanted)\b|as if\b|thanks a lot for\b|I(?:'d| would) (?:so )?love (?:nothing more|another)\b"
    r"|(?:oh,? |and |yeah,? )*how (?:I|we) (?:(?:just|so|really|simply) )*(?:love|adore|enjoy)\b|(?:oh,? |yeah,? |well,? )+I (?:just|so|simply|absolutely) (?:love|adore) (?:it when|being|having to|how)\b)"
    r"|oh,? (?:sure|yeah|yes|right|great|wonderful|lovely|perfect|fantastic|good|nice),? (?:I|we) (?:just |so |simply |really |absolutely |do |totally )+(?:love|adore|enjoy)\b"
    r"|\b(?:I|we) (?:just|so|simply|absolutely) (?-i:LOVE|ADORE|ENJOY)\b|/s$|🙄"
)
# What mockery goes on with: "Oh great, another meeting. I simply adore meetings."
_PRAISE = re2.compile(
    r"(?i)\b(?:I|we) (?:\w+ ){0,2}(?:love|adore|enjoy|like)\b|\b(?:favou?rite|best part|highlight|dream come true)\b"
)

# Secrets are never stored.
_SECRET = re2.compile(
    r"(?i)\b(?:pass(?:word|code|phrase)s?\b(?:$|[^ ]| [^m])|pin(?: code| number)? (?:is|was)\b|cvv\b|cvc\b|(?:api|private|secret|access|ssh|encryption|licen[cs]e|recovery) (?:key|token|code)s?\b"
    r"|card number\b|social security\b|ssn\b|iban\b|account number\b|passport number\b|security code\b)"
)
_TO_REMEMBER = re2.compile(
    r"(?i)^(?:(?:please|pls|hey|ok|okay|and|also|so),? )*(?:(?:can|could|would|will) you (?:please |also )*)?(?:(?:I (?:want|need) you|I'd like you) to )?"
    r"(?:remember|note(?: down)?|keep in mind|bear in mind|make a (?:mental )?note|don['’]?t forget|do not forget|never forget|save|memori[sz]e|should I (?:mention|say|add|disclose)|did I (?:mention|say|tell you))(?: this| it| of it)?(?: that\b|:|,)? "
    r"((?:I|I['’](?:m|ve|d|ll)|my|our|we|we['’](?:re|ve|ll)) .+)"
)
# A sentence with a self-correction makes two statements, of which one is wrong.
_TAKES_BACK_ITSELF = re2.compile(
    r"(?i)[,;.–—-] ?(?:oh,? )?(?:no,? (?:sorry|wait|hang on|hold on|actually)|wait,? no|scratch that|sorry,? (?:no|that's|that is|wrong)|or rather|correction:?)\b"
    r"|\w (?:no wait|wait no|scratch that|no sorry|i mean no)\b"  # as people dictate it
)


def speech_act_of(sentence: str) -> SpeechAct | None:
    """Return the speech act of a sentence; None if nothing in it may be stored."""
    if any(each.search(sentence) for each in (_TAKES_BACK_ITSELF, _SARCASM, _SECRET)):
        return None
    return (
        SpeechAct.HYPOTHETICAL if _HYPOTHETICAL.search(sentence) or _RHETORICAL.search(sentence) else SpeechAct.ASSERTED
    )


def told_to_remember(sentence: str) -> str:
    """Return the statement in a request to remember it ("Can you remember that I'm vegan?"), or else the sentence."""
    asked = _TO_REMEMBER.match(sentence)
    return str(asked.group(1)) if asked else sentence


def is_mockery(sentence: str) -> bool:
    """Return True if a sentence is ironic."""
    return _SARCASM.search(sentence) is not None


def goes_on_mocking(sentence: str, *, before: str) -> bool:
    """Return True if a sentence praises something after one that says the opposite of what it means."""
    return is_mockery(before) and _PRAISE.search(sentence) is not None
