"""The versions of all prompts by purpose, and the sections of their static parts."""

import re

from apps.pipeline.core.model_calls import Purpose
from apps.pipeline.prompts import extract, index_questions, memory_pairs, references, session
from apps.pipeline.prompts.llm_judge import version_of

_SECTION = re.compile(r"^<(?P<name>[a-z_]+)>\s*$(?P<body>.*?)^</(?P=name)>\s*$", re.MULTILINE | re.DOTALL)


def prompt_versions() -> dict[str, str]:
    """Return the version of the prompt of each purpose; any change of its static text changes it."""
    return {
        Purpose.EXTRACT.value: extract.VERSION,
        Purpose.EXTRACT_SESSION.value: session.VERSION,
        Purpose.JUDGE_REFERENCES.value: version_of(references.TASK),
        Purpose.JUDGE_PAIRS.value: version_of(memory_pairs.TASK),
        Purpose.INDEX_QUESTIONS.value: index_questions.VERSION,
    }


def sections_of(static: str) -> dict[str, str]:
    """Return the sections by name, in their order; what stands before the first one is `introduction`."""
    first = _SECTION.search(static)
    before = static[: first.start()].strip() if first else static.strip()
    found = {match["name"]: match["body"].strip() for match in _SECTION.finditer(static)}
    return ({"introduction": before} if before else {}) | found
