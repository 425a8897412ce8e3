"""Admin of what reviewers leave for each other, read-only: it is written in the console."""

from django.contrib import admin

from apps.console.admin.base import ReadOnlyAdmin
from apps.memories.models import MemoryComment, ReviewAssignment, ReviewPresence


@admin.register(ReviewAssignment)
class ReviewAssignmentAdmin(ReadOnlyAdmin):
    """Memories that one member is to decide about."""

    list_display = ("id", "end_user", "person", "assigned_by", "created_at")
    list_select_related = ("end_user", "person")
    fields = ("end_user", "memory", "person", "assigned_by", "created_at")
    readonly_fields = fields


@admin.register(MemoryComment)
class MemoryCommentAdmin(ReadOnlyAdmin):
    """Comments on memories."""

    list_display = ("__str__", "end_user", "author", "created_at")
    list_select_related = ("end_user",)
    fields = ("end_user", "memory", "author", "text", "created_at")
    readonly_fields = fields


@admin.register(ReviewPresence)
class ReviewPresenceAdmin(ReadOnlyAdmin):
    """Which memory or pair each member has open."""

    list_display = ("id", "project", "person", "object_id", "seen_at")
    list_select_related = ("project", "person")
    fields = ("project", "person", "object_id", "seen_at")
    readonly_fields = fields
