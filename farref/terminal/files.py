"""Files that commands read and write."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click
import msgspec

from farref.terminal.output import put, remark


def print_json(content: object) -> None:
    """Print something for machines."""
    put(msgspec.json.format(msgspec.json.encode(content), indent=1).decode())


def refuse_place(path: str | None) -> None:
    """Refuse to begin what could not be kept."""
    if path is not None and not Path(path).exists() and not os.access(Path(path).absolute().parent, os.W_OK | os.X_OK):
        raise click.UsageError(f"{path} cannot be written: no such folder, or not one that can be written to")


def refuse_other_than_page(path: str | None) -> None:
    """Refuse to write a page to a file that no browser takes for one."""
    if path is not None and not path.lower().endswith((".html", ".htm")):
        raise click.UsageError(f"-o writes a page, and {path} does not end in .html")


def write(path: str, content: bytes, what: str) -> None:
    """Write a file, and say so."""
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror}") from error
    remark(f"the {what} was written to {path}")


def replace(path: str, content: bytes, what: str) -> None:
    """Write a file as a whole or not at all, so that what was there before is never lost half-way, and say so."""
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        write(path, content, what)  # as a pipe, which cannot be replaced
        return
    try:
        _replace(place, content)
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror}") from error
    remark(f"the {what} was written to {path}")


def _replace(place: Path, content: bytes) -> None:
    mode = place.stat().st_mode if place.exists() else 0o666 & ~_umask()
    with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f".{place.name}.", delete=False) as file:
        try:
            file.write(content)
            file.close()
            os.chmod(file.name, mode)
            os.replace(file.name, place)
        except BaseException:
            os.unlink(file.name)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read(path: str) -> bytes:
    """Read a file whole."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise click.UsageError(f"{path} cannot be read: {error.strerror}") from error
