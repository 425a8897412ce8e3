"""Rows of traces, turns and stages are checked by functions, which cost a quarter of lists in each constraint.

A new word of an enum replaces its function.
"""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

CREATE = """
create function is_valid_trace(status varchar) returns boolean language plpgsql immutable parallel safe as $$
begin
    return status in ('dead', 'done', 'extraction_failed', 'queued', 'rejected', 'rolled_back');
end $$;
create function is_valid_turn(role varchar, place int) returns boolean language plpgsql immutable parallel safe as $$
begin
    return role in ('assistant', 'system', 'tool', 'user') and place >= 0;
end $$;
create function is_valid_span(stage varchar, result varchar, place smallint, latency_us int) returns boolean
language plpgsql immutable parallel safe as $$
begin
    return stage in ('conflict', 'dedupe', 'extract', 'index', 'persist', 'pre_filter', 'resolve_refs')
        and result in ('error', 'pass', 'reject', 'transform') and place >= 0 and latency_us >= 0;
end $$;
"""
DROP = """
drop function is_valid_trace(varchar);
drop function is_valid_turn(varchar, int);
drop function is_valid_span(varchar, varchar, smallint, int);
"""


def row_check(function: str, *fields: str, name: str) -> models.CheckConstraint:
    return models.CheckConstraint(
        condition=models.Func(*fields, function=function, output_field=models.BooleanField()), name=name
    )


class Migration(migrations.Migration):
    dependencies = [("traces", "0027_counted_until_of_hours")]

    operations = [
        migrations.RunSQL(CREATE, DROP),
        AddConstraintNotValid("trace", row_check("is_valid_trace", "status", name="trace_is_valid")),
        AddConstraintNotValid("turn", row_check("is_valid_turn", "role", "position", name="turn_is_valid")),
        AddConstraintNotValid(
            "span",
            row_check("is_valid_span", "stage", "result", "position", "latency_us", name="span_is_valid"),
        ),
    ]
