"""The command line: which commands there are, and how each of them ends. Each is a file in `farref/commands/`.

A command is imported when it is asked for. So `farref --help` answers at once, and nothing is loaded that a command does not
use. That is why the one-line help of each command stands here too; a test compares it with the command's own.
"""

from __future__ import annotations

import signal
import sys
import traceback
from importlib import import_module
from typing import Any, Final

import click

from farref import __version__
from farref.terminal.exits import HARNESS, OK, UNDECIDED, USAGE
from farref.terminal.output import discard, put, remark

COMMANDS: Final = {
    "check": "Search every reachable state of a bounded world for a violation.",
    "conform": "Judge a backend: which clauses of the spec it keeps, which it breaks, and how to see that again.",
    "crashes": "Lose a worker before and after every step of some stories, and compare what is left with the spec.",
    "doctor": "Say what works on this machine, and what is lost where something is missing.",
    "evidence": "Show what a wrong protocol would have to get past: kill rates, states visited, transitions seen.",
    "explain": "Tell the story of a run that `farref check --save` or `farref fuzz --save` wrote.",
    "explore": "Walk through a world in the browser, step by step.",
    "fuzz": "Drive the model and an implementation through the same random schedules, and compare them after every step.",
    "prove": "Prove the protocols safe and live for any number of workers, references, messages and faults.",
    "replay": "Let the model and an implementation take a saved run, and compare them after every step.",
    "spec": "Explain a clause, a property, a known defect, a rule or a check of the spec, or list the clauses.",
    "top": "Show the workers of a world that runs: who waits for whom, who is stuck, and why; and whom they have lost.",
    "zoo": "Let what is wrong on purpose loose, and say which engine kills it, after how much, and how.",
}
"""Every command with its one-line help."""

READER_LEFT: Final = 128 + signal.SIGPIPE


class Commands(click.Group):
    """A group whose errors are one line on stderr, and whose commands return their exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"farref.commands.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in the help, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find a command, or say which there are."""
        if args[0] not in COMMANDS:
            ctx.fail(f"no command is called {args[0]!r}; there are {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command, and end the process."""
        extra["standalone_mode"] = False
        try:
            code = super().main(*args, **extra)
        except click.ClickException as error:
            code = _complain(error.format_message(), USAGE)
        except (KeyboardInterrupt, click.Abort):
            code = _complain("interrupted", UNDECIDED)
        except SystemExit:
            code = READER_LEFT  # click ends with 1 if nobody reads the help, and 1 is a verdict
        except OSError as error:
            discard()
            code = _complain(str(error), HARNESS)
        except Exception as error:
            code = _failed(error)
        sys.exit(code or OK)


def _complain(message: str, code: int) -> int:
    remark(" ".join(message.split()))
    return code


def _failed(error: Exception) -> int:
    """Tell of what a user can do something about in one line, and of a fault of ours at length: it is not a verdict."""
    from farref.model.checker.interface import ModelError
    from farref.properties.proof.solvers.solver import SolverMissing
    from farref.properties.work.cluster import ClusterError
    from farref.properties.work.units import WorkersLost
    from farref.tlc.engine import TlcUnavailable
    from farref.tlc.rref import TlcFailed

    if isinstance(error, TlcUnavailable | TlcFailed | ModelError | SolverMissing | ClusterError | WorkersLost):
        return _complain(str(error), HARNESS)
    traceback.print_exception(error)
    return HARNESS


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, message="farref %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> int:
    """A model-checked reference for PyTorch's RRef protocol and distributed autograd.

    \b
    farref check rref                     the sound protocol holds every property
    farref check rref --profile torch     PyTorch's rules, and how they break
    farref explain trace.json -o x.svg    draw a counterexample
    farref explore rref --profile torch --claim N1   step through it in the browser
    farref fuzz rref                      the implementation and the model agree on every step
    farref fuzz autograd                  the same for backward passes over random programs
    farref crashes                        lose each worker at each step, and see what is left
    farref prove rref                     what holds for any number of everything
    farref conform --backend torch        which clauses does a backend keep?
    farref zoo --list                     what is wrong on purpose, and who finds out
    farref spec R21                       read a clause of the spec
    farref top                            who waits for whom in a world that runs
    farref doctor                         what works on this machine

    Exit codes: 0 holds, agreed or conforms, 1 violated, disagreed or broken, 2 wrong usage, 3 something needed is missing,
    4 ended with nothing decided.
    """
    if ctx.invoked_subcommand is None:
        put(ctx.get_help())
    return USAGE
