"""Search the memories of one end user. Import from here only: cache, SQL and decoding are internal to the package."""

from apps.memories.search.ranked_search import SearchHit, search
from apps.memories.search.scope import SearchQuery, shown_statuses

__all__ = ["SearchHit", "SearchQuery", "search", "shown_statuses"]
