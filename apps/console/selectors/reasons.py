"""Reasons in words: what people are told of why something was dropped or waits."""

from apps.pipeline.core.enums import Reason

_WORDS: dict[Reason, str] = {
    Reason.TOO_SHORT: "it has too few letters to say anything",
    Reason.GREETING: "it is a greeting and nothing else",
    Reason.FAREWELL: "it is a farewell and nothing else",
    Reason.THANKS: "it is thanks and nothing else",
    Reason.ACKNOWLEDGEMENT: "it only acknowledges what was said before",
    Reason.EMOJI_ONLY: "it holds nothing but emoji",
    Reason.CODE_ONLY: "it holds nothing but code",
    Reason.TOOL_MARKER: "it is the marker of a tool, not something that a person said",
    Reason.STRUCTURED_PAYLOAD: "it is data (JSON, XML or a table) without prose",
    Reason.META_TALK: "it talks about the conversation, not about the user",
    Reason.RECALLED_CONTEXT: "it is what this server had told the agent, coming back",
    Reason.UNTRUSTED_ROLE: "only what the user says is remembered; this turn has another role",
    Reason.REPEATED_TURN: "the same was said just before",
    Reason.PATTERN: "a rule of this project drops it",
    Reason.NO_CANDIDATE: "nothing in it was taken for a statement worth keeping",
    Reason.EXTRACTION_FAILED: "the model did not give an answer that could be used",
    Reason.LOW_QUALITY: "the extractor judged it not worth keeping: passing, vague or a question",
    Reason.LOW_CONFIDENCE: "it was too unsure to keep",
    Reason.NOT_SUPPORTED: "its quote does not stand in what the user said",
    Reason.OVER_LIMIT: "more important statements of the same turn took all places",
    Reason.RESOLUTION_FAILED: "it could not be told whom or what it is about",
    Reason.DUPLICATE: "the same is known already",
    Reason.WEAKER_EVIDENCE: "what it would replace is held with better evidence",
    Reason.NOT_ASSERTED: "it was not meant as a fact: supposed, played, joked or quoted",
    Reason.CONTRADICTION: "it contradicts something that is known; a person decides",
    Reason.UNSURE_DUPLICATE: "it may be the same as something known",
    Reason.LESS_TRUSTED: "it comes from a less trusted source than what it would replace",
}


def explain(reason: str) -> str:
    """Say a reason in words; a rule's own reason names the rule, and one without words is shown as it is."""
    kind, _, rule = reason.partition(":")
    if kind not in set(Reason) or Reason(kind) not in _WORDS:
        return reason.replace("_", " ")
    return f"{_WORDS[Reason(kind)]} ({rule})" if rule else _WORDS[Reason(kind)]
