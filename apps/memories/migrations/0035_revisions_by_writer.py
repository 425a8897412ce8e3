"""Revisions are raised by the writer of memories (apps/memories/writing/revisions.py), no longer by triggers.

A trigger that writes to another table can't run where the tables are split over several servers. One statement per
transaction also costs less than one call per row. `transaction` is no longer read.
"""

import importlib

from django.db import migrations, models

_bound = importlib.import_module("apps.memories.migrations.0032_bound_functions")
_columns = importlib.import_module("apps.memories.migrations.0033_block_columns_revised")
_ledger = importlib.import_module("apps.memories.migrations.0017_ledger_rules")

DROP = """
drop trigger memory_revised on memories_memory;
drop trigger vector_revised on memories_memoryvector;
drop function memory_revised();
drop function vector_revised();
drop function memory_changed(uuid, uuid);
"""
CREATE = (
    _bound.BY_ROW
    + _ledger.QUIET
    + _columns.REVISED.format(more=", type, tags, event_at").replace(
        "drop trigger memory_revised on memories_memory;", ""
    )
    + """
create constraint trigger vector_revised after insert or delete or update on memories_memoryvector
    deferrable initially deferred for each row execute function vector_revised();
"""
)


class Migration(migrations.Migration):
    dependencies = [("memories", "0034_no_constraints_on_traces")]

    operations = [
        migrations.RunSQL(DROP, CREATE),
        migrations.AlterField(
            model_name="memoryrevision",
            name="transaction",
            field=models.BigIntegerField(default=0, help_text="no longer read"),
        ),
    ]
