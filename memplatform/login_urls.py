"""Addresses of logins and of one's own account. The names are allauth's, which leads from page to page by them."""

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.socialaccount import views as provider
from allauth.socialaccount.providers.openid_connect import views as openid_connect
from django.urls import path
from django.views.generic import RedirectView, TemplateView

from apps.projects.views.logins import LoginCodeView, LoginView, single_sign_on

_to_account = RedirectView.as_view(pattern_name="mfa_index")

urlpatterns = [
    path("", LoginView.as_view(), name="account_login"),
    path("code/", LoginCodeView.as_view(), name="mfa_authenticate"),
    path("inactive/", account.account_inactive, name="account_inactive"),
    path("account/", mfa.index, name="mfa_index"),
    path("account/password/", account.password_change, name="account_change_password"),
    path("account/password/new/", account.password_set, name="account_set_password"),
    path("account/confirm/", account.reauthenticate, name="account_reauthenticate"),
    path("account/confirm/code/", mfa.reauthenticate, name="mfa_reauthenticate"),
    path("account/second-factor/", totp.activate_totp, name="mfa_activate_totp"),
    path("account/second-factor/remove/", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path("account/recovery-codes/", recovery_codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path("account/recovery-codes/file/", recovery_codes.download_recovery_codes, name="mfa_download_recovery_codes"),
    path("account/recovery-codes/new/", recovery_codes.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path("single-sign-on/<str:provider_id>/", single_sign_on, name="openid_connect_login"),
    path("single-sign-on/<str:provider_id>/callback/", openid_connect.callback, name="openid_connect_callback"),
    path("cancelled/", provider.login_cancelled, name="socialaccount_login_cancelled"),
    path("failed/", provider.login_error, name="socialaccount_login_error"),
    # Where the provider does not vouch for the address of an existing account.
    path("taken/", TemplateView.as_view(template_name="socialaccount/taken.html"), name="socialaccount_signup"),
    path("account/connections/", _to_account, name="socialaccount_connections"),
    path("sign-up/", RedirectView.as_view(pattern_name="account_login"), name="account_signup"),
]
