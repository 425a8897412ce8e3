"""Questions that a model writes for memories, indexed instead of the templates (HyPE); one call for many memories."""

from collections.abc import Sequence
from dataclasses import replace

from apps.pipeline.core.enums import ExtractorKind
from apps.pipeline.core.model_calls import (
    AnswerKind,
    FailureKind,
    ModelCallRecord,
    ModelFailed,
    StopReason,
    call_of,
    failed_call,
)
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import Model, Ports
from apps.pipeline.indexing.index import Indexable
from apps.pipeline.prompts.index_questions import AskedStatement, questions_in, render

MEMORIES_PER_CALL = 10


def questions_model(policy: Policy, ports: Ports) -> Model | None:
    """Return the model that writes questions; None if there is none or the policy excludes it."""
    by_plain = policy.extraction.extractor is ExtractorKind.PLAIN
    if by_plain or not policy.index.model_questions or not policy.index.questions:
        return None
    return ports.model_for(policy)


def ask_model(
    memories: Sequence[Indexable], *, model: Model, policy: Policy, also_writes: str = ""
) -> tuple[Sequence[Indexable], ModelCallRecord]:
    """Return memories with the questions that a model writes for them in one call, and the call.

    Memories without usable questions keep their templates. `also_writes` is a quote of the user in another language. A
    refusal counts as an answer, so the model is not asked again. Raises ModelFailed if the model is unavailable.
    """
    statements = [AskedStatement(content=each.content, foreign_quote=each.foreign_quote) for each in memories]
    request = render(statements=statements, also_writes=also_writes, model=policy.extraction.model)
    try:
        answer = model.complete(request)
    except ModelFailed as failure:
        if failure.kind is FailureKind.UNAVAILABLE:
            raise
        return memories, failed_call(request, failure)
    found = questions_in(answer, count=len(memories), most=policy.index.questions + 1)  # and the words
    if found is None:
        kind = AnswerKind.REFUSED if answer.stop is StopReason.REFUSED else AnswerKind.UNPARSABLE
        return memories, call_of(request, answer, kind=kind)
    written = [replace(each, model_questions=own) for each, own in zip(memories, found, strict=True)]
    return written, call_of(request, answer)
