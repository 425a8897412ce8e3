"""Reasons why something was dropped or needs review, as sentences."""

from apps.console.labels import label
from apps.pipeline.core.enums import Reason

_EXPLANATIONS: dict[Reason, str] = {
    Reason.TOO_SHORT: "it is too short to contain a statement",
    Reason.GREETING: "it is only a greeting",
    Reason.FAREWELL: "it is only a farewell",
    Reason.THANKS: "it only says thanks",
    Reason.ACKNOWLEDGEMENT: "it only acknowledges the previous message",
    Reason.EMOJI_ONLY: "it contains only emoji",
    Reason.CODE_ONLY: "it contains only code",
    Reason.TOOL_MARKER: "it is a tool marker, not a message of a person",
    Reason.STRUCTURED_PAYLOAD: "it is data (JSON, XML or a table) without prose",
    Reason.META_TALK: "it talks about the conversation, not about the user",
    Reason.RECALLED_CONTEXT: "it repeats context that this server gave to the agent",
    Reason.UNTRUSTED_ROLE: "only messages of the user are remembered; this turn has another role",
    Reason.REPEATED_TURN: "it repeats a recent turn",
    Reason.PATTERN: "it matches a pre-filter rule of this project",
    Reason.NO_CANDIDATE: "no statement worth remembering was found in it",
    Reason.EXTRACTION_FAILED: "the model returned no usable answer",
    Reason.LOW_QUALITY: "the extractor rated it as not worth remembering: temporary, vague or a question",
    Reason.LOW_CONFIDENCE: "its confidence was too low",
    Reason.NOT_SUPPORTED: "its quote does not occur in the user's message",
    Reason.SECRET: "it holds a password, key, code or account number",
    Reason.OVER_LIMIT: "the turn had more statements than the limit allows, and others were more important",
    Reason.RESOLUTION_FAILED: "the person or thing it refers to could not be identified",
    Reason.DUPLICATE: "it is already known",
    Reason.WEAKER_EVIDENCE: "the memory it would replace has stronger evidence",
    Reason.ASKED_TO_FORGET: "the user asked to forget this, or something like it",
    Reason.ASKED_NOT_TO_STORE: "the user asked not to store this",
    Reason.FORGET_ALL_REQUESTED: "the user asked to forget everything; a person decides",
    Reason.NOT_ASSERTED: "it was not stated as a fact, but hypothetical, role play, a joke or a quote",
    Reason.CONTRADICTION: "it contradicts a known memory; a reviewer decides",
    Reason.UNSURE_DUPLICATE: "it may duplicate a known memory",
    Reason.LESS_TRUSTED: "its source is less trusted than that of the memory it would replace",
    Reason.PROPOSAL_REFUSED: "the model proposed to change a known memory, and the rules refused it",
    Reason.OTHERS_WORDS: "it stands in somebody else's words, such as a pasted text, a quotation or a tool's answer",
    Reason.SUSPECTED_INJECTION: "it looks like an attempt to instruct the agent",
}


def explain(reason: str) -> str:
    """Return the sentence for a reason, followed by the rule that it names; unknown reasons keep their own words."""
    kind, _, rule = reason.partition(":")
    if kind not in set(Reason) or Reason(kind) not in _EXPLANATIONS:
        return label(reason)
    return f"{_EXPLANATIONS[Reason(kind)]} ({rule})" if rule else _EXPLANATIONS[Reason(kind)]
