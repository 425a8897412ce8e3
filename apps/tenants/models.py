"""Projects, their members and keys, and the end users that memories are about."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.pipeline.core.enums import MemberRole, Scope, choices_of, values_of
from apps.pipeline.core.identifiers import Prefix, new_id, show


class Project(models.Model):
    """A tenant; data is never shared between projects."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=64, unique=True)
    queue_limit = models.PositiveIntegerField(default=10_000, help_text="waiting traces from which intake answers 429")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """The role of a console user in a project."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=choices_of(MemberRole), default=MemberRole.VIEWER.value)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("project", "user"), name="membership_once"),
            models.CheckConstraint(condition=Q(role__in=values_of(MemberRole)), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.project}"


class ApiKey(models.Model):
    """A caller's API key; only its prefix and hash are stored, the key itself is shown once."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=120)
    prefix = models.CharField(max_length=16, unique=True, editable=False)
    hash = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the key, in hexadecimal")
    scopes = ArrayField(models.CharField(max_length=8, choices=choices_of(Scope)), default=list)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = "API key"
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class EndUser(models.Model):
    """The person that memories are about; `id` is derived from the project and `external_id`."""

    id = models.UUIDField(primary_key=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="end_users")
    external_id = models.CharField(max_length=255, help_text="user_id in the API, chosen by the client")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        indexes = [models.Index(fields=("project", "external_id"), name="end_user_by_external_id")]

    def __str__(self) -> str:
        return self.external_id

    @property
    def shown_id(self) -> str:
        """Return the identifier with its public prefix."""
        return show(Prefix.END_USER, self.id)
