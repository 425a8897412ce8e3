"""Run the commands and tasks of operators on a distributed database, and print what came of each as JSON.

Run by test_operations_distributed.py in a process of its own, whose DATABASE_URL names the database.
"""

import json
import os
import traceback

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")
    django.setup()
    from tests.distributed.operation_steps import steps

    told: dict[str, object] = {}
    for step in steps():
        try:
            told[step.__name__] = step()
        except Exception:  # noqa: BLE001  (printed, the following steps are tried as well)
            told[step.__name__] = traceback.format_exc()[-1_500:]
    print(json.dumps(told))


if __name__ == "__main__":
    main()
