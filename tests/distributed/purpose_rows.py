"""Run one row of purposes.toml as agents, a reviewer and a worker do, in a new project."""

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from apps.actions.keys.create_key import create_key
from apps.actions.projects.configure import configure
from apps.actions.projects.create_project import create_project
from apps.pipeline.core.enums import MemberRole, MemorySharing, Scope
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.policy import ExtractionPolicy, Policy, SharingPolicy
from apps.providers import registry
from apps.tenants.models import Membership, Project
from apps.tenants.scope import tenant_scope
from benchmarks.model_server import ModelServer
from tests.journeys.purpose_runner import PurposeRunner
from tests.journeys.scripted_answers import Row

_WITHOUT_MODEL = settings.MODEL


def run_row(row: Row, server: ModelServer) -> list[str]:
    """Run a row, and return what was found to be otherwise than it says."""
    is_by_model = row.get("by", "patterns") == "model"
    settings.MODEL = row.get("model", "anthropic:claude-haiku-4-5") if is_by_model else _WITHOUT_MODEL
    settings.ANTHROPIC_API_KEY = settings.OPENAI_API_KEY = "a key of this test"
    settings.ANTHROPIC_BASE_URL, settings.OPENAI_BASE_URL = server.url, f"{server.url}/v1"
    registry.forget_models()
    project = create_project(name=row["id"], slug=f"purpose-{new_id().hex}")
    with tenant_scope(project_id=project.id):
        sharing = SharingPolicy(memory_sharing=row.get("sharing", MemorySharing.SHARED))
        policy = Policy(extraction=ExtractionPolicy(min_session_turns=1, review_seen_sessions=True), sharing=sharing)
        configure(project_id=project.id, policy=policy)
        key = create_key(project_id=project.id, name="agent", scopes=[Scope.READ, Scope.WRITE])
        reviewer = _reviewer_of(project)
    api = APIClient(headers={"authorization": f"Bearer {key.text}"})
    api.default_format = "json"
    return PurposeRunner(row, project, api, reviewer, server if is_by_model else None).run()


def _reviewer_of(project: Project) -> Client:
    user = User.objects.create_user(f"rita-{new_id().hex}")
    Membership.objects.create(user=user, project=project, role=MemberRole.ADMIN)
    client = Client(headers={"HX-Request": "true"})
    client.force_login(user)
    return client
