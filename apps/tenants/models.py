"""Projects, their members and keys, and the end users that memories are about."""

from datetime import datetime
from typing import Self
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.common.rows import Row, ShownRow
from apps.pipeline.core.enums import Scope, choices_of, values_of
from apps.pipeline.core.identifiers import Prefix, show
from apps.tenants.enums import MemberRole


class EndUserQuerySet(QuerySet["EndUser"]):
    """End users by project and presence."""

    def for_project(self, project_id: UUID) -> Self:
        """Keep one project's end users."""
        return self.filter(project_id=project_id)

    def present(self) -> Self:
        """Leave out end users that were erased or are being erased."""
        return self.filter(erasing_since__isnull=True, erased_at__isnull=True)


class InvitationQuerySet(QuerySet["Invitation"]):
    """Invitations by state."""

    def open(self, *, now: datetime) -> Self:
        """Keep those that can be accepted."""
        return self.filter(accepted_at__isnull=True, revoked_at__isnull=True, expires_at__gt=now)


class Project(Row):
    """A tenant; data is never shared between projects."""

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=64, unique=True)
    queue_limit = models.PositiveIntegerField(default=10_000, help_text="waiting turns from which intake answers 429")
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True, help_text="of all keys; empty: any number")
    max_memories = models.PositiveIntegerField(
        null=True, blank=True, help_text="live memories from which intake answers 429; empty: any number"
    )
    max_model_usd_per_day = models.DecimalField(
        max_digits=10,
        decimal_places=2,
        null=True,
        blank=True,
        help_text="dollars for models per day (UTC) from which intake answers 429; empty: any amount",
    )
    review_guideline = models.TextField(
        blank=True, max_length=2_000, help_text="what reviewers go by; empty: the usual one"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    archived_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="takes no turns or writes since, and its queue is paused"
    )

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Membership(Row):
    """The role of a console user in a project."""

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


class Invitation(Row):
    """A link with which one person joins a project; only the hash of its token is stored."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=16, choices=choices_of(MemberRole))
    email = models.EmailField(max_length=254, blank=True, help_text="who was invited by mail; empty: by a link")
    token_hash = models.CharField(max_length=64, unique=True, editable=False, help_text="SHA-256, in hexadecimal")
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", help_text="must still be an admin"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at",)
        constraints = [
            models.CheckConstraint(condition=Q(role__in=values_of(MemberRole)), name="invitation_role_known")
        ]

    def __str__(self) -> str:
        return f"invitation as {self.role} to {self.project}"


def scope_choices() -> list[tuple[str, str]]:
    """Return the choices of an API key's scopes; migrations refer to this function, so a new value needs none."""
    return choices_of(Scope)


class ApiKey(Row):
    """A caller's API key; only its prefix and hash are stored, the key itself is shown once."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=120)
    prefix = models.CharField(max_length=16, unique=True, editable=False)
    hash = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the key, in hexadecimal")
    scopes = ArrayField(models.CharField(max_length=8, choices=scope_choices), default=list)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True, help_text="empty: any number")
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = "API key"
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    def is_valid(self, now: datetime) -> bool:
        """Return True unless the key was revoked or has expired."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


class EndUser(models.Model):
    """The person that memories are about; `id` is derived from the project and `external_id`."""

    id = models.UUIDField(primary_key=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="end_users")
    external_id = models.CharField(
        max_length=255, help_text="user_id in the API, chosen by the client; empty once erased"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    erasing_since = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="nothing may be written since"
    )
    erased_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="empty again when the user returns"
    )

    objects = EndUserQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=("project", "external_id"), name="end_user_by_external_id")]

    def __str__(self) -> str:
        return self.external_id

    @property
    def shown_id(self) -> str:
        """Return the identifier with its public prefix."""
        return show(Prefix.END_USER, self.id)


class Erasure(ShownRow):
    """The receipt of an erasure: how many rows of each table were deleted, and nothing that the end user said."""

    prefix = Prefix.ERASURE
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="erasures", db_index=False)
    end_user = models.ForeignKey(EndUser, on_delete=models.PROTECT, related_name="+", db_index=False)
    user_hash = models.CharField(max_length=64, help_text="HMAC-SHA256 of user_id, to prove that it was this one")
    actor = models.CharField(max_length=160, help_text="key or person that asked for it")
    counts = models.JSONField(default=dict, help_text="deleted rows by table")
    requested_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(
                fields=("end_user",), condition=Q(finished_at__isnull=True), name="erasure_one_at_a_time"
            ),
        ]
        indexes = [models.Index(fields=("project", "-id"), name="erasure_of_project")]


class RateCounter(models.Model):
    """How many events of a subject one window of time has had: requests of a key or project, attempts to log in."""

    subject = models.CharField(max_length=300)
    window_start = models.DateTimeField()
    ends_at = models.DateTimeField()
    count = models.PositiveBigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=("subject", "window_start"), name="rate_counter_once")]
        indexes = [models.Index(fields=("ends_at",), name="rate_counter_by_end")]

    def __str__(self) -> str:
        return f"{self.subject}: {self.count}"
