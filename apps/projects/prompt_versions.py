"""The versions of all prompts by purpose."""

from apps.pipeline.core.model_calls import Purpose
from apps.pipeline.prompts import extract, index_questions, memory_pairs, references, session
from apps.pipeline.prompts.llm_judge import version_of


def prompt_versions() -> dict[str, str]:
    """Return the version of the prompt of each purpose; any change of its static text changes it."""
    return {
        Purpose.EXTRACT.value: extract.VERSION,
        Purpose.EXTRACT_SESSION.value: session.VERSION,
        Purpose.JUDGE_REFERENCES.value: version_of(references.TASK),
        Purpose.JUDGE_PAIRS.value: version_of(memory_pairs.TASK),
        Purpose.INDEX_QUESTIONS.value: index_questions.VERSION,
    }
