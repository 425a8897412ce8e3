"""Search the memories of one end user. Import from here only: cache, SQL and decoding are internal to the package."""

from apps.memories.search.cache import CACHE
from apps.memories.search.ranked_search import SearchHit, search
from apps.memories.search.scope import SearchQuery, shown_statuses

__all__ = ["SearchHit", "SearchQuery", "clear_cache", "search", "shown_statuses"]


def clear_cache() -> None:
    """Clear this process's cache of all end users."""
    CACHE.clear()
