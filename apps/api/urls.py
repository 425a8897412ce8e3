"""URLs of the REST API."""

from typing import Any

from django.urls import URLPattern, URLResolver, path
from drf_spectacular.views import SpectacularSwaggerView
from rest_framework.routers import SimpleRouter

from apps.alerts.api import AlertRecipientsViewSet, AlertViewSet
from apps.api.mcp import McpView
from apps.api.openapi_document import OpenApiDocumentView
from apps.health.api import HealthView, ReadyView, metrics
from apps.imports.api import ImportViewSet, ProjectViewSet
from apps.intake.api.sessions import SessionViewSet, TurnViewSet
from apps.intake.api.turns import TurnsViewSet
from apps.items.api import ItemViewSet
from apps.mem0 import urls as mem0
from apps.memories.api.entities import EntityViewSet
from apps.memories.api.memories import MemoriesViewSet, MemoryViewSet
from apps.privacy.api import ErasureViewSet, UserViewSet
from apps.projects.api.configuration import ConfigurationViewSet
from apps.projects.api.keys import CurrentKeyViewSet, KeyViewSet
from apps.queue.api import WorkViewSet
from apps.retrieval.api import SearchViewSet
from apps.review.api import LinkViewSet
from apps.traces.api.stats import StatsViewSet
from apps.traces.api.traces import TraceViewSet
from apps.tuning.api.evaluation import EvaluationViewSet
from apps.tuning.api.replays import ReplayViewSet
from apps.tuning.api.rollbacks import RollbackViewSet
from apps.webhooks.api import EventViewSet, WebhookViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("v1/webhooks", WebhookViewSet, basename="webhook")
router.register("v1/alerts", AlertViewSet, basename="alert")
router.register("v1/keys", KeyViewSet, basename="key")
router.register("v1/imports", ImportViewSet, basename="import")
router.register("v1/erasures", ErasureViewSet, basename="erasure")
router.register("v1/traces", TraceViewSet, basename="trace")
router.register("v1/replays", ReplayViewSet, basename="replay")
router.register("v1/rollbacks", RollbackViewSet, basename="rollback")
router.register("v1/links", LinkViewSet, basename="link")
router.register("v1/events", EventViewSet, basename="event")

operations: list[Any] = [
    path("v1/turns", TurnsViewSet.as_view({"post": "create"}), name="turns"),
    path(
        "v1/memories",
        MemoriesViewSet.as_view({"get": "list", "post": "create", "patch": "revise", "delete": "retract"}),
        name="memories",
    ),
    path("v1/memories/batch", MemoriesViewSet.as_view({"post": "batch"}), name="memory-batch"),
    path("v1/memories/search", SearchViewSet.as_view({"post": "search"}), name="search"),
    path("v1/context", SearchViewSet.as_view({"post": "context"}), name="context"),
    path(
        "v1/memories/<str:memory_id>",
        MemoryViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="memory",
    ),
    path("v1/memories/<str:memory_id>/history", MemoryViewSet.as_view({"get": "history"}), name="history"),
    path("v1/entities", EntityViewSet.as_view({"get": "list"}), name="entities"),
    path("v1/entities/<str:entity_id>", EntityViewSet.as_view({"get": "retrieve"}), name="entity"),
    path(
        "v1/entities/<str:entity_id>/merge",
        EntityViewSet.as_view({"post": "merge", "delete": "split"}),
        name="entity-merge",
    ),
    path("v1/items", ItemViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}), name="item"),
    path("v1/items/search", ItemViewSet.as_view({"post": "search"}), name="item-search"),
    path("v1/items/namespaces", ItemViewSet.as_view({"post": "namespaces"}), name="item-namespaces"),
    path("v1/items/batch", ItemViewSet.as_view({"post": "batch"}), name="item-operations"),
    path("v1/keys/current", CurrentKeyViewSet.as_view({"get": "retrieve"}), name="current-key"),
    path("v1/sessions/<path:session_id>/end", SessionViewSet.as_view({"post": "end"}), name="session-end"),
    path("v1/users", UserViewSet.as_view({"get": "list"}), name="users"),
    path("v1/users/<path:user_id>/export", UserViewSet.as_view({"get": "export"}), name="user-export"),
    path("v1/users/<path:user_id>/stats", UserViewSet.as_view({"get": "stats"}, scopes={}), name="user-stats"),
    path("v1/users/<path:user_id>", UserViewSet.as_view({"delete": "destroy"}), name="user"),
    path("v1/sessions/<path:session_id>", SessionViewSet.as_view({"delete": "destroy"}), name="session"),
    path("v1/turns/<str:turn_id>", TurnViewSet.as_view({"delete": "destroy"}), name="turn"),
    path(
        "v1/configuration",
        ConfigurationViewSet.as_view({"get": "retrieve", "patch": "partial_update"}),
        name="configuration",
    ),
    path(
        "v1/configuration/activate", ConfigurationViewSet.as_view({"post": "activate"}), name="configuration-activate"
    ),
    path("v1/project/export", ProjectViewSet.as_view({"get": "export"}), name="project-export"),
    path("v1/evaluation", EvaluationViewSet.as_view({"get": "retrieve"}), name="evaluation"),
    path("v1/evaluation/samples", EvaluationViewSet.as_view({"get": "samples", "post": "draw"}), name="samples"),
    path(
        "v1/evaluation/samples/<str:sample_id>/items", EvaluationViewSet.as_view({"get": "items"}), name="sample-items"
    ),
    path("v1/evaluation/items/<str:item_id>/labels", EvaluationViewSet.as_view({"post": "label"}), name="item-labels"),
    path("v1/evaluation/labels", EvaluationViewSet.as_view({"get": "labels"}), name="labels"),
    path("v1/stats", StatsViewSet.as_view({"get": "retrieve"}), name="stats"),
    path("v1/schema", OpenApiDocumentView.as_view(), name="schema"),
    path("v1/docs", SpectacularSwaggerView.as_view(url_name="schema", template_name="api/docs.html"), name="docs"),
    path(
        "v1/alert-recipients",
        AlertRecipientsViewSet.as_view({"get": "retrieve", "put": "update"}),
        name="alert-recipients",
    ),
    path("v1/work/retry", WorkViewSet.as_view({"post": "retry"}), name="retry-work"),
    path("mcp", McpView.as_view(), name="mcp"),
    path("healthz", HealthView.as_view(), name="healthz"),
    path("readyz", ReadyView.as_view(), name="readyz"),
    path("metrics", metrics, name="metrics"),
    *router.urls,
]

# A trailing slash is no error, except where the client of mem0 gives it another meaning. A caller's own words may end
# with one.
with_slash = [
    path(f"{each.pattern}/", each.callback)
    for each in operations
    if "<path:" not in str(each.pattern) and f"{each.pattern}/" not in mem0.taken
]

urlpatterns: list[URLPattern | URLResolver] = [*operations, *with_slash, *mem0.urlpatterns]
