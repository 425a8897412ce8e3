from django.db import migrations

REFUSE = """
create function ledger_refuses() returns trigger language plpgsql as $$
begin
    raise exception 'the ledger is append-only' using errcode = 'restrict_violation';
end $$;
create trigger ledger_append_only before update or delete on memories_ledgerentry
    for each statement execute function ledger_refuses();
"""
ALLOW = """
drop trigger ledger_append_only on memories_ledgerentry;
drop function ledger_refuses();
"""


class Migration(migrations.Migration):
    """The database itself keeps the ledger append-only, whoever asks."""

    dependencies = [("memories", "0002_what_we_keep")]
    operations = [migrations.RunSQL(REFUSE, ALLOW)]
