"""What the database itself enforces on the ledger, also in sessions that replay replication (ENABLE ALWAYS).

- An entry is written with the time of the database, and without a place in the chain.
- Its only change is to be sealed, once: `number` and `hash` are set.
- Only what the retention period has removed is deleted: sealed entries up to a checkpoint of their project, at least
  30 days old. A checkpoint is never changed or deleted.
"""

from django.db import migrations

ENFORCE = """
drop trigger ledger_append_only on memories_ledgerentry;

create function ledger_written() returns trigger language plpgsql as $$
begin
    new.created_at := clock_timestamp();
    new.number := null;
    new.hash := '';
    return new;
end $$;
create trigger ledger_written before insert on memories_ledgerentry for each row execute function ledger_written();

create function ledger_sealed() returns trigger language plpgsql as $$
begin
    if old.number is null and new.number is not null and length(new.hash) = 64
       and (new.id, new.project_id, new.actor, new.verb, new.object_kind, new.object_id, new.details, new.created_at)
         = (old.id, old.project_id, old.actor, old.verb, old.object_kind, old.object_id, old.details, old.created_at)
       and new.end_user_id is not distinct from old.end_user_id and new.trace_id is not distinct from old.trace_id
    then
        return new;
    end if;
    raise exception 'the ledger is append-only' using errcode = 'restrict_violation';
end $$;
create trigger ledger_append_only before update on memories_ledgerentry for each row execute function ledger_sealed();

create function ledger_removed() returns trigger language plpgsql as $$
begin
    if old.created_at < now() - interval '30 days' and exists (
        select from memories_ledgercheckpoint where project_id = old.project_id and number >= old.number
    ) then
        return old;
    end if;
    raise exception 'the ledger is append-only' using errcode = 'restrict_violation';
end $$;
create trigger ledger_not_deleted before delete on memories_ledgerentry for each row execute function ledger_removed();

create trigger ledger_checkpoint_append_only before update or delete on memories_ledgercheckpoint
    for each statement execute function ledger_refuses();
create trigger ledger_checkpoint_not_emptied before truncate on memories_ledgercheckpoint
    for each statement execute function ledger_refuses();

alter table memories_ledgerentry enable always trigger ledger_written;
alter table memories_ledgerentry enable always trigger ledger_append_only;
alter table memories_ledgerentry enable always trigger ledger_not_deleted;
alter table memories_ledgerentry enable always trigger ledger_not_emptied;
alter table memories_ledgercheckpoint enable always trigger ledger_checkpoint_append_only;
alter table memories_ledgercheckpoint enable always trigger ledger_checkpoint_not_emptied;
"""
RELAX = """
drop trigger ledger_checkpoint_not_emptied on memories_ledgercheckpoint;
drop trigger ledger_checkpoint_append_only on memories_ledgercheckpoint;
drop trigger ledger_not_deleted on memories_ledgerentry;
drop trigger ledger_append_only on memories_ledgerentry;
drop trigger ledger_written on memories_ledgerentry;
drop function ledger_removed();
drop function ledger_sealed();
drop function ledger_written();
create trigger ledger_append_only before update or delete on memories_ledgerentry
    for each statement execute function ledger_refuses();
alter table memories_ledgerentry enable trigger ledger_not_emptied;
"""
# An erasure deletes all memories of a user and voids the caches itself; noting each of them would take most of its time.
QUIET = """
create or replace function memory_revised() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' and current_setting('memplatform.erasing', true) = 'on' then
        return null;
    end if;
    perform memory_changed(coalesce(new.end_user_id, old.end_user_id), coalesce(new.id, old.id));
    return null;
end $$;
create or replace function vector_revised() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' and current_setting('memplatform.erasing', true) = 'on' then
        return null;
    end if;
    perform memory_changed(coalesce(new.end_user_id, old.end_user_id), coalesce(new.memory_id, old.memory_id));
    return null;
end $$;
"""
LOUD = """
create or replace function memory_revised() returns trigger language plpgsql as $$
begin
    perform memory_changed(coalesce(new.end_user_id, old.end_user_id), coalesce(new.id, old.id));
    return null;
end $$;
create or replace function vector_revised() returns trigger language plpgsql as $$
begin
    perform memory_changed(coalesce(new.end_user_id, old.end_user_id), coalesce(new.memory_id, old.memory_id));
    return null;
end $$;
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0016_erasure_and_sealed_ledger")]

    operations = [migrations.RunSQL(ENFORCE, RELAX), migrations.RunSQL(QUIET, LOUD)]
