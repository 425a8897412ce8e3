"""URLs of the operations that the client of mem0 calls; what has no counterpart is refused with what to use instead."""

from django.urls import URLPattern, path

from apps.mem0 import views

_BATCHES = "memories are changed and deleted one by one: use update and delete, or PATCH and DELETE /v1/memories"
_FEEDBACK = "feedback is not read: correct the memory with update, or comment on it in the console"
_EXPORTS = "memories are not written in a schema of the caller: use get_all, or GET /v1/users/{user_id}/export"
_PROFILES = "summaries and profiles are not generated: use search, or POST /v1/context"
_PROJECTS = "projects, members and webhooks are managed in the console"
_OTHERS = "memories belong to end users: use delete_all(user_id=…, agent_id=…), or erase an end user"


def _refused(address: str, name: str, reason: str) -> URLPattern:
    return path(address, views.Mem0RefusalView.as_view(reason=reason), name=f"mem0-{name}")


urlpatterns = [
    path("v1/ping/", views.Mem0PingView.as_view(), name="mem0-ping"),
    path("v3/memories/add/", views.Mem0AddView.as_view(), name="mem0-add"),
    path("v3/memories/search/", views.Mem0SearchView.as_view(), name="mem0-search"),
    path("v3/memories/", views.Mem0ListView.as_view(), name="mem0-list"),
    path("v1/memories/", views.Mem0MemoriesView.as_view(), name="mem0-memories"),
    path("v1/memories/<str:memory_id>/", views.Mem0MemoryView.as_view(), name="mem0-memory"),
    path("v1/memories/<str:memory_id>/history/", views.Mem0HistoryView.as_view(), name="mem0-history"),
    path("v1/entities/", views.Mem0EntitiesView.as_view(), name="mem0-entities"),
    _refused("v2/entities/user/<path:user_id>/profile/", "profile", _PROFILES),
    path("v2/entities/user/<path:name>/", views.Mem0UserView.as_view(), name="mem0-user"),
    _refused("v2/entities/<path:rest>", "other-entities", _OTHERS),
    _refused(
        "v1/entities/<str:kind>/<path:name>/", "old-entities", "entities are deleted by their names: use delete_users"
    ),
    _refused("v1/batch/", "batch", _BATCHES),
    _refused("v1/feedback/", "feedback", _FEEDBACK),
    _refused("v1/summary/", "summary", _PROFILES),
    _refused("v2/profiles/<path:rest>", "profiles", _PROFILES),
    _refused("v1/exports/<path:rest>", "export", _EXPORTS),
    _refused("v1/exports/", "exports", _EXPORTS),
    _refused("api/v1/<path:rest>", "projects", _PROJECTS),
]

taken = frozenset(str(each.pattern) for each in urlpatterns)
