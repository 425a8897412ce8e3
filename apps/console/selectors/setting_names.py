"""Settings in plain words: name and unit by path; "*" stands for any one name, which is shown in front."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.console.labels import label


@dataclass(frozen=True, slots=True)
class PlainSetting:
    """How people read a setting."""

    name: str
    unit: str = ""


_SIMILARITY = "similarity, −1 to 1"
_POINTS = "points of 100"
_WEIGHT = "weight"
_CONFIDENCE = "confidence"

_BAND = {
    "unsure": PlainSetting("unsure from", _SIMILARITY),
}
_WORDS = {
    "Supported": "supported",
    "Partial": "partial",
    "Unknown": "unknown",
    "NotSupported": "not supported",
}
_WEIGHTS = {
    "words": "words",
    "meaning": "meaning",
    "questions": "answered questions",
    "session": "words of the session",
    "named": "a named subject",
    "importance": "importance",
    "recency": "recency",
    "confidence": "confidence",
    "evidence": "own score",
}
_PLAIN: Mapping[str, PlainSetting] = {
    "pre_filter.trusted_roles": PlainSetting("Roles whose turns are remembered"),
    "pre_filter.min_letters": PlainSetting("Least letters of a turn", "letters or digits"),
    "pre_filter.repeat_window": PlainSetting("Repeats are looked for in", "previous turns"),
    "pre_filter.scan_characters": PlainSetting("Rules read at most", "characters"),
    "redaction.secret": PlainSetting("Secrets"),
    "redaction.card": PlainSetting("Payment cards"),
    "redaction.iban": PlainSetting("Bank accounts (IBAN)"),
    "redaction.national_id": PlainSetting("National identifiers"),
    "redaction.phone": PlainSetting("Phone numbers"),
    "redaction.email": PlainSetting("E-mail addresses"),
    "redaction.items": PlainSetting("Values of items"),
    "redaction.phone_regions": PlainSetting("Countries of phone numbers", "codes"),
    "redaction.custom": PlainSetting("Patterns of this project", "JSON"),
    "extraction.extractor": PlainSetting("Extracted by"),
    "extraction.model": PlainSetting("Model of this project"),
    "extraction.on_model_failure": PlainSetting("When the model fails"),
    "extraction.batching": PlainSetting("When the model is asked"),
    "extraction.batch_quiet_seconds": PlainSetting("Balanced: after a pause of", "seconds"),
    "extraction.batch_turns": PlainSetting("Balanced: when so many turns wait", "turns"),
    "extraction.skip_idle_turns": PlainSetting("Call no model for idle turns"),
    "extraction.min_confidence": PlainSetting("Candidates below are dropped", _CONFIDENCE),
    "extraction.max_per_turn": PlainSetting("Candidates of a turn, at most", "candidates"),
    "extraction.max_per_call": PlainSetting("Candidates of a model call, at most", "candidates"),
    "extraction.max_turns": PlainSetting("Turns of a model call, at most", "turns"),
    "extraction.context_turns": PlainSetting("Earlier turns as context", "turns"),
    "extraction.max_entities": PlainSetting("Known entities in the prompt", "entities"),
    "extraction.max_recent_memories": PlainSetting("Known memories in the prompt", "memories"),
    "extraction.min_session_turns": PlainSetting("Sessions are reviewed from", "turns of the user"),
    "extraction.review_seen_sessions": PlainSetting("Review sessions that one call has seen"),
    "extraction.max_per_session": PlainSetting("Candidates of a session, at most", "candidates"),
    "extraction.max_session_turns": PlainSetting("Turns of a reviewed session, at most", "turns"),
    "extraction.max_session_turn_characters": PlainSetting("Each turn of a reviewed session, at most", "characters"),
    "extraction.max_session_memories": PlainSetting("Memories read for a session", "memories"),
    "extraction.session_memory_days": PlainSetting("What a session showed is current for", "days"),
    "extraction.max_answer_tokens": PlainSetting("Answer of the model, at most", "tokens"),
    "extraction.max_turn_characters": PlainSetting("Each turn in the prompt, at most", "characters"),
    "extraction.pattern_reliability": PlainSetting("Reliability of notes", "0 to 1"),
    "extraction.model_reliability": PlainSetting("Reliability of the model", "0 to 1"),
    "resolution.max_entities": PlainSetting("Known entities that are compared", "entities"),
    "resolution.fuzzy_accept": PlainSetting("Names are the same from", _POINTS),
    "resolution.fuzzy_margin": PlainSetting("Lead over the second best name", _POINTS),
    "dedupe.neighbours": PlainSetting("Near memories that are compared", "memories"),
    "conflict.confidence_slack": PlainSetting("A newer value may be less confident by", _CONFIDENCE),
    "conflict.trust.*": PlainSetting("Trust in statements of the role", "rank"),
    "sharing.memory_sharing": PlainSetting("What an agent tells is for"),
    "judges.references": PlainSetting("Ask a model whom a reference means"),
    "judges.pairs": PlainSetting("Ask a model about undecided pairs"),
    "judges.most_questions": PlainSetting("Questions of a model call, at most", "questions"),
    "judges.gate": PlainSetting("Unseen pairs are asked about from", _SIMILARITY),
    "judges.shown_gate": PlainSetting("Seen pairs are asked about from", _SIMILARITY),
    "confidence.source_weight": PlainSetting("Share of the way it was said", _WEIGHT),
    "confidence.extractor_weight": PlainSetting("Share of the extractor", _WEIGHT),
    "confidence.recurrence_weight": PlainSetting("Share of repetition", _WEIGHT),
    "confidence.source.*": PlainSetting("Value when it was said as", "0 to 1"),
    "confidence.grounding.*": PlainSetting("Added when the turns support it as", _CONFIDENCE),
    "confidence.max_adjustment": PlainSetting("Correction by the extractor, at most", _CONFIDENCE),
    "confidence.not_asserted_cap": PlainSetting("Hypothetical or quoted, at most", _CONFIDENCE),
    "confidence.review_weight": PlainSetting("Added by an approval", _CONFIDENCE),
    "confidence.review_below": PlainSetting("Review is needed below", _CONFIDENCE),
    "index.questions": PlainSetting("Questions of a memory", "questions"),
    "index.model_questions": PlainSetting("Ask a model for these questions"),
    "retrieval.least_confidence.*": PlainSetting("Least confidence at stakes", _CONFIDENCE),
    "retrieval.min_score": PlainSetting("Results need a score of at least", "0 to 1"),
    "retrieval.weights.*": PlainSetting("Verbatim texts:", _WEIGHT),
    "retrieval.statement_weights.*": PlainSetting("Statements:", _WEIGHT),
    "retrieval.context_weight": PlainSetting("Words of the source turns count", "share"),
    "retrieval.neighbour_weight": PlainSetting("Neighbours in the session get", "share"),
    "retrieval.saturation": PlainSetting("Saturation of repeated words"),
    "retrieval.length_normalisation": PlainSetting("Length normalisation", "0 to 1"),
    "retrieval.others_share": PlainSetting("Statements about others keep", "share"),
    "retrieval.no_answer_share": PlainSetting("Statements without the asked kind keep", "share"),
    "retrieval.recency_half_life_days": PlainSetting("Recency halves in", "days"),
    "decay.importance": PlainSetting("Share of importance", _WEIGHT),
    "decay.freshness": PlainSetting("Share of freshness", _WEIGHT),
    "decay.access": PlainSetting("Share of use", _WEIGHT),
    "decay.half_life_days.*": PlainSetting("Freshness halves in, for the type", "days"),
    "decay.archive_below": PlainSetting("Archived below", "0 to 1"),
    "retention.turn_days": PlainSetting("Texts of turns are kept for", "days"),
    "retention.trace_days": PlainSetting("Traces are kept for", "days"),
    "retention.model_call_days": PlainSetting("Model calls are kept for", "days"),
    "retention.alert_days": PlainSetting("Resolved alerts are kept for", "days"),
    "retention.ledger_days": PlainSetting("Entries of the ledger are kept for", "days"),
}


def plain_setting(path: tuple[str, ...]) -> PlainSetting:
    """Return the name and unit of a setting; one without an entry is named by its path."""
    *section, last = path
    if "bands" in section or "fallback_band" in section:
        embedder = section[-1] if "bands" in section else "other embedders"
        return PlainSetting(f"{embedder}: {_BAND[last].name}", _BAND[last].unit) if last in _BAND else _by_path(path)
    for key in (".".join(path), ".".join((*section, "*"))):
        if known := _PLAIN.get(key):
            shown = _WEIGHTS[last] if "weights" in key else _WORDS.get(last, label(last))
            return PlainSetting(f"{known.name} {shown}", known.unit) if key.endswith("*") else known
    return _by_path(path)


def _by_path(path: tuple[str, ...]) -> PlainSetting:
    return PlainSetting(" ".join(map(label, path[1:])))
