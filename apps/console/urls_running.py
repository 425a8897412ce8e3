"""Addresses of the pages on which a project is looked at, tuned and run, below its own."""

from django.urls import path, register_converter

from apps.console.addresses import RoleInPath
from apps.console.views import configuration, dashboard, keys, members, outbox, patterns, traces

register_converter(RoleInPath, "role")

urlpatterns = [
    path("dashboard/", dashboard.dashboard, name="dashboard"),
    path("traces/", traces.traces, name="traces"),
    path("traces/<uuid:trace_id>/", traces.trace, name="trace"),
    path("why-not/", traces.why_not, name="why-not"),
    path("patterns/", patterns.patterns, name="patterns"),
    path("patterns/try/", patterns.trial, name="trial"),
    path("patterns/preview/", patterns.preview, name="preview"),
    path("patterns/preview/<uuid:preview_id>/", patterns.previewed, name="previewed"),
    path("patterns/new/", patterns.rule, name="new-rule"),
    path("patterns/rules/<slug:name>/", patterns.rule, name="rule"),
    path("patterns/rules/<slug:name>/switch/", patterns.switch, name="switch-rule"),
    path("patterns/rules/<slug:name>/delete/", patterns.delete, name="delete-rule"),
    path("configuration/", configuration.configuration, name="configuration"),
    path("configuration/change/", configuration.change, name="change"),
    path("configuration/<int:number>/", configuration.version, name="version"),
    path("configuration/<int:number>/restore/", configuration.restore, name="restore"),
    path("outbox/", outbox.outbox, name="outbox"),
    path("outbox/<int:row_id>/retry/", outbox.retry, name="retry"),
    path("outbox/<int:row_id>/bury/", outbox.bury, name="bury"),
    path("keys/", keys.keys, name="keys"),
    path("keys/<uuid:key_id>/revoke/", keys.revoke, name="revoke"),
    path("keys/<uuid:key_id>/restore/", keys.restore, name="restore-key"),
    path("members/", members.members, name="members"),
    path("members/<uuid:membership_id>/remove/", members.remove, name="remove"),
    path("members/<int:person_id>/<role:role>/again/", members.give_back, name="give-back"),
]
