"""Django's admin, which shows the rows of all projects to people whom its own permissions let in."""

from functools import wraps
from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.template.response import SimpleTemplateResponse

from apps.tenants.system_scope import SystemWork, system_scope


class AllProjectsSite(AdminSite):
    """The admin; its pages are for operators, not for members of projects."""

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Let a view see all projects, once the admin has checked that the person may enter."""

        @wraps(view)
        def with_all_projects(request: HttpRequest, *args: Any, **options: Any) -> Any:
            with system_scope(SystemWork.ADMIN):
                response = view(request, *args, **options)
                # Otherwise it would be rendered, and read its rows, after the scope has ended.
                return response.render() if isinstance(response, SimpleTemplateResponse) else response

        return super().admin_view(with_all_projects, cacheable)
