"""Admin of members of projects and of second factors."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from apps.actions.accounts.remove_second_factor import remove_second_factor
from apps.actions.errors import Conflict
from apps.actions.projects.remove_member import remove_member
from apps.actions.projects.set_member import keep_an_admin, set_member
from apps.console.admin.base import BaseAdmin, ReadOnlyAdmin
from apps.pipeline.core.enums import MemberRole
from apps.tenants.models import Membership, SecondFactor

LAST_ADMIN = "a project keeps at least one admin"


class MembershipForm(forms.ModelForm):
    """The form of a membership."""

    class Meta:
        model = Membership
        fields = ("user", "project", "role")

    def clean(self) -> dict[str, Any]:
        """Reject a change that would leave the project without an admin."""
        cleaned: dict[str, Any] = super().clean() or {}
        is_known = not self.instance._state.adding
        if is_known and cleaned.get("role") != MemberRole.ADMIN and _is_last_admin(self.instance):
            raise forms.ValidationError(LAST_ADMIN)
        return cleaned


def _is_last_admin(member: Membership) -> bool:
    try:
        keep_an_admin(project_id=member.project_id, without=member.user_id)
    except Conflict:
        return True
    return False


@admin.register(Membership)
class MembershipAdmin(BaseAdmin):
    """Members of projects and their roles; changes go through the same actions as the console's, into the ledger."""

    form = MembershipForm
    list_display = ("user", "project", "role", "created_at")
    list_filter = ("role", "project")
    list_select_related = ("user", "project")
    search_fields = ("user__username", "user__email", "project__name")
    autocomplete_fields = ("user", "project")

    def has_delete_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        """Refuse for the last admin of a project."""
        return super().has_delete_permission(request, obj) and not (obj and _is_last_admin(obj))

    def get_readonly_fields(self, request: HttpRequest, obj: Membership | None = None) -> Any:
        """Leave only the role of an existing membership to be changed."""
        return ("user", "project") if obj else ()

    def save_model(self, request: HttpRequest, obj: Membership, form: forms.ModelForm, change: bool) -> None:
        """Set the role."""
        member = set_member(project_id=obj.project_id, username=obj.user.get_username(), role=MemberRole(obj.role))
        obj.pk = member.pk

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        """Remove the member."""
        self.delete_queryset(request, Membership.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        """Remove members; the last admin of a project stays."""
        for member in queryset.select_related("project"):
            try:
                remove_member(project_id=member.project_id, membership_id=member.pk)
            except Conflict:  # of several selected together
                self.message_user(request, f"{member} was not removed: {LAST_ADMIN}.", messages.ERROR)


@admin.register(SecondFactor)
class SecondFactorAdmin(ReadOnlyAdmin):
    """Second factors: an admin can delete one whose owner has lost the app and the recovery codes."""

    list_display = ("user", "confirmed_at")
    list_select_related = ("user",)
    search_fields = ("user__username",)
    fields = ("user", "confirmed_at")
    readonly_fields = fields

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Allow it for whoever may delete rows of this table."""
        return bool(request.user.has_perm("tenants.delete_secondfactor"))

    def delete_model(self, request: HttpRequest, obj: SecondFactor) -> None:
        """Remove it; the log names who did."""
        remove_second_factor(user_id=obj.pk)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[SecondFactor]) -> None:
        """Remove those that are selected."""
        for factor in queryset:
            remove_second_factor(user_id=factor.pk)
