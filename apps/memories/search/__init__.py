"""Search the memories of one end user. Import from here only: cache, SQL and decoding are internal to the package."""

from apps.memories.search.block_memories import BlockLimits, BlockMemories, read_block
from apps.memories.search.cache import CACHE
from apps.memories.search.explain import ScoredMemory, SearchExplanation, UnscoredMemory, explain_search
from apps.memories.search.ranked_search import MAX_QUERY_CHARACTERS, SearchHit, search
from apps.memories.search.scope import SearchQuery, shown_statuses

__all__ = [
    "MAX_QUERY_CHARACTERS",
    "BlockLimits",
    "BlockMemories",
    "ScoredMemory",
    "SearchExplanation",
    "SearchHit",
    "SearchQuery",
    "UnscoredMemory",
    "clear_cache",
    "explain_search",
    "read_block",
    "search",
    "shown_statuses",
]


def clear_cache() -> None:
    """Clear this process's cache of all end users."""
    CACHE.clear()
