-- The language of a memory is kept with it: the declared one, else that of its text, of its context, else English, or
-- none (0) where a word in small letters has a letter that English lacks.
create function keep_tongue() returns trigger
    language plpgsql
as $$
begin
    new.tongue := coalesce(
        tongue_declared(new.language), tongue_heard(new.content),
        case when new.trace_id is null then tongue_heard(new.context) end,
        case when new.content ~ '\m[a-zß-ɏ]*[ß-öø-ɏ]' then 0 else 1 end);
    new.source_tongue := coalesce(tongue_heard(new.evidence), tongue_heard(new.context), new.tongue);
    return new;
end $$;

create trigger memory_tongue_kept before insert or update of language, content, context, evidence on memories_memory
    for each row execute function keep_tongue();

-- GIN finds the memories of many that share a term with a query.
create index memory_by_terms on memories_memory using gin (term_numbers(terms));

-- Vectors stay in the row up to this size, since every search reads them.
alter table memories_memoryvector set (toast_tuple_target = 8160);

-- The ledger is append-only: an entry is sealed once, and removed when it is older than 30 days and below a checkpoint.
create function ledger_refuses() returns trigger
    language plpgsql
as $$
begin
    raise exception 'the ledger is append-only' using errcode = 'restrict_violation';
end $$;

create function ledger_removed() returns trigger
    language plpgsql
as $$
begin
    if old.created_at < now() - interval '30 days' and exists (
        select from memories_ledgercheckpoint where project_id = old.project_id and number >= old.number
    ) then
        return old;
    end if;
    raise exception 'the ledger is append-only' using errcode = 'restrict_violation';
end $$;

create function ledger_sealed() returns trigger
    language plpgsql
as $$
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

create function ledger_written() returns trigger
    language plpgsql
as $$
begin
    new.created_at := clock_timestamp();
    new.number := null;
    new.hash := '';
    return new;
end $$;

create trigger ledger_append_only before update on memories_ledgerentry
    for each row execute function ledger_sealed();
create trigger ledger_checkpoint_append_only before delete or update on memories_ledgercheckpoint
    for each statement execute function ledger_refuses();
create trigger ledger_checkpoint_not_emptied before truncate on memories_ledgercheckpoint
    for each statement execute function ledger_refuses();
create trigger ledger_not_deleted before delete on memories_ledgerentry
    for each row execute function ledger_removed();
create trigger ledger_not_emptied before truncate on memories_ledgerentry
    for each statement execute function ledger_refuses();
create trigger ledger_written before insert on memories_ledgerentry for each row execute function ledger_written();

-- Also for what a replication writes.
alter table memories_ledgerentry
    enable always trigger ledger_append_only, enable always trigger ledger_not_deleted,
    enable always trigger ledger_not_emptied, enable always trigger ledger_written;
alter table memories_ledgercheckpoint
    enable always trigger ledger_checkpoint_append_only, enable always trigger ledger_checkpoint_not_emptied;
