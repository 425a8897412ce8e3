"""Admin of projects, API keys and end users."""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from apps.actions.keys.create_key import create_key
from apps.actions.keys.revoke_key import revoke_key
from apps.actions.projects.create_project import RESERVED, create_project
from apps.actions.projects.update_project import update_project
from apps.console.admin.base import BaseAdmin, ReadOnlyAdmin
from apps.console.admin.cells import changelist_link, identifier_column, json_column, links
from apps.pipeline.core.enums import Scope, choices_of
from apps.pipeline.core.identifiers import Prefix
from apps.tenants.models import ApiKey, EndUser, Erasure, Invitation, Project, RateCounter


class ProjectForm(forms.ModelForm):
    """The form of a project."""

    def clean_slug(self) -> str:
        """Reject the addresses of other pages."""
        slug = str(self.cleaned_data["slug"])
        if slug in RESERVED:
            raise forms.ValidationError("this is the address of another page")
        return slug


@admin.register(Project)
class ProjectAdmin(BaseAdmin):
    """Projects; they can't be deleted, because their history refers to them."""

    prefix = Prefix.PROJECT
    form = ProjectForm
    list_display = ("name", "slug", identifier_column(Prefix.PROJECT), "queue_limit", "created_at", "archived_at")
    search_fields = ("name", "slug")
    ordering = ("name",)

    def get_fields(self, request: HttpRequest, obj: Project | None = None) -> Any:
        """Ask only for name and slug of a new project."""
        quotas = ("queue_limit", "requests_per_minute", "max_memories", "max_model_usd_per_day")
        return ("name", "slug", *quotas, "created_at", "archived_at") if obj else ("name", "slug")

    def get_readonly_fields(self, request: HttpRequest, obj: Project | None = None) -> Any:
        """Make the slug read-only: URLs and external configurations contain it."""
        return ("slug", "created_at", "archived_at") if obj else ()

    def get_view_on_site_url(self, obj: Project | None = None) -> str | None:
        """Return the start page of the project in the console."""
        return reverse("console:project", args=[obj.slug]) if obj else None

    def save_model(self, request: HttpRequest, obj: Project, form: forms.ModelForm, change: bool) -> None:
        """Create a project with its first configuration version; a change writes its fields and the ledger."""
        if change:
            update_project(project_id=obj.pk, changes={name: getattr(obj, name) for name in form.changed_data})
        else:
            obj.pk = create_project(name=obj.name, slug=obj.slug).pk

    def has_delete_permission(self, request: HttpRequest, obj: Project | None = None) -> bool:
        """Refuse."""
        return False


class ApiKeyForm(forms.ModelForm):
    """The form of a new API key."""

    scopes = forms.MultipleChoiceField(
        choices=choices_of(Scope), widget=forms.CheckboxSelectMultiple, help_text="admin includes the other scopes"
    )

    class Meta:
        model = ApiKey
        fields = ("project", "name", "scopes", "requests_per_minute", "expires_at")

    def clean_expires_at(self) -> datetime | None:
        """Reject an expiry in the past."""
        expires_at: datetime | None = self.cleaned_data["expires_at"]
        if expires_at is not None and expires_at <= timezone.now():
            raise forms.ValidationError("the expiry must be in the future")
        return expires_at


