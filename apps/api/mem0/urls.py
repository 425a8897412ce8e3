"""URLs of the operations that the client of mem0 calls."""

from django.urls import path

from apps.api.mem0 import refusals
from apps.api.mem0.batch_views import Mem0BatchView
from apps.api.mem0.entity_views import Mem0EntitiesView, Mem0EntityView, Mem0ProfileSettingsView, Mem0ProfileView
from apps.api.mem0.refusals import Mem0RefusalView
from apps.api.mem0.summary_views import Mem0FeedbackView, Mem0SummaryView
from apps.api.mem0.views import (
    Mem0AddView,
    Mem0EventView,
    Mem0HistoryView,
    Mem0ListView,
    Mem0MemoriesView,
    Mem0MemoryView,
    Mem0PingView,
    Mem0SearchView,
)

urlpatterns = [
    path("v1/ping/", Mem0PingView.as_view(), name="mem0-ping"),
    path("v3/memories/add/", Mem0AddView.as_view(), name="mem0-add"),
    path("v3/memories/search/", Mem0SearchView.as_view(), name="mem0-search"),
    path("v3/memories/", Mem0ListView.as_view(), name="mem0-list"),
    path("v1/memories/", Mem0MemoriesView.as_view(), name="mem0-memories"),
    path("v1/memories/<str:memory_id>/", Mem0MemoryView.as_view(), name="mem0-memory"),
    path("v1/memories/<str:memory_id>/history/", Mem0HistoryView.as_view(), name="mem0-history"),
    path("v1/batch/", Mem0BatchView.as_view(), name="mem0-batch"),
    path("v1/summary/", Mem0SummaryView.as_view(), name="mem0-summary"),
    path("v1/feedback/", Mem0FeedbackView.as_view(), name="mem0-feedback"),
    path("v1/entities/", Mem0EntitiesView.as_view(), name="mem0-entities"),
    path("v2/entities/user/<path:user_id>/profile/", Mem0ProfileView.as_view(), name="mem0-profile"),
    path("v2/entities/<str:kind>/<path:name>/", Mem0EntityView.as_view(), name="mem0-entity"),
    path("v2/profiles/settings/", Mem0ProfileSettingsView.as_view(), name="mem0-profile-settings"),
    path("v2/profiles/<path:rest>", Mem0RefusalView.as_view(reason=refusals.PROFILES), name="mem0-profile-jobs"),
    path("v1/exports/", Mem0RefusalView.as_view(reason=refusals.EXPORTS), name="mem0-exports"),
    path("v1/exports/get/", Mem0RefusalView.as_view(reason=refusals.EXPORTS), name="mem0-export"),
    path("v1/entities/<str:kind>/<path:name>/", Mem0RefusalView.as_view(reason=refusals.ENTITIES), name="mem0-user"),
    path("api/v1/<path:rest>", Mem0RefusalView.as_view(reason=refusals.PROJECTS), name="mem0-projects"),
    path("v1/event/<str:event_id>/", Mem0EventView.as_view(), name="mem0-event"),
]

taken = frozenset(str(each.pattern) for each in urlpatterns)
