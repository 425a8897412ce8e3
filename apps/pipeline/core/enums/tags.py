"""Built-in tags, and names of memory types in other systems."""

from apps.pipeline.core.enums.memory import MemoryType

CONVENTION = "convention"
CONSTRAINT = "constraint"
PROCEDURE = "procedure"
BINDING_TAGS = frozenset({CONVENTION, CONSTRAINT})  # rules that agents have to follow
INFERRED = "inferred"  # no single turn says it
NOTE = "note"  # the user's own words, which claim nothing but that they were said
BUILT_IN_TAGS = frozenset(
    {CONVENTION, CONSTRAINT, "decision", PROCEDURE, "behaviour", "arc", "goal", "summary", INFERRED, NOTE}
)
# Names of categories in other systems, with the type and the tag that they correspond to.
CATEGORY_ALIASES: dict[str, tuple[MemoryType, str | None]] = {
    "factual": (MemoryType.FACT, None),
    "episodic": (MemoryType.EVENT, None),
    "decision": (MemoryType.EVENT, "decision"),
    "procedural": (MemoryType.PREFERENCE, PROCEDURE),
    "procedure": (MemoryType.PREFERENCE, PROCEDURE),
    "behavioural": (MemoryType.FACT, "behaviour"),
    "behavioral": (MemoryType.FACT, "behaviour"),
}