@admin.register(ApiKey)
class ApiKeyAdmin(BaseAdmin):
    """API keys: created and revoked, never changed; the secret is shown once."""

    prefix = Prefix.API_KEY
    form = ApiKeyForm
    list_display = ("name", "prefix", "project", "scopes", "created_at", "last_used_at", "expires_at", "revoked_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "project")
    list_select_related = ("project",)
    search_fields = ("name", "prefix")
    date_hierarchy = "created_at"
    actions = ("revoke",)

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        """Show all fields of an existing key; ask only for some of a new one."""
        if obj is None:
            return ApiKeyForm.Meta.fields
        times = ("created_at", "last_used_at", "expires_at", "revoked_at")
        return ("name", "prefix", "project", "scopes", "requests_per_minute", *times)

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """Refuse."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """Refuse: the history refers to keys."""
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Allow revoking for users with the permission to change keys."""
        return bool(request.user.has_perm("tenants.change_apikey"))

    def save_model(self, request: HttpRequest, obj: ApiKey, form: forms.ModelForm, change: bool) -> None:
        """Create the key; its secret is kept only until the response is rendered."""
        created = create_key(
            project_id=obj.project_id,
            name=obj.name,
            scopes=[Scope(scope) for scope in obj.scopes],
            expires_at=obj.expires_at,
            requests_per_minute=obj.requests_per_minute,
        )
        obj.pk, obj.prefix = created.key.pk, created.key.prefix
        request.created_key = created  # type: ignore[attr-defined]  # for response_add

    def response_add(self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None) -> HttpResponse:
        """Show the secret once; the admin sends no-cache headers."""
        context = {
            **self.admin_site.each_context(request),
            "title": "New API key",
            "opts": self.opts,
            "created": request.created_key,  # type: ignore[attr-defined]  # by save_model
        }
        return TemplateResponse(request, "admin/tenants/apikey/created.html", context)

    @admin.action(description="Revoke the selected keys immediately", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """Revoke keys."""
        for key in queryset:
            revoke_key(project_id=key.project_id, key_id=key.pk)
        self.message_user(request, "Keys revoked: requests with them are rejected from now on.", messages.SUCCESS)


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    """Invitations to projects; the console makes and revokes them."""

    list_display = ("email", "role", "project", "invited_by", "created_at", "expires_at", "accepted_at", "revoked_at")
    list_filter = ("role", "project")
    list_select_related = ("project", "invited_by")
    search_fields = ("email", "invited_by__username")
    fields = (*list_display, "accepted_by")
    readonly_fields = fields


@admin.register(EndUser)
class EndUserAdmin(ReadOnlyAdmin):
    """The end users that memories are about."""

    prefix = Prefix.END_USER
    console_page = "user"
    list_display = ("external_id", "project", identifier_column(Prefix.END_USER), "created_at")
    list_filter = ("project",)
    list_select_related = ("project",)
    search_fields = ("external_id",)
    ordering = ("-created_at",)
    fields = ("external_id", "project", identifier_column(Prefix.END_USER), "created_at", "more")
    readonly_fields = fields

    def get_view_on_site_url(self, obj: EndUser | None = None) -> str | None:
        """Return the page of the user; an erased one has none."""
        return super().get_view_on_site_url(obj) if obj and obj.external_id else None

    @admin.display(description="")
    def more(self, user: EndUser) -> SafeString:
        """Link to the data of the end user."""
        lists = {"memories_memory": "memories", "memories_entity": "entities", "traces_trace": "traces"}
        return links(*(changelist_link(model, label, end_user=user.pk) for model, label in lists.items()))


@admin.register(RateCounter)
class RateCounterAdmin(ReadOnlyAdmin):
    """What the rate limits have counted."""

    list_display = ("subject", "window_start", "ends_at", "count")
    search_fields = ("subject",)
    ordering = ("-id",)
    fields = list_display
    readonly_fields = fields


@admin.register(Erasure)
class ErasureAdmin(ReadOnlyAdmin):
    """Receipts of erased end users."""

    prefix = Prefix.ERASURE
    list_display = (identifier_column(Prefix.ERASURE), "project", "actor", "requested_at", "finished_at")
    list_filter = ("project",)
    list_select_related = ("project",)
    search_fields = ("actor", "user_hash")
    fields = (
        identifier_column(Prefix.ERASURE),
        "project",
        "end_user",
        "user_hash",
        "actor",
        json_column("counts"),
        "requested_at",
        "finished_at",
    )
    readonly_fields = fields
