"""Finds and calls the program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Collection, Sequence
from pathlib import Path


class FathomError(Exception):
    """The program did not do what it was asked.

    ``exit_code`` is that of the program: 2 for a wrong job, 3 for a refusal.
    """

    def __init__(self, text: str, exit_code: int) -> None:
        super().__init__(text)
        self.exit_code = exit_code


def program() -> Path:
    """The program: ``FATHOM_PROGRAM``, or the one of this package, or the first on the path."""
    named = os.environ.get("FATHOM_PROGRAM")
    if named:
        return Path(named)
    ours = Path(sysconfig.get_path("scripts")) / "fathom"
    found = ours if ours.is_file() else shutil.which("fathom")
    if not found:
        raise FileNotFoundError("the program 'fathom' is neither beside Python nor on PATH; set FATHOM_PROGRAM")
    return Path(found)


def call(
    arguments: Sequence[str], good: Collection[int] = (0,), progress: bool = False
) -> subprocess.CompletedProcess[str]:
    """Calls the program. With ``progress`` its messages go to stderr as they come."""
    done = subprocess.run(
        [str(program()), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=None if progress else subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode not in good:
        text = (done.stderr or "").strip() or f"fathom {' '.join(arguments)}: exit code {done.returncode}"
        raise FathomError(text, done.returncode)
    return done
