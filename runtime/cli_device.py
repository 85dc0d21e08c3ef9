"""The commands that set a device up and look it over: warmup, doctor, serve, install-service."""

from __future__ import annotations

import argparse
from typing import Any


def add_device_commands(commands: Any) -> None:
    """Add them to the parser of `stonechat`. What they need is loaded when they run, so that `say` starts fast."""
    _add_warmup(commands)
    _add_doctor(commands)
    _add_serve(commands)
    _add_install(commands)


def _add_warmup(commands: Any) -> None:
    warmup = commands.add_parser("warmup", help="compile a voice once, so that later starts are heard sooner")
    warmup.add_argument("--model", default="default", metavar="VOICE", help="voice pack: a name or a folder")
    warmup.set_defaults(run=run_warmup)


def _add_doctor(commands: Any) -> None:
    doctor = commands.add_parser(
        "doctor", help="check this machine: memory, scheduling, sound, speed; with remedies"
    )
    doctor.add_argument("--model", default="default", metavar="VOICE", help="voice pack: a name or a folder")
    doctor.add_argument("--json", action="store_true", help="print JSON: a list of findings")
    doctor.add_argument("--quick", action="store_true", help="leave out what takes seconds to measure")
    doctor.set_defaults(run=run_doctor)


def _add_serve(commands: Any) -> None:
    serve = commands.add_parser(
        "serve",
        help="speak lines of text or JSON from a Unix socket, the most urgent first",
        epilog="""requests, one a line:
  Turn right.                                         a text, with the service's role
  {"text": "Turn right.", "role": "navigation", "id": "turn", "expires_after": 5, "interrupt": true, "speed": 1.1}
  {"cancel": "turn"}   {"cancel": true}   {"status": true}
roles, the most urgent first: emergency, warning, navigation, assistant, notification, reading
example: echo "Turn right." | nc -UN "$XDG_RUNTIME_DIR/stonechat.sock"
""",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    serve.add_argument("--model", default="default", metavar="VOICE", help="voice pack: a name or a folder")
    serve.add_argument(
        "--device", help="output device, by name or number; default: what the board's family chooses"
    )
    serve.add_argument(
        "--socket", metavar="PATH", help="default: stonechat.sock in the user's runtime folder"
    )
    serve.add_argument("--role", default="assistant", help="of prompts that name none; default: assistant")
    serve.add_argument(
        "--no-lock", action="store_true", help="leave memory to the system: it may stutter then"
    )
    serve.set_defaults(run=run_serve)


def _add_install(commands: Any) -> None:
    install = commands.add_parser(
        "install-service", help="have systemd start `stonechat serve` at boot, or at login"
    )
    install.add_argument(
        "--user", action="store_true", help="for this user, in their session; default: for the system"
    )
    install.add_argument("--dry-run", action="store_true", help="print the units instead of installing them")
    install.add_argument("--role", default="assistant", help="as for `serve`; default: assistant")
    install.set_defaults(run=run_install)


def run_serve(args: argparse.Namespace) -> None:
    """`stonechat serve`."""
    from .serve_run import ServeOptions, serve

    serve(ServeOptions(args.model, args.device, args.socket, args.role, not args.no_lock))


def run_install(args: argparse.Namespace) -> None:
    """`stonechat install-service`."""
    from .serve_install import install, units

    made = units(args.user, args.role)
    if args.dry_run:
        for name, text in made.items():
            print(f"# {name}\n{text}")
        return
    for line in install(made, args.user):
        print(line)


def run_warmup(args: argparse.Namespace) -> None:
    """`stonechat warmup`."""
    from .warmup import warm_up

    warmth = warm_up(args.model)
    if warmth.kept_bytes:
        print(f"kept {warmth.kept_bytes / 1e6:.1f} MB of compiled graphs in {warmth.folder}")
    print(f"a process is now heard {warmth.start_s:.2f} s after its start")


def run_doctor(args: argparse.Namespace) -> None:
    """`stonechat doctor`: exit status 1 where something would keep it from speaking well."""
    from .doctor import examine, to_json, to_text

    findings = examine(args.model, quick=args.quick)
    print(to_json(findings) if args.json else to_text(findings))
    if any(finding.verdict == "fail" for finding in findings):
        raise SystemExit(1)
