"""Rollbacks: what traces wrote is taken back, one end user after the other."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.pipeline.core.enums import RollbackState, choices_of, values_of
from apps.pipeline.core.identifiers import Prefix, new_id, show


class Rollback(models.Model):
    """A rollback that an admin asked for; its selection and its forced memories are identifiers and times."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
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

    def __str__(self) -> str:
        return self.shown_id

    @property
    def shown_id(self) -> str:
        """Return the identifier with its public prefix."""
        return show(Prefix.ROLLBACK, self.id)

    @property
    def is_over(self) -> bool:
        """Return True if nothing is left to do of the rollback or its undo."""
        return self.state in (RollbackState.DONE, RollbackState.UNDONE)


class RollbackItem(models.Model):
    """The part of a rollback that concerns one end user, done in one transaction; all of it is identifiers."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
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

    def __str__(self) -> str:
        return f"{self.rollback_id} of {self.end_user_id}"
