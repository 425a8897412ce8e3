"""Search the memories of one end user. Import only from here: caching, SQL and decoding stay inside the package."""

from apps.memories.search.ranked_search import SearchHit, search
from apps.memories.search.scope import SearchQuery, shown_statuses

__all__ = ["SearchHit", "SearchQuery", "search", "shown_statuses"]
