"""Projects, members, keys, end users."""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.safestring import SafeString

from apps.actions.keys.create_key import create_key
from apps.actions.keys.revoke_key import revoke_key
from apps.actions.projects.create_project import create_project
from apps.console.admin.cells import link_to_list, links, shown
from apps.console.admin.pages import Page, ReadOnlyPage
from apps.pipeline.core.enums import Scope, choices_of
from apps.pipeline.core.identifiers import Prefix
from apps.tenants.models import ApiKey, EndUser, Membership, Project


@admin.register(Project)
class ProjectPage(Page):
    """Projects; one is never deleted here, for its history hangs on it."""

    prefix = Prefix.PROJECT
    list_display = ("name", "slug", shown(Prefix.PROJECT), "queue_limit", "created_at")
    search_fields = ("name", "slug")
    ordering = ("name",)

    def get_fields(self, request: HttpRequest, obj: Project | None = None) -> Any:
        """Ask for a name and a slug first; the rest has defaults."""
        return ("name", "slug", "queue_limit", "created_at") if obj else ("name", "slug")

    def get_readonly_fields(self, request: HttpRequest, obj: Project | None = None) -> Any:
        """Keep the slug: addresses and configurations outside name it."""
        return ("slug", "created_at") if obj else ()

    def save_model(self, request: HttpRequest, obj: Project, form: forms.ModelForm, change: bool) -> None:
        """Create a project with its first configuration version; a change touches nothing but its own fields."""
        if change:
            super().save_model(request, obj, form, change)
        else:
            obj.pk = create_project(name=obj.name, slug=obj.slug).pk

    def has_delete_permission(self, request: HttpRequest, obj: Project | None = None) -> bool:
        """Refuse."""
        return False


@admin.register(Membership)
class MembershipPage(Page):
    """Who belongs to which project, in which role."""

    list_display = ("user", "project", "role", "created_at")
    list_filter = ("role", "project")
    list_select_related = ("user", "project")
    search_fields = ("user__username", "user__email", "project__name")
    autocomplete_fields = ("user", "project")


class ApiKeyForm(forms.ModelForm):
    """A new key: a project, a name, scopes, an expiry."""

    scopes = forms.MultipleChoiceField(
        choices=choices_of(Scope), widget=forms.CheckboxSelectMultiple, help_text="admin includes the others"
    )

    class Meta:
        model = ApiKey
        fields = ("project", "name", "scopes", "expires_at")

    def clean_expires_at(self) -> datetime | None:
        """Refuse a key that could never be used."""
        expires_at: datetime | None = self.cleaned_data["expires_at"]
        if expires_at is not None and expires_at <= timezone.now():
            raise forms.ValidationError("the expiry must lie in the future")
        return expires_at


@admin.register(ApiKey)
class ApiKeyPage(Page):
    """Keys: made and revoked, never changed; the key itself is shown once."""

    prefix = Prefix.API_KEY
    form = ApiKeyForm
    list_display = ("name", "prefix", "project", "scopes", "created_at", "last_used_at", "expires_at", "revoked_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "project")
    list_select_related = ("project",)
    search_fields = ("name", "prefix")
    date_hierarchy = "created_at"
    actions = ("revoke",)

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        """Show what is kept of a key; ask for less of a new one."""
        if obj is None:
            return ApiKeyForm.Meta.fields
        return ("name", "prefix", "project", "scopes", "created_at", "last_used_at", "expires_at", "revoked_at")

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """Refuse."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """Refuse: the history names keys."""
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Let those revoke who could change a key."""
        return bool(request.user.has_perm("tenants.change_apikey"))

    def save_model(self, request: HttpRequest, obj: ApiKey, form: forms.ModelForm, change: bool) -> None:
        """Create the key; its text is kept only until this answer is rendered."""
        created = create_key(
            project_id=obj.project_id,
            name=obj.name,
            scopes=[Scope(scope) for scope in obj.scopes],
            expires_at=obj.expires_at,
        )
        obj.pk, obj.prefix = created.key.pk, created.key.prefix
        request.created_key = created  # type: ignore[attr-defined]  # for response_add

    def response_add(self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None) -> HttpResponse:
        """Show the key, this once; the admin lets no cache keep its pages."""
        context = {
            **self.admin_site.each_context(request),
            "title": "A new key",
            "opts": self.opts,
            "created": request.created_key,  # type: ignore[attr-defined]  # by save_model
        }
        return TemplateResponse(request, "admin/tenants/apikey/created.html", context)

    @admin.action(description="Revoke the selected keys at once", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """Revoke keys."""
        for key in queryset:
            revoke_key(project_id=key.project_id, key_id=key.pk)
        self.message_user(request, "Revoked: what comes with these keys is refused from now on.", messages.SUCCESS)


@admin.register(EndUser)
class EndUserPage(ReadOnlyPage):
    """The people whom memories are about."""

    prefix = Prefix.END_USER
    list_display = ("external_id", "project", shown(Prefix.END_USER), "created_at")
    list_filter = ("project",)
    list_select_related = ("project",)
    search_fields = ("external_id",)
    ordering = ("-created_at",)
    fields = ("external_id", "project", shown(Prefix.END_USER), "created_at", "more")
    readonly_fields = fields

    @admin.display(description="")
    def more(self, user: EndUser) -> SafeString:
        """Link to what hangs on an end user."""
        lists = {"memories_memory": "memories", "memories_entity": "entities", "traces_trace": "traces"}
        return links(*(link_to_list(model, label, end_user=user.pk) for model, label in lists.items()))
