"""Addresses of the console: one folder a project, one a page."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from apps.console.views import contradictions, entities, entity_merges, home, review, users

app_name = "console"
urlpatterns = [
    path("", home.home, name="home"),
    path("login/", LoginView.as_view(template_name="console/login.html"), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("<slug:slug>/", home.project, name="project"),
    path("<slug:slug>/review/", review.review, name="review"),
    path("<slug:slug>/review/approve/", review.approve, name="approve"),
    path("<slug:slug>/review/reject/", review.reject, name="reject"),
    path("<slug:slug>/review/merge/", review.merge, name="merge"),
    path("<slug:slug>/contradictions/", contradictions.contradictions, name="contradictions"),
    path("<slug:slug>/contradictions/<uuid:link_id>/", contradictions.contradiction, name="contradiction"),
    path("<slug:slug>/contradictions/<uuid:link_id>/settle/", contradictions.settle, name="settle"),
    path("<slug:slug>/undo/", review.undo, name="undo"),
    path("<slug:slug>/memories/<uuid:memory_id>/", review.memory, name="memory"),
    path("<slug:slug>/users/", users.users, name="users"),
    path("<slug:slug>/users/<uuid:user_id>/", users.user, name="user"),
    path("<slug:slug>/entities/", entities.entities, name="entities"),
    path("<slug:slug>/entities/<uuid:entity_id>/", entities.entity, name="entity"),
    path("<slug:slug>/entities/<uuid:entity_id>/merge/", entity_merges.choose, name="choose-entity"),
    path("<slug:slug>/entities/<uuid:entity_id>/merge/<uuid:into_id>/", entity_merges.merge, name="merge-entity"),
    path("<slug:slug>/entities/<uuid:entity_id>/split/", entity_merges.split, name="split-entity"),
    path("<slug:slug>/", include("apps.console.urls_running")),
]
