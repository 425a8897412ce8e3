"""Which memories of an end user changed in which revision, so that a process reads again only these.

A revision is now a number that rises in the order of commits: it is drawn while the end user's row is locked, and each
writer waits there for the other's commit. A sequence gives it, above all former numbers (those of transactions), so
that none comes again even where a row was deleted. The first row that a transaction has changed raises it for all.
"""

import django.db.models.deletion
from django.db import migrations, models

CREATE = """
create sequence memories_revision;
select setval('memories_revision', pg_current_xact_id()::text::bigint);

create function memory_changed(owner uuid, memory uuid) returns void language plpgsql as $$
declare
    mine bigint := pg_current_xact_id()::text::bigint;
    revised bigint;
begin
    select number into revised from memories_memoryrevision where end_user_id = owner and transaction = mine;
    if not found then
        insert into memories_memoryrevision as known (end_user_id, number, transaction)
        values (owner, nextval('memories_revision'), mine)
        on conflict (end_user_id) do update
            set number = nextval('memories_revision'), transaction = excluded.transaction
        returning number into revised;
    end if;
    insert into memories_memorychange as known (id, end_user_id, number) values (memory, owner, revised)
    on conflict (id) do update set number = excluded.number where known.number <> excluded.number;
end $$;

create or replace function memory_revised() returns trigger language plpgsql as $$
begin
    perform memory_changed(coalesce(new.end_user_id, old.end_user_id), coalesce(new.id, old.id));
    return null;
end $$;
create function vector_revised() returns trigger language plpgsql as $$
begin
    perform memory_changed(coalesce(new.end_user_id, old.end_user_id), coalesce(new.memory_id, old.memory_id));
    return null;
end $$;
drop trigger vector_revised on memories_memoryvector;
create constraint trigger vector_revised after insert or delete or update on memories_memoryvector
    deferrable initially deferred for each row execute function vector_revised();
"""
PUT_BACK = """
create or replace function memory_revised() returns trigger language plpgsql as $$
begin
    insert into memories_memoryrevision as known (end_user_id, number)
    values (coalesce(new.end_user_id, old.end_user_id), pg_current_xact_id()::text::bigint)
    on conflict (end_user_id) do update set number = excluded.number where known.number <> excluded.number;
    return null;
end $$;
drop trigger vector_revised on memories_memoryvector;
create constraint trigger vector_revised after insert or delete or update on memories_memoryvector
    deferrable initially deferred for each row execute function memory_revised();
drop function vector_revised();
drop function memory_changed(uuid, uuid);
drop sequence memories_revision;
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0010_revisions")]

    operations = [
        migrations.AddField(
            model_name="memoryrevision",
            name="transaction",
            field=models.BigIntegerField(default=0, help_text="the last that raised it"),
        ),
        migrations.AlterField(
            model_name="memoryrevision",
            name="number",
            field=models.BigIntegerField(help_text="higher with each transaction, in the order of commits"),
        ),
        migrations.CreateModel(
            name="MemoryChange",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                (
                    "end_user",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="tenants.enduser",
                    ),
                ),
                ("number", models.BigIntegerField(help_text="of the end user's revision")),
            ],
            options={
                "ordering": ("end_user", "-number"),
                "indexes": [models.Index(fields=["end_user", "number"], name="change_by_number")],
            },
        ),
        migrations.RunSQL(CREATE, PUT_BACK),
    ]
