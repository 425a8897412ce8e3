"""URLs of the console: one prefix per project, one path per page."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path, register_converter

from apps.console.path_converters import MemberRoleConverter
from apps.console.views import (
    configuration,
    contradictions,
    dashboard,
    entities,
    entity_merges,
    home,
    keys,
    members,
    patterns,
    queue,
    review,
    traces,
    users,
)

register_converter(MemberRoleConverter, "role")

app_name = "console"
urlpatterns = [
    path("", home.home, name="home"),
    path("login/", LoginView.as_view(template_name="console/login.html"), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("<slug:slug>/", home.project, name="project"),
    path("<slug:slug>/review/", review.review, name="review"),
    path("<slug:slug>/review/approve/", review.approve, name="approve"),
    path("<slug:slug>/review/reject/", review.reject, name="reject"),
    path("<slug:slug>/review/merge/", review.merge, name="merge"),
    path("<slug:slug>/contradictions/", contradictions.contradictions, name="contradictions"),
    path("<slug:slug>/contradictions/<uuid:link_id>/", contradictions.contradiction, name="contradiction"),
    path("<slug:slug>/contradictions/<uuid:link_id>/settle/", contradictions.settle, name="settle"),
    path("<slug:slug>/undo/", review.undo, name="undo"),
    path("<slug:slug>/memories/<uuid:memory_id>/", review.memory, name="memory"),
    path("<slug:slug>/users/", users.users, name="users"),
    path("<slug:slug>/users/<uuid:user_id>/", users.user, name="user"),
    path("<slug:slug>/entities/", entities.entities, name="entities"),
    path("<slug:slug>/entities/<uuid:entity_id>/", entities.entity, name="entity"),
    path("<slug:slug>/entities/<uuid:entity_id>/merge/", entity_merges.choose, name="choose-entity"),
    path("<slug:slug>/entities/<uuid:entity_id>/merge/<uuid:into_id>/", entity_merges.merge, name="merge-entity"),
    path("<slug:slug>/entities/<uuid:entity_id>/split/", entity_merges.split, name="split-entity"),
    path("<slug:slug>/dashboard/", dashboard.dashboard, name="dashboard"),
    path("<slug:slug>/traces/", traces.traces, name="traces"),
    path("<slug:slug>/traces/<uuid:trace_id>/", traces.trace, name="trace"),
    path("<slug:slug>/why-not/", traces.why_not, name="why-not"),
    path("<slug:slug>/patterns/", patterns.patterns, name="patterns"),
    path("<slug:slug>/patterns/try/", patterns.trial, name="trial"),
    path("<slug:slug>/patterns/preview/", patterns.preview, name="preview"),
    path("<slug:slug>/patterns/preview/<uuid:preview_id>/", patterns.previewed, name="previewed"),
    path("<slug:slug>/patterns/new/", patterns.rule, name="new-rule"),
    path("<slug:slug>/patterns/rules/<slug:name>/", patterns.rule, name="rule"),
    path("<slug:slug>/patterns/rules/<slug:name>/switch/", patterns.switch, name="switch-rule"),
    path("<slug:slug>/patterns/rules/<slug:name>/delete/", patterns.delete, name="delete-rule"),
    path("<slug:slug>/configuration/", configuration.configuration, name="configuration"),
    path("<slug:slug>/configuration/change/", configuration.change, name="change"),
    path("<slug:slug>/configuration/<int:number>/", configuration.version, name="version"),
    path("<slug:slug>/configuration/<int:number>/restore/", configuration.restore, name="restore"),
    path("<slug:slug>/queue/", queue.queue, name="queue"),
    path("<slug:slug>/queue/retry/", queue.retry_all, name="retry-all"),
    path("<slug:slug>/queue/try-model/", queue.try_model, name="try-model"),
    path("<slug:slug>/queue/<int:row_id>/retry/", queue.retry, name="retry"),
    path("<slug:slug>/queue/<int:row_id>/discard/", queue.discard, name="discard"),
    path("<slug:slug>/keys/", keys.keys, name="keys"),
    path("<slug:slug>/keys/<uuid:key_id>/revoke/", keys.revoke, name="revoke"),
    path("<slug:slug>/keys/<uuid:key_id>/restore/", keys.restore, name="restore-key"),
    path("<slug:slug>/members/", members.members, name="members"),
    path("<slug:slug>/members/<uuid:membership_id>/remove/", members.remove, name="remove"),
    path("<slug:slug>/members/<int:person_id>/<role:role>/restore/", members.restore_role, name="restore-role"),
]
