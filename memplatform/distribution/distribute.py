"""Execute the plan of a distribution, in one transaction: a failure leaves the database as it was."""

from collections.abc import Iterable, Iterator

from django.db import connection, transaction
from psycopg import sql

from apps.tenants.scope import APP_ROLE, SYSTEM_ROLE
from memplatform.database_roles import ensure_login
from memplatform.distribution.catalog import has_citus, read_schema
from memplatform.distribution.layout import Place, layout
from memplatform.distribution.plan import CannotDistribute, Plan, plan_distribution
from memplatform.row_security import apply_row_security

SHARDS = 32  # of a split table; no more servers than this can share it

_WORKERS = "select count(*) from pg_dist_node where isactive and noderole = 'primary' and shouldhaveshards"
# Tables refer to each other, so that their parts are moved one after the other; and triggers that look at their row
# alone may run where the row is.
_SETTINGS = (
    "set local citus.multi_shard_modify_mode = 'sequential'",
    "set local citus.enable_unsafe_triggers = on",
    "set local citus.shard_replication_factor = 1",
)


def plan_of_database(*, shards: int = SHARDS) -> tuple[Plan, dict[str, Place]]:
    """Return what is left to do in the database, and where each table goes. Raises CannotDistribute."""
    if not has_citus():
        raise CannotDistribute("the extension citus is not installed in this database")
    with connection.cursor() as cursor:
        cursor.execute(_WORKERS)
        if not cursor.fetchone()[0]:
            raise CannotDistribute("no server is registered that may hold rows: see citus_add_node()")
    schema = read_schema()
    places = layout(schema)
    return plan_distribution(schema=schema, places=places, shards=shards), places


def distribute(*, plan: Plan) -> None:
    """Carry out a plan and apply row-level security; to be run as the owner."""
    with transaction.atomic():
        _run(_SETTINGS)
        _run(_role_settings())
        _run(step.statement for step in plan.steps)
        apply_row_security()


def _role_settings() -> Iterator[str]:
    """Let both roles log in, as servers call each other by them, and let policies look up end users where rows are."""
    name = sql.Identifier(str(connection.settings_dict["NAME"])).as_string()
    for role in (APP_ROLE, SYSTEM_ROLE):
        ensure_login(role)
        yield f"alter role {role} in database {name} set citus.allow_nested_distributed_execution = on"
    yield f"alter database {name} set citus.propagate_set_commands = 'local'"
    # An erasure writes to many parts and to a copied table in one transaction; that takes one connection to a server.
    yield f"alter database {name} set citus.multi_shard_modify_mode = 'sequential'"


def _run(statements: Iterable[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
