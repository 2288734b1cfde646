"""Options in groups: the help of a command with many of them is a few short lists, not a long one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]

OUTPUT: Final = "Output"
"""The last group, and that of every option that names no other."""

SUBJECTS_HELP: Final = {
    "rref": "RRefs: counting the references to an object that lives in another process.",
    "autograd": "Distributed autograd: a backward pass that crosses processes.",
    "threads": "The threads of one worker of the implementation: who reads, who stands by, who wakes whom.",
}
"""Everything that is checked. The protocols are the first two."""

PROTOCOLS_ONLY: Final = ("rref", "autograd")


class GroupedOption(click.Option):
    """An option that belongs to a group."""

    def __init__(self, *names: Any, group: str = OUTPUT, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.group = group


class GroupedCommand(click.Command):
    """A command on a SUBJECT, whose help lists the subjects and then its options by group."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists."""
        with formatter.section("Subjects"):
            formatter.write_dl([(name, SUBJECTS_HELP[name]) for name in _subjects(self)])
        groups: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            record = None if isinstance(one, click.Argument) else one.get_help_record(ctx)
            if record is not None:
                groups.setdefault(getattr(one, "group", OUTPUT), []).append(record)
        for title in sorted(groups, key=lambda title: title == OUTPUT):  # the others stay in their order
            with formatter.section(title):
                formatter.write_dl(groups[title])


def _subjects(command: click.Command) -> Sequence[str]:
    [choice] = [one.type for one in command.params if one.name == "subject"]
    assert isinstance(choice, click.Choice)
    return choice.choices


def option(group: str, *names: str, **settings: Any) -> Decorator:
    """Make an option of a group."""
    return click.option(*names, cls=GroupedOption, group=group, **settings)


def with_options(command: Command, options: Iterable[Decorator]) -> Command:
    """Add options to a command, in this order."""
    for one in reversed(list(options)):
        command = one(command)
    return command


def format_option(*forms: str) -> Decorator:
    """Make the option that says how the result is printed; the first form is the default."""
    text = f"Format of the result. Default {forms[0]}."
    return option(OUTPUT, "--format", "form", type=click.Choice(forms), default=forms[0], help=text)


def quiet_option(command: Command) -> Command:
    """Add the flag that switches progress off."""
    return with_options(command, [option(OUTPUT, "--quiet", is_flag=True, help="Print no progress on stderr.")])


def junit_option(command: Command) -> Command:
    """Add the option that also writes the result for a build server."""
    text = "Also write the result to this file as JUnit XML, for a build server."
    return option(OUTPUT, "--junit", type=click.Path(dir_okay=False), metavar="FILE", help=text)(command)  # type: ignore[no-any-return]


def subject_argument(command: Command) -> Command:
    """Add the argument that names what is checked."""
    return click.argument("subject", type=click.Choice(list(SUBJECTS_HELP)), metavar="SUBJECT")(command)


def protocol_argument(command: Command) -> Command:
    """Add the argument that names a protocol."""
    return click.argument("subject", type=click.Choice(PROTOCOLS_ONLY), metavar="SUBJECT")(command)
