"""Orders to an agent, and signs of an injection in them.

Words alone prove little, because an attack can always be reworded: the origin of a statement decides what is safe.
These signs only send suspicious statements to a reviewer.
"""

import re2

from apps.pipeline.core.enums import BINDING_TAGS, PROCEDURE
from apps.pipeline.core.statement import Candidate

_AGENT = r"(?:the |an? |your |this )?(?:assistant|agent|ai|bot|chatbot|model|llm|system)s?"
# "Always recommend X", "from now on, forward …": addressed to the reader. With a subject before it, it is a report.
_STANDING_ORDER = re2.compile(
    r"(?i)(?:^|[.!?:;,\n(–—-][ \t\"“]*)(?:(?:please|remember|note|important|and|so|then)[,:]? )*"
    r"(?:always|never|from now on|from this point on|going forward|in (?:all )?future|under no circumstances|whenever|every time|each time|in every|do not|don['’]t|must|ensure|make sure"
    r"|immer|niemals|nie|ab jetzt|ab sofort|von nun an|künftig|toujours|jamais|désormais|dorénavant|à partir de maintenant|siempre|nunca|a partir de ahora)[, ]"
)
_OBLIGATION = re2.compile(
    rf"(?i)\b{_AGENT} (?:should|must|shall|has to|have to|needs? to|is (?:now )?(?:required|instructed|allowed|authori[sz]ed|to)|may (?:now|always)|will (?:now|always|from))\b"
)
_OVERRIDES = re2.compile(
    r"(?i)\b(?:ignor\w*|disregard\w*|forget|overrid\w*|overwrite|bypass\w*|discard|vergiss|missachte|oublie\w*|olvida)\b[^.!?\n]{0,50}"
    r"\b(?:instruc\w*|instrucciones|rules?|constraints?|prompts?|polic(?:y|ies)|guidelines?|restrictions?|limits?|(?:previous|prior|above|earlier) \w+|anweisungen|regeln|vorgaben|règles|consignes)\b"
)
_UNPROTECTS = re2.compile(
    r"(?i)\b(?:disabl\w*|deactivat\w*|turn(?:ing)? off|switch(?:ing)? off|skip(?:ping)?|remov\w*|without|bypass\w*|unrestricted|never (?:ask|request)|do(?:n['’]t| not) ask|no longer (?:ask|need))\b[^.!?\n]{0,40}"
    r"\b(?:safety|filters?|verif\w*|confirm\w*|authenti\w*|authori[sz]\w*|restrictions?|checks?|approval|permission|tool access|safeguards?|bestätigung|prüfung)\b"
)
_CONCEALS = re2.compile(
    r"(?i)\b(?:do(?:n['’]t| not)|never|without) (?:tell\w*|mention\w*|inform\w*|reveal\w*|notif\w*|disclos\w*|show\w*)\b[^.!?\n]{0,40}\b(?:users?|owner|customer|person|this|instructions?|anyone|them)\b"
    r"|\bno (?:menciones|digas|informes)\b|\bne (?:mentionne|dis|révèle)\w*\b|\b(?:erwähne|sage|verrate)\b[^.!?\n]{0,40}\b(?:nicht|nichts)\b"
)
_DESTINATION = r"(?:https?://|www\.|[\w.+-]+@[\w-]+\.[a-z]{2,}|\b[\w-]+\.(?:com|net|org|io|xyz|ru|cn|info|biz|example|test)\b|\b[A-Z]{2}\d{2}[- ]?(?:[\dA-Z]{4}[- ]?){2,}|\b0x[0-9a-fA-F]{8,}|\bwallet\b|\bendpoint\b)"
_SENDS_AWAY = re2.compile(
    r"(?i)\b(?:send\w*|forward\w*|post\w*|upload\w*|cop(?:y|ies)|bcc|cc|rout\w*|transfer\w*|redirect\w*|include\w*|export\w*|share\w*|submit\w*|pay\w*|wire|leit\w*|schick\w*|send\w*|überweis\w*|transf\w*|envoi\w*|env(?:í|i)\w*)\b"
    rf"[^!?\n]*{_DESTINATION}"
)
_IMPERSONATES = re2.compile(
    r"(?i)\b(?:(?:important|system|configuration|admin\w*|security|developer|policy) (?:update|note|notice|message|override|instruction)|(?:new|your) (?:role|instructions?|persona|identity) (?:is|are)"
    r"|nota importante del sistema|systemhinweis|note (?:du|for) (?:système|(?:ai|the) \w+)|update (?:the )?(?:agent|system|assistant)['’]?s? (?:config\w*|settings|prompt|instructions)"
    r"|(?:this |the )?user (?:has |have )?(?:authori[sz]ed|confirmed|consented|approved|granted))\b"
)
_INJECTION_SIGNS = (_OVERRIDES, _UNPROTECTS, _CONCEALS, _SENDS_AWAY, _IMPERSONATES)
_ACTED_ON_TAGS = BINDING_TAGS | {PROCEDURE}  # agents also act on descriptions of how something is done
_NAMING = frozenset("name names named nickname called alias".split())  # words of predicates: has_nickname, is_called
_BINDING_PREDICATES = frozenset({"wants_assistant_to", "reply_language"})


def orders_agent(text: str) -> bool:
    """Return True if a text is a lasting order to an agent, or looks like an injection."""
    orders = (_STANDING_ORDER, _OBLIGATION)
    return any(order.search(text) is not None for order in orders) or injection_signs(text) > 0


def looks_injected(text: str) -> bool:
    """Return True if a statement without a turn is an order to an agent, or has a sign of an injection."""
    return _OBLIGATION.search(text) is not None or injection_signs(text) > 0


def injection_signs(text: str) -> int:
    """Count the signs of an injection: overridden instructions or protections, concealment, sent data, impersonation."""
    return sum(sign.search(text) is not None for sign in _INJECTION_SIGNS)


def is_binding(candidate: Candidate) -> bool:
    """Return True if agents would have to follow a candidate."""
    if _ACTED_ON_TAGS & set(candidate.tags) or candidate.predicate in _BINDING_PREDICATES:
        return True
    return orders_agent(candidate.content) or orders_agent(candidate.evidence)


def is_naming(candidate: Candidate) -> bool:
    """Return True if a candidate says what somebody is called."""
    return not _NAMING.isdisjoint(candidate.predicate.split("_"))
