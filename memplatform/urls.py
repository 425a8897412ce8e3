"""Addresses: the API, the console, the admin, and the root that sends people to it."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from memplatform.documentation import documentation

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="console:home")),
    path("", include("apps.api.urls")),
    path("console/", include("apps.console.urls")),
    # One login for both: the admin's own would ask for no second factor.
    path("admin/login/", RedirectView.as_view(pattern_name="console:login", query_string=True)),
    path("admin/", admin.site.urls),
    path("docs/", documentation, name="documentation"),
    path("docs/<path:path>", documentation, name="documentation"),
]

# Errors that never reach a view are problem documents below the API's addresses, pages elsewhere.
handler400 = "memplatform.error_handlers.bad_request"
handler403 = "memplatform.error_handlers.forbidden"
handler404 = "memplatform.error_handlers.not_found"
handler500 = "memplatform.error_handlers.server_error"
