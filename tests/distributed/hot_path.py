"""Do what requests and workers do in a distributed database, and print which statements touch several shards.

Run by test_hot_path.py in a process of its own, whose DATABASE_URL names that database; prints JSON.
"""

import json
import os
import sys

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")
    django.setup()
    from tests.distributed.hot_path_steps import steps
    from tests.distributed.shards import shards_watched

    found = []
    for name, step in steps():
        error = ""
        with shards_watched(sys.argv[1]) as watch:
            try:
                step()
            except Exception as raised:  # noqa: BLE001  (printed, the following steps are tried as well)
                error = f"{type(raised).__name__}: {raised}"
        several = [[each.shards, each.sql] for each in watch.over_several_shards()]
        refused = [[each.refusal, each.sql] for each in watch.refused()]
        found.append(
            {"step": name, "statements": len(watch.seen), "several": several, "refused": refused, "error": error}
        )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
