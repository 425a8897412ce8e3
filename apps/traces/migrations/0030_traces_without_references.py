"""One check for all deleted traces and turns of a statement replaces references that are checked row by row.

PostgreSQL looks into eight tables for each deleted trace and into two for each turn, which was four fifths of the
database's work of retention. What refers to a trace is written by the statement or the worker that holds it, so that
only deletion has to be checked; the constraints themselves go in the next migrations.
"""

from django.db import migrations

CREATE = """
create function refuse_deleted_traces() returns trigger language plpgsql as $$
begin
    if exists (select from gone join traces_turn kept on kept.trace_id = gone.id)
        or exists (select from gone join traces_span kept on kept.trace_id = gone.id)
        or exists (select from gone join traces_modelcall kept on kept.trace_id = gone.id)
        or exists (select from gone join memories_memory kept on kept.trace_id = gone.id)
        or exists (select from gone join memories_memoryorigin kept on kept.trace_id = gone.id)
        or exists (select from gone join memories_memoryversion kept on kept.trace_id = gone.id)
        or exists (select from gone join memories_memorylink kept on kept.trace_id = gone.id)
    then
        raise foreign_key_violation using message = 'a row refers to a deleted trace';
    end if;
    return null;
end $$;
create function refuse_deleted_turns() returns trigger language plpgsql as $$
begin
    if exists (select from gone join memories_memoryorigin kept on kept.turn_id = gone.id) then
        raise foreign_key_violation using message = 'a memory refers to a deleted turn';
    end if;
    return null;
end $$;
create trigger traces_not_referred_to after delete on traces_trace
    referencing old table as gone for each statement execute function refuse_deleted_traces();
create trigger turns_not_referred_to after delete on traces_turn
    referencing old table as gone for each statement execute function refuse_deleted_turns();
"""
DROP = """
drop trigger traces_not_referred_to on traces_trace;
drop trigger turns_not_referred_to on traces_turn;
drop function refuse_deleted_traces();
drop function refuse_deleted_turns();
"""


class Migration(migrations.Migration):
    dependencies = [("traces", "0029_row_checks_validated"), ("memories", "0033_block_columns_revised")]

    operations = [migrations.RunSQL(CREATE, DROP)]
