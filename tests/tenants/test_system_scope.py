"""Who may see the rows of all projects: every call of `system_scope` is listed here, with its reason."""

import re
from pathlib import Path

from apps.tenants.system_scope import SystemWork

ROOT = Path(__file__).resolve().parents[2]
CALL = re.compile(r"\bsystem_scope\(([^)]*)\)")

ALLOWED = {
    "apps/alerts/messages.py": ["SCHEDULE"],
    "apps/alerts/services.py": ["SCHEDULE"],
    "apps/alerts/verdict.py": ["HEALTH"],
    "apps/tuning/evaluation/samples.py": ["SCHEDULE"],
    "apps/imports/services.py": ["SCHEDULE", "SCHEDULE"],
    "apps/projects/invitations.py": ["INVITATION_LOOKUP"],
    "apps/memories/ledger/chain.py": ["LEDGER", "LEDGER"],
    "apps/tenants/command_arguments.py": ["PROJECT_LOOKUP", "PROJECT_LOOKUP"],
    "apps/memories/services/count_accesses.py": ["SCHEDULE"],
    "apps/memories/services/lifecycle.py": ["SCHEDULE"],
    "apps/memories/services/indexing.py": ["MAINTENANCE", "MAINTENANCE", "MAINTENANCE"],
    "apps/outbox/leased.py": ["SCHEDULE"],
    "apps/projects/services.py": ["PROJECT_CREATION"],
    "apps/queue/prune.py": ["SCHEDULE"],
    "apps/tuning/replays/services.py": ["SCHEDULE"],
    "apps/tuning/rollbacks/services.py": ["SCHEDULE"],
    "apps/tuning/rules.py": ["SCHEDULE"],
    "apps/intake/sessions.py": ["SCHEDULE"],
    "apps/privacy/apply_retention.py": ["SCHEDULE", "RETENTION"],
    "apps/traces/milestones.py": ["WAITING_CALLERS"],
    "apps/traces/tallies.py": ["SCHEDULE"],
    "apps/privacy/users.py": ["SCHEDULE"],
    "apps/webhooks/delivery.py": ["SCHEDULE"],
    "apps/webhooks/services.py": ["WAITING_CALLERS"],
    "apps/health/metrics.py": ["HEALTH"],
    "apps/console/permissions.py": ["PROJECT_LOOKUP", "PROJECT_LOOKUP"],
    "apps/events/record.py": ["SCHEDULE"],
    "apps/tenants/keys.py": ["KEY_LOOKUP"],
    "apps/worker/work.py": ["QUEUE"] * 5,
    "memplatform/demo/access.py": ["PROJECT_LOOKUP"],
    "memplatform/admin_site.py": ["ADMIN"],
    "memplatform/management/commands/check_workers.py": ["HEALTH"],
    "memplatform/management/commands/check_restore.py": ["MAINTENANCE", "MAINTENANCE"],
}
# Where scopes are made: nobody else enters one by another way, or is its owner.
MAKERS = {
    "apps/tenants/scope.py",
    "apps/tenants/system_scope.py",
    "apps/memories/writing/revisions.py",  # enters the scope again in which changes were noted
    "memplatform/management/commands/migrate.py",
}
BYPASSES = re.compile(r"\b(entered|OWNER|SYSTEM|set_default_scope|SYSTEM_ROLE)\b")


def sources() -> dict[str, str]:
    files = (file for part in ("apps", "memplatform") for file in (ROOT / part).rglob("*.py"))
    return {str(file.relative_to(ROOT)): file.read_text() for file in files}


def test_every_caller_is_listed() -> None:
    found = {
        name: [reason.removeprefix("SystemWork.") for reason in CALL.findall(text)]
        for name, text in sources().items()
        if name != "apps/tenants/system_scope.py" and CALL.search(text)
    }

    assert found == ALLOWED


def test_every_reason_is_in_use() -> None:
    assert {reason for reasons in ALLOWED.values() for reason in reasons} == set(SystemWork.__members__)


def test_there_is_no_other_way() -> None:
    importers = {
        name
        for name, text in sources().items()
        for line in re.findall(r"from apps\.tenants\.scope import \(?([^)\n]*)", text)
        if BYPASSES.search(line)
    }

    making_roles = {"row_security.py", "database_roles.py", "embedded/__init__.py"}
    assert importers <= MAKERS | {f"memplatform/{each}" for each in making_roles}
