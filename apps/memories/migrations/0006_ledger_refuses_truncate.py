from django.db import migrations

REFUSE = """
create trigger ledger_not_emptied before truncate on memories_ledgerentry
    for each statement execute function ledger_refuses();
"""
ALLOW = "drop trigger ledger_not_emptied on memories_ledgerentry;"


class Migration(migrations.Migration):
    """Nor is the ledger emptied as a whole."""

    dependencies = [("memories", "0005_one_row_of_vectors")]
    operations = [migrations.RunSQL(REFUSE, ALLOW)]
