"""URLs of the console: one prefix per project, one path per page."""

from django.contrib.auth.views import LogoutView
from django.urls import path, register_converter

from apps.alerts import views as alerts
from apps.console import start
from apps.console.path_converters import MemberRoleConverter
from apps.health import views as dashboard
from apps.imports import views as imports
from apps.imports.services import cancel_import, delete_import_file, start_import
from apps.memories.views import memories, users
from apps.privacy import views as audit
from apps.projects.views import keys, people, project_settings
from apps.queue import views as queue
from apps.review.views import contradictions, review
from apps.search import views as search
from apps.traces import views as traces
from apps.tuning.replays.services import cancel_replay, start_replay
from apps.tuning.views import configuration, evaluation, replays, rollbacks
from apps.tuning.views import rules as patterns
from apps.webhooks import views as webhooks

register_converter(MemberRoleConverter, "role")

app_name = "console"
urlpatterns = [
    path("", start.home, name="home"),
    path("login/invitation/<str:token>/", people.join, name="join"),
    path("login/projects/", start.projects, name="projects"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("<slug:slug>/", start.project, name="project"),
    path("<slug:slug>/first-steps/", start.first_steps, name="first-steps"),
    path("<slug:slug>/review/", review.review, name="review"),
    path("<slug:slug>/review/approve/preview/", review.preview_approval, name="preview-approval"),
    path("<slug:slug>/review/approve/", review.approve, name="approve"),
    path("<slug:slug>/review/reject/", review.reject, name="reject"),
    path("<slug:slug>/review/merge/", review.merge, name="merge"),
    path("<slug:slug>/contradictions/", contradictions.contradictions, name="contradictions"),
    path("<slug:slug>/contradictions/<uuid:link_id>/", contradictions.contradiction, name="contradiction"),
    path("<slug:slug>/contradictions/<uuid:link_id>/settle/", contradictions.settle, name="settle"),
    path("<slug:slug>/decisions/", review.decisions, name="decisions"),
    path("<slug:slug>/palette/", start.palette, name="palette"),
    path("<slug:slug>/counts/", start.counts, name="counts"),
    path("<slug:slug>/skip/", review.skip, name="skip"),
    path("<slug:slug>/memories/<uuid:memory_id>/comments/", review.comment, name="comment"),
    path("<slug:slug>/undo/", review.undo, name="undo"),
    path("<slug:slug>/memories/", memories.MemoryListView.as_view(), name="memories"),
    path("<slug:slug>/memories/export/", memories.export, name="export-memories"),
    path("<slug:slug>/memories/change/", memories.change, name="change-memories"),
    path("<slug:slug>/memories/<uuid:memory_id>/", review.memory, name="memory"),
    path("<slug:slug>/memories/<uuid:memory_id>/reword/", memories.reword, name="reword-memory"),
    path("<slug:slug>/memories/<uuid:memory_id>/close/", memories.close, name="close-memory"),
    path("<slug:slug>/users/", users.UserListView.as_view(), name="users"),
    path("<slug:slug>/users/<uuid:user_id>/", users.UserDetailView.as_view(), name="user"),
    path("<slug:slug>/users/<uuid:user_id>/export/", users.export, name="export-user"),
    path("<slug:slug>/users/<uuid:user_id>/erase/", users.erase, name="erase-user"),
    path("<slug:slug>/ask/", search.ask, name="ask"),
    path("<slug:slug>/why-not/", search.ask, name="why-not"),  # its former address
    path("<slug:slug>/recall/", search.recall, name="recall"),
    path("<slug:slug>/entities/", users.EntityListView.as_view(), name="entities"),
    path("<slug:slug>/entities/<uuid:entity_id>/", users.EntityDetailView.as_view(), name="entity"),
    path("<slug:slug>/entities/<uuid:entity_id>/merge/", users.OtherEntityListView.as_view(), name="choose-entity"),
    path("<slug:slug>/entities/<uuid:entity_id>/merge/<uuid:into_id>/", users.merge, name="merge-entity"),
    path("<slug:slug>/entities/<uuid:entity_id>/split/", users.split, name="split-entity"),
    path("<slug:slug>/dashboard/", dashboard.dashboard, name="dashboard"),
    path("<slug:slug>/reading/", traces.reading, name="reading"),
    path("<slug:slug>/read-again/", traces.read, name="read-again"),
    path("<slug:slug>/traces/", traces.TraceListView.as_view(), name="traces"),
    path("<slug:slug>/traces/<uuid:trace_id>/", traces.TraceDetailView.as_view(), name="trace"),
    path("<slug:slug>/patterns/", patterns.RuleListView.as_view(), name="patterns"),
    path("<slug:slug>/patterns/try/", patterns.trial, name="trial"),
    path("<slug:slug>/patterns/preview/", patterns.preview, name="preview"),
    path("<slug:slug>/patterns/preview/<uuid:preview_id>/", patterns.previewed, name="previewed"),
    path("<slug:slug>/patterns/new/", patterns.rule, name="new-rule"),
    path("<slug:slug>/patterns/rules/<slug:name>/", patterns.rule, name="rule"),
    path("<slug:slug>/patterns/rules/<slug:name>/switch/", patterns.switch, name="switch-rule"),
    path("<slug:slug>/patterns/rules/<slug:name>/delete/", patterns.delete, name="delete-rule"),
    path("<slug:slug>/configuration/", configuration.configuration, name="configuration"),
    path("<slug:slug>/configuration/change/", configuration.change, name="change"),
    path("<slug:slug>/configuration/changes/", configuration.changes, name="setting-changes"),
    path("<slug:slug>/configuration/<int:number>/", configuration.VersionDetailView.as_view(), name="version"),
    path("<slug:slug>/configuration/<int:number>/restore/", configuration.restore, name="restore"),
    path("<slug:slug>/rollbacks/", rollbacks.rollbacks, name="rollbacks"),
    path("<slug:slug>/rollbacks/new/", rollbacks.new, name="new-rollback"),
    path("<slug:slug>/rollbacks/<uuid:rollback_id>/", rollbacks.rollback, name="rollback"),
    path("<slug:slug>/rollbacks/<uuid:rollback_id>/undo/", rollbacks.undo, name="undo-rollback"),
    path("<slug:slug>/configuration/<int:number>/activate/", configuration.activate, name="activate"),
    path("<slug:slug>/configuration/presets/<slug:preset>/", configuration.draft_preset, name="draft-preset"),
    path("<slug:slug>/imports/", imports.ImportListView.as_view(), name="imports"),
    path("<slug:slug>/imports/new/", imports.ImportFormView.as_view(), name="new-import"),
    path("<slug:slug>/imports/audit/", imports.StoreAuditView.as_view(), name="audit-store"),
    path("<slug:slug>/imports/audit/kept/", imports.KeptEntriesView.as_view(), name="audited-store"),
    path("<slug:slug>/imports/<uuid:import_id>/", imports.ImportDetailView.as_view(), name="import"),
    path("<slug:slug>/imports/<uuid:import_id>/progress/", imports.progress, name="import-progress"),
    path("<slug:slug>/imports/<uuid:import_id>/start/", imports.act, {"action": start_import}, name="start-import"),
    path("<slug:slug>/imports/<uuid:import_id>/cancel/", imports.act, {"action": cancel_import}, name="cancel-import"),
    path(
        "<slug:slug>/imports/<uuid:import_id>/delete-file/",
        imports.act,
        {"action": delete_import_file},
        name="delete-import-file",
    ),
    path("<slug:slug>/export/", imports.export, name="export-project"),
    path("<slug:slug>/replays/", replays.ReplayListView.as_view(), name="replays"),
    path("<slug:slug>/replays/new/", replays.ReplayFormView.as_view(), name="new-replay"),
    path("<slug:slug>/replays/what-if/", replays.WhatIfView.as_view(), name="what-if"),
    path("<slug:slug>/replays/<uuid:replay_id>/", replays.ReplayDetailView.as_view(), name="replay"),
    path("<slug:slug>/replays/<uuid:replay_id>/progress/", replays.progress, name="replay-progress"),
    path("<slug:slug>/replays/<uuid:replay_id>/start/", replays.act, {"action": start_replay}, name="start-replay"),
    path("<slug:slug>/replays/<uuid:replay_id>/cancel/", replays.act, {"action": cancel_replay}, name="cancel-replay"),
    path("<slug:slug>/replays/<uuid:replay_id>/export/", replays.export, name="export-replay"),
    path("<slug:slug>/alerts/", alerts.AlertListView.as_view(), name="alerts"),
    path("<slug:slug>/alerts/<uuid:alert_id>/acknowledge/", alerts.acknowledge, name="acknowledge-alert"),
    path("<slug:slug>/alerts/recipients/", alerts.AlertRecipientsFormView.as_view(), name="alert-recipients"),
    path("<slug:slug>/webhooks/", webhooks.WebhookCreateView.as_view(), name="webhooks"),
    path("<slug:slug>/webhooks/<uuid:webhook_id>/", webhooks.WebhookUpdateView.as_view(), name="webhook"),
    path("<slug:slug>/webhooks/<uuid:webhook_id>/rotate/", webhooks.WebhookRotateView.as_view(), name="rotate-webhook"),
    path("<slug:slug>/webhooks/<uuid:webhook_id>/switch/", webhooks.switch, name="switch-webhook"),
    path("<slug:slug>/webhooks/<uuid:webhook_id>/test/", webhooks.test, name="test-webhook"),
    path("<slug:slug>/webhooks/<uuid:webhook_id>/again/", webhooks.again, name="send-again"),
    path("<slug:slug>/webhooks/<uuid:webhook_id>/delete/", webhooks.delete, name="delete-webhook"),
    path("<slug:slug>/evaluation/", evaluation.evaluation, name="evaluation"),
    path("<slug:slug>/evaluation/draw/", evaluation.draw, name="draw-samples"),
    path("<slug:slug>/evaluation/label/", evaluation.label_items, name="label-items"),
    path("<slug:slug>/evaluation/labels/", evaluation.export, name="export-labels"),
    path("<slug:slug>/evaluation/compare/", evaluation.compare, name="compare"),
    path("<slug:slug>/evaluation/comparison/", evaluation.comparison, name="comparison"),
    path("<slug:slug>/evaluation/items/<uuid:item_id>/label/", evaluation.label, name="label-item"),
    path("<slug:slug>/evaluation/items/<uuid:item_id>/remember/", evaluation.remember, name="remember"),
    path("<slug:slug>/evaluation/items/<uuid:item_id>/undo/", evaluation.unlabel, name="unlabel"),
    path("<slug:slug>/queue/", queue.WorkListView.as_view(), name="queue"),
    path("<slug:slug>/queue/retry/", queue.retry_all, name="retry-all"),
    path("<slug:slug>/queue/try-model/", queue.try_model, name="try-model"),
    path("<slug:slug>/queue/test-model/", queue.test_model, name="test-model"),
    path("<slug:slug>/queue/<int:row_id>/retry/", queue.retry, name="retry"),
    path("<slug:slug>/queue/<int:row_id>/discard/", queue.discard, name="discard"),
    path("<slug:slug>/audit/", audit.LedgerView.as_view(), name="audit"),
    path("<slug:slug>/audit/export/", audit.export, name="export-ledger"),
    path("<slug:slug>/keys/", keys.keys, name="keys"),
    path("<slug:slug>/keys/<uuid:key_id>/revoke/", keys.revoke, name="revoke"),
    path("<slug:slug>/keys/<uuid:key_id>/rotate/", keys.rotate, name="rotate-key"),
    path("<slug:slug>/keys/<uuid:key_id>/restore/", keys.restore, name="restore-key"),
    path("<slug:slug>/project/", project_settings.project_settings, name="project-settings"),
    path("<slug:slug>/project/limits/", project_settings.limits, name="project-limits"),
    path("<slug:slug>/project/archive/", project_settings.archive, name="archive-project"),
    path("<slug:slug>/project/restore/", project_settings.restore, name="restore-project"),
    path("<slug:slug>/members/", people.members, name="members"),
    path("<slug:slug>/members/invite/", people.invite, name="invite"),
    path("<slug:slug>/members/invitations/<uuid:invitation_id>/revoke/", people.revoke, name="revoke-invitation"),
    path("<slug:slug>/members/<uuid:membership_id>/remove/", people.remove, name="remove"),
    path("<slug:slug>/members/<int:person_id>/<role:role>/restore/", people.restore_role, name="restore-role"),
]
