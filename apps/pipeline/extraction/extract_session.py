"""Stage 2 at the end of a session: what its turns show together, in addition to the statements of single turns."""

from apps.pipeline.core.draft import Draft, Drop
from apps.pipeline.core.enums import ExtractorKind, Stage
from apps.pipeline.core.model_calls import FailureKind, ModelFailed
from apps.pipeline.core.ports import Ports
from apps.pipeline.extraction.extract import decide
from apps.pipeline.extraction.forget_requests import is_read_from_request, with_forget_requests
from apps.pipeline.extraction.llm import session_extractor
from apps.pipeline.extraction.not_to_store import without_unwanted


def run(draft: Draft, ports: Ports) -> Draft:
    """Propose candidates for the session as a whole. Raises ModelFailed, also if no model is configured.

    The session contains the turns before a request to forget as well: what it asks to forget is not proposed again.
    """
    if len(draft.turns) < draft.policy.extraction.min_session_turns:
        return draft.evolve(details={"why": "too short a session to review"})
    asked = ports.model_for(draft.policy)
    if asked is None:
        raise ModelFailed("no model is configured", permanent=True, kind=FailureKind.REFUSED)
    (draft,) = without_unwanted([with_forget_requests(draft)])
    found = session_extractor.extract(draft, model=asked, ports=ports)
    if found.failure:
        return draft.evolve(failure=found.failure, model_calls=found.calls, details=dict(found.notes))
    told = [each for each in found.candidates if not is_read_from_request(each, requests=draft.forget_requests)]
    proposed = tuple(each.evolve(index=index) for index, each in enumerate(told))
    refused = [
        Drop(Stage.EXTRACT, each.reason, candidate=each.candidate.evolve(index=index), detail={"why": each.why})
        for index, each in enumerate(found.refused, start=len(proposed))
    ]
    most = draft.policy.extraction.max_per_session
    limits = draft.policy.extraction.model_copy(update={"max_per_turn": most, "max_per_call": most})
    policy = draft.policy.model_copy(update={"extraction": limits})
    one_call = {turn.id: 0 for turn in draft.request.turns}
    kept, drops = decide(proposed=proposed, policy=policy, windows=one_call)
    details = {"extractor": ExtractorKind.MODEL.value, "level": "session", "proposed": len(proposed), **found.notes}
    extracted = draft.evolve(
        candidates=kept, model_calls=found.calls, details=details, shown_memories=found.shown_memories
    )
    return extracted.drop(*refused, *drops)
