"""Imports of files: what was uploaded, what is in it, and how far it is imported."""

from typing import Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.common.rows import ShownRow
from apps.imports.enums import UNDER_WAY, ImportFormat, ImportState
from apps.outbox.leased import LeasedModel, LeasedQuerySet
from apps.pipeline.core.enums import choices_of, values_of
from apps.pipeline.core.identifiers import Prefix


def format_choices() -> list[tuple[str, str]]:
    """Return the choices of a format; migrations refer to this function, so a new format needs none."""
    return choices_of(ImportFormat)


class ImportQuerySet(LeasedQuerySet):
    """Imports."""

    def due(self, *states: ImportState) -> Self:
        """Filter those in one of the states that wait for nothing else."""
        return self.filter(Q(resume_at__isnull=True) | Q(resume_at__lte=timezone.now()), state__in=states)


class FileImport(ShownRow, LeasedModel):
    """A file that somebody imports into a project.

    Its bytes are in the row of `ImportFile` until it is imported, cancelled for good or forgotten. `problems` names
    places of the file with reasons, and nothing that the file says.
    """

    prefix = Prefix.IMPORT
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    api_key_id = models.UUIDField(null=True, blank=True)
    file_name = models.CharField(max_length=255)
    format = models.CharField(max_length=16, choices=format_choices, blank=True, help_text="empty: not recognised yet")
    user_id = models.CharField(max_length=255, blank=True, help_text="end user of what the file names none for")
    users_by_name = models.JSONField(default=dict, blank=True, help_text="user_id by the name that the file gives")
    state = models.CharField(max_length=16, choices=choices_of(ImportState), default=ImportState.UPLOADING.value)
    size = models.PositiveBigIntegerField(default=0, help_text="bytes")
    has_file = models.BooleanField(default=True, help_text="its bytes are still stored")
    users = ArrayField(
        models.UUIDField(), default=list, blank=True, help_text="end users whose entries the check has found"
    )
    counts = models.JSONField(default=dict, help_text="what the check has found")
    problems = models.JSONField(default=list, help_text="[{at, reason}], the first ones")
    position = models.PositiveIntegerField(default=0, help_text="chunks that are imported")
    done = models.JSONField(default=dict, help_text="what was imported so far, by kind")
    wait_reason = models.CharField(max_length=255, blank=True, help_text="why it waits")
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    resume_at = models.DateTimeField(null=True, blank=True, help_text="it waits until then")

    objects = ImportQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at",)
        constraints = [
            models.CheckConstraint(condition=Q(state__in=values_of(ImportState)), name="import_state_known"),
        ]
        indexes = [models.Index(fields=("project", "-created_at"), name="import_of_project")]

    @property
    def is_over(self) -> bool:
        """Return True if nothing happens until somebody acts."""
        return self.state not in UNDER_WAY

    @property
    def chunks(self) -> int:
        """Return into how many chunks the check has divided the file."""
        return int(self.counts.get("chunks", 0))


class ImportFile(models.Model):
    """The bytes of an uploaded file, apart from the row that lists and leases read."""

    file_import = models.OneToOneField(FileImport, on_delete=models.CASCADE, primary_key=True, related_name="file")
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    content = models.BinaryField()

    def __str__(self) -> str:
        return str(self.file_import_id)
