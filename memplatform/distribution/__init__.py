"""Distribution of the database over several servers with Citus: what goes where, and the statements that do it.

docs/scale.md describes it for operators. `layout.py` and `plan.py` are pure; `catalog.py` reads, `distribute.py`
executes.
"""
