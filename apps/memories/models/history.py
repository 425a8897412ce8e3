"""Former versions of memories and the ledger, both append-only; and rollbacks."""

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.common.rows import Row, ShownRow
from apps.pipeline.core.enums import RollbackState, choices_of, values_of
from apps.pipeline.core.identifiers import Prefix


class MemoryVersion(Row):
    """The values that a memory had before a change."""

    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    memory = models.ForeignKey("memories.Memory", on_delete=models.CASCADE, related_name="versions", db_index=False)
    version = models.PositiveIntegerField(help_text="the version whose values these are")
    values = models.JSONField(encoder=DjangoJSONEncoder, help_text="the fields that the change replaced")
    operation = models.CharField(max_length=32)
    actor = models.CharField(max_length=160, help_text="trace, key or person that made the change")
    trace = models.ForeignKey(
        "traces.Trace", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    rollback_id = models.UUIDField(
        null=True, blank=True, help_text="the rollback that made the change, or whose undo did"
    )
    known_from = models.DateTimeField(help_text="when we began to believe these values")
    known_until = models.DateTimeField(default=timezone.now, help_text="when the change replaced them")

    class Meta:
        ordering = ("memory", "version")
        constraints = [
            models.UniqueConstraint(fields=("end_user", "memory", "version"), name="memory_version_once"),
        ]
        indexes = [
            models.Index(fields=("memory",), name="version_by_memory"),
            models.Index(fields=("actor", "-known_until"), condition=Q(trace__isnull=True), name="version_by_actor"),
            models.Index(fields=("trace",), condition=Q(trace__isnull=False), name="version_by_trace"),
        ]


class LedgerEntry(Row):
    """An act of a person, an agent or the system; the database refuses changes and deletions.

    `number` and `hash` are empty until the entry is sealed, within a minute: see apps/memories/ledger/chain.py.
    """

    project = models.ForeignKey("tenants.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    end_user = models.ForeignKey(
        "tenants.EndUser", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    actor = models.CharField(max_length=160)
    verb = models.CharField(max_length=32)
    object_kind = models.CharField(max_length=32)
    object_id = models.UUIDField()
    trace_id = models.UUIDField(null=True, blank=True)
    details = models.JSONField(default=dict, blank=True, help_text="identifiers and names of fields, never content")
    created_at = models.DateTimeField(default=timezone.now, editable=False, help_text="set by the database")
    number = models.BigIntegerField(null=True, editable=False, help_text="within the project, from 1")
    hash = models.CharField(
        max_length=64, default="", db_default="", editable=False, help_text="SHA-256 of the previous hash and the entry"
    )

    class Meta:
        verbose_name_plural = "ledger entries"
        ordering = ("-id",)
        constraints = [models.UniqueConstraint(fields=("project", "number"), name="ledger_number_once")]
        indexes = [
            models.Index(fields=("end_user", "object_id"), name="ledger_of_object"),
            models.Index(fields=("project", "-id"), name="ledger_of_project"),
            models.Index(fields=("project", "id"), condition=Q(number__isnull=True), name="ledger_unsealed"),
        ]


class LedgerCheckpoint(Row):
    """Where a project's chain begins after its oldest entries were removed by the retention period."""

    project = models.ForeignKey("tenants.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.BigIntegerField(help_text="of the last removed entry")
    hash = models.CharField(max_length=64, help_text="of the last removed entry")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("project", "-number")
        constraints = [models.UniqueConstraint(fields=("project", "number"), name="ledger_checkpoint_once")]


class Rollback(ShownRow):
    """A rollback that an admin asked for; its selection and its forced memories are identifiers and times."""

    prefix = Prefix.ROLLBACK
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    selection = models.JSONField(help_text="which traces are taken back")
    forced = models.JSONField(default=list, help_text="memories that are taken back although they were edited since")
    rerun = models.BooleanField(default=False, help_text="the traces are run again under the active configuration")
    note = models.CharField(max_length=255, blank=True)
    state = models.CharField(max_length=16, choices=choices_of(RollbackState), default=RollbackState.WAITING.value)
    counts = models.JSONField(default=dict, help_text="what was taken back, by kind")
    actor = models.CharField(max_length=160, help_text="key, person or command that asked for it")
    undone_by = models.CharField(max_length=160, blank=True, help_text="who asked for the undo")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.CheckConstraint(condition=Q(state__in=values_of(RollbackState)), name="rollback_state_known"),
        ]
        indexes = [
            models.Index(fields=("project", "-id"), name="rollback_of_project"),
            models.Index(
                fields=("id",),
                condition=Q(state__in=values_of((RollbackState.WAITING, RollbackState.UNDOING))),
                name="rollback_unfinished",
            ),
        ]

    @property
    def is_over(self) -> bool:
        """Return True if nothing is left to do of the rollback or its undo."""
        return self.state in (RollbackState.DONE, RollbackState.UNDONE)


class RollbackItem(Row):
    """The part of a rollback that concerns one end user, done in one transaction; all of it is identifiers."""

    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    rollback = models.ForeignKey(Rollback, on_delete=models.CASCADE, related_name="items", db_index=False)
    state = models.CharField(max_length=16, choices=choices_of(RollbackState), default=RollbackState.WAITING.value)
    done = models.JSONField(default=dict, help_text="what was taken back beside the versions of memories, for the undo")
    left_alone = models.JSONField(default=list, help_text="[{memory or entity, reason}]")
    error = models.TextField(blank=True, help_text="why the last try failed; it is tried again")
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=("end_user", "rollback"), name="rollback_once_a_user"),
            models.CheckConstraint(condition=Q(state__in=values_of(RollbackState)), name="rollback_item_state_known"),
        ]
        indexes = [models.Index(fields=("rollback",), name="rollback_item_by_rollback")]
