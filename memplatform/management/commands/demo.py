"""Run a demo with a sample conversation."""

import os
import signal
import sys
from argparse import ArgumentParser
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from rich.console import Console

from apps.traces.tallies import tally
from memplatform import processes
from memplatform.demo.access import ensure_access
from memplatform.demo.client import Client, DemoFailed
from memplatform.demo.conversation import answer_the_sample, await_work, end_answers, post_sample
from memplatform.demo.report import gather, print_addresses, print_invitation, print_result
from memplatform.demo.services import SIGNALS, running_services
from memplatform.demo.visitor import DEMO, go_on_as_visitor
from memplatform.settings import DATA_DIR, env

PAGE_WIDTH = 120  # characters, if the output is not a terminal
INTERRUPTED = 130  # the exit status of a shell after Ctrl-C


class Command(BaseCommand):
    help = "Start a server and workers, send a sample conversation over HTTP, print the result, and keep running."
    requires_system_checks: list[str] = []  # as in `cluster`; the server loads the URLs

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="exit after printing the result")
        parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result to a file")
        parser.add_argument("--port", type=int, default=env.int("WEB_PORT", default=8000), help="first port to try")

    def handle(self, *args: Any, **options: Any) -> None:
        console = Console(highlight=False)
        if not console.is_terminal:
            console.width = PAGE_WIDTH
        running = processes.find(DEMO)
        if running is not None:
            told = f"a demo is already running in this folder (process {running.pid}); stop it with make stop"
            raise CommandError(told)
        for number in SIGNALS:
            signal.signal(number, signal.default_int_handler)
        processes.record(name=DEMO, pid=os.getpid())
        try:
            self._run(options, console)
        except DemoFailed as failed:
            raise CommandError(str(failed)) from failed
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None
        finally:
            processes.forget(DEMO)

    def _run(self, options: dict[str, Any], console: Console) -> None:
        """Send the sample, wait for processing, print and write the result, and go on with the visitor."""
        call_command("migrate", verbosity=0, interactive=False)
        access = ensure_access()
        with running_services(wanted_port=options["port"]) as services:
            address, client = services.address, Client(services.address, access.key)
            (DATA_DIR / "demo-url").write_text(address)  # for the examples of the documentation
            if not address.endswith(f":{options['port']}"):
                console.print(f"Port {options['port']} is in use; serving at {address}.")
            answer_the_sample(access.project_id)
            posted = post_sample(client)
            known = " (already known from an earlier run)" if posted.repeated == posted.sessions else ""
            console.print(f"Sent {posted.turns} turns in {posted.sessions} sessions to {address}/v1/turns{known}.")
            with console.status("Processing…"):
                await_work(client, services, posted)
                end_answers(access.project_id)
                tally(settled_after=timedelta())  # normally done every minute; now, so that the dashboard has data
            result = gather(client, posted, access.project_id)
            connections.close_all()
            if options["json"] is not None:
                options["json"].write_bytes(msgspec.json.encode(result))
            print_result(result, console)
            print_addresses(address, access, console)
            print_invitation(console)
            if options["once"]:
                return
            console.print("Press Ctrl-C to stop. The data is kept; `make reset` deletes it.")
            sys.stdout.flush()
            go_on_as_visitor(services)
