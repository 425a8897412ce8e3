r"""Functions of generated columns name what they call when they are created, so that a dump can be restored.

`pg_restore` works with an empty search path. A body that is a text looks up its functions at each call, and there it
finds none of ours; one in the form of standard SQL is bound to them once, in whichever schema they are.

A revision is recognised as raised by this transaction only where the row itself was written by it: the numbers of
transactions begin anew on another server, so that a restored row may hold the number of a transaction to come.
"""

from django.db import migrations

HEAD = "create or replace function {signature} language sql immutable parallel safe "
WORDS_OF = "words_of(tongue int, given text) returns tsvector"
MEMORY_TERMS = "memory_terms(tongue int, given text) returns bytea"
CONTENT_TERMS = "content_terms(tongue int, content text, predicate text, source_tongue int, quote text) returns bytea"
BODIES = {
    WORDS_OF: r"""to_tsvector(
        tongue_configuration(tongue),
        regexp_replace(left(given, 20000), '([\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff])', ' \1 ', 'g'))""",
    MEMORY_TERMS: """(
        select coalesce(string_agg(term_of(tongue, word.lexeme), ''), '')
        from unnest(words_of(tongue, given)) as word cross join lateral unnest(word.positions))""",
    CONTENT_TERMS: """memory_terms(tongue, content || ' ' || replace(predicate, '_', ' '))
        || case when source_tongue <> tongue then memory_terms(source_tongue, quote) else '' end""",
}
BIND = [HEAD.format(signature=signature) + f"return {body}" for signature, body in BODIES.items()]
LOOK_UP = [HEAD.format(signature=signature) + f"as $$ select {body} $$" for signature, body in BODIES.items()]

RAISED_BY = """
create or replace function memory_changed(owner uuid, memory uuid) returns void language plpgsql as $$
declare
    mine bigint := pg_current_xact_id()::text::bigint;
    revised bigint;
begin
    select number into revised from memories_memoryrevision where end_user_id = owner and {is_mine};
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
"""
BY_ROW = RAISED_BY.format(is_mine="transaction = mine and xmin = pg_current_xact_id()::xid")
BY_NUMBER = RAISED_BY.format(is_mine="transaction = mine")


class Migration(migrations.Migration):
    dependencies = [("memories", "0031_live_once_by_agent")]

    operations = [
        *(migrations.RunSQL(bind, look_up) for bind, look_up in zip(BIND, LOOK_UP, strict=True)),
        migrations.RunSQL(BY_ROW, BY_NUMBER),
    ]
