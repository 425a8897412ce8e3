from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    """Services of projects, members, keys and logins; the models are in apps.tenants."""

    name = "apps.projects"
