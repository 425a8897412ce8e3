"""Search the memories of one end user. Import only from here: caching, SQL and decoding stay inside the package."""

from apps.memories.search.ranked_search import Hit, search
from apps.memories.search.scope import SearchQuery, shown_statuses

__all__ = ["Hit", "SearchQuery", "search", "shown_statuses"]
