"""Results: records of runs, and what the program says of them."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from ._program import FathomError, call

if TYPE_CHECKING:
    import pandas
    import pyarrow

#: A cell of a table. ``None``: not known.
Cell = Union[str, int, float, None]
#: A path, as text or object.
AnyPath = Union[str, "os.PathLike[str]"]
#: A document, as ``json`` reads it.
Document = dict[str, Any]

# Ended with results: good, with I/O errors, a condition not met, interrupted.
_WITH_RESULTS = (0, 1, 4, 130)
# Columns that are text in every row, even where it looks like a number.
_TEXT = {"run", "cell", "job", "direction", "latency"}


class Rows(list[dict[str, Cell]]):
    """Rows of a table: a list of dictionaries with the same keys."""

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a data frame. Needs pandas."""
        import pandas

        return pandas.DataFrame(list(self))

    def to_arrow(self) -> pyarrow.Table:
        """The rows as an Arrow table. Needs pyarrow."""
        import pyarrow

        return pyarrow.Table.from_pylist(list(self))


@dataclass(frozen=True)
class Verdict:
    """What limited a job."""

    #: Name of the job.
    job: str
    #: ``device``, ``CPU``, ``cache`` … or ``unknown``.
    limit: str
    #: ``high``, ``medium`` or ``low``.
    confidence: str
    #: The measurements that show it.
    because: str
    #: What the figures are valid for, and what not.
    use_for: str


@dataclass(frozen=True)
class Finding:
    """What a check found in a run."""

    #: Id of the check, as in the guide.
    check: str
    #: ``note``, ``warning`` or ``error``.
    severity: str
    #: What was found.
    text: str
    #: The usual cause.
    cause: str
    #: What to do about it.
    cure: str
    #: Names of the jobs it is about.
    jobs: list[str] = field(default_factory=list)


class Result:
    """One run, or the runs of one command: repeats, a sweep, a test."""

    def __init__(self, records: Sequence[Document], reports: Sequence[Document], exit_code: int = 0) -> None:
        #: The complete records, one a run.
        self.records: list[Document] = list(records)
        #: The reports, one a run: fio's JSON with the program's verdicts under ``fathom``.
        self.reports: list[Document] = list(reports)
        #: Exit code of the run: 0, 1 (I/O errors), 4 (a condition was not met), 130 (interrupted).
        self.exit_code = exit_code

    @property
    def verdicts(self) -> list[Verdict]:
        """What limited each job of each run."""
        rows = [row for report in self.reports for row in report["fathom"]["verdicts"]]
        return [Verdict(**{name: row[name] for name in Verdict.__dataclass_fields__}) for row in rows]

    @property
    def findings(self) -> list[Finding]:
        """What the checks found in each run."""
        rows = [row for report in self.reports for row in report["fathom"]["findings"]]
        return [
            Finding(row["check"], row["severity"], row["text"], row["cause"], row["cure"], list(row["jobs"]))
            for row in rows
        ]

    def latencies(self) -> Rows:
        """Percentiles of the latencies of each job, in nanoseconds, with their 95 % intervals."""
        return self._table("percentiles")

    def intervals(self) -> Rows:
        """The run over time: rates and latencies of each worker in each interval."""
        return self._table("intervals")

    def save(self, path: AnyPath) -> None:
        """Writes the records as a file that ``load`` and the program read."""
        one = self.records[0] if len(self.records) == 1 else self._set()
        Path(path).write_text(json.dumps(one), encoding="utf-8")

    def _set(self) -> Document:
        head = {key: self.records[0][key] for key in ("schema", "fathom_version")}
        return {**head, "kind": "repeat", "seed": 0, "runs": self.records}

    def _table(self, what: str) -> Rows:
        with tempfile.TemporaryDirectory() as scratch:
            records, table = Path(scratch, "records.json"), Path(scratch, "table.csv")
            self.save(records)
            call(["runs", "export", str(records), "--what", what, "-o", str(table)])
            with table.open(newline="", encoding="utf-8") as lines:
                return Rows({name: _cell(name, text) for name, text in row.items()} for row in csv.DictReader(lines))

    def __repr__(self) -> str:
        limits = ", ".join(f"{verdict.job}: {verdict.limit}" for verdict in self.verdicts)
        return f"<fathom.Result of {len(self.records)} run{'s' if len(self.records) != 1 else ''}; {limits}>"


def run(*jobs: AnyPath, arguments: Sequence[str] = (), progress: bool = False, **options: object) -> Result:
    """Runs jobs from files or options, those of fio, and returns their results.

    ``run("job.fio", bs="16k")`` is ``fathom run job.fio --bs=16k``. An option that is ``True`` is given as 1, one that is
    ``False`` as 0. ``arguments`` are passed as they are: ``arguments=["--allow-destroy=/dev/NAME"]``. With ``progress`` the
    messages of the program go to stderr. Raises :class:`FathomError` where the job is wrong or refused.
    """
    # Options stand before the files only in jobs without any.
    words = [os.fspath(job) for job in jobs] + [f"--{name}={_spelled(value)}" for name, value in options.items()]
    with tempfile.TemporaryDirectory() as scratch:
        record = Path(scratch, "record.json")
        output = [f"--record={record}", "--output-format=json", f"--output={Path(scratch, 'report.json')}"]
        done = call(["run", *output, *words, *arguments], _WITH_RESULTS, progress)
        if not record.is_file():
            raise FathomError((done.stderr or "").strip() or "the run was interrupted before it began", done.returncode)
        return _read(str(record), done.returncode)


def load(name: AnyPath) -> Result:
    """Reads a result: a file with records, JSON or JSON+ of fio 3, or a name in the archive.

    Names are those of ``fathom runs``: an id, a tag, ``latest``, ``latest~1``.
    """
    return _read(os.fspath(name), 0)


def compare(before: Result, after: Result) -> Document:
    """What ``fathom compare --json`` says of two results."""
    with tempfile.TemporaryDirectory() as scratch:
        paths = [Path(scratch, name) for name in ("before.json", "after.json")]
        for result, path in zip((before, after), paths):
            result.save(path)
        done = call(["compare", "--json", *map(str, paths)], (0, 4))
        return _document(done.stdout)


def _read(name: str, exit_code: int) -> Result:
    """Records by name or path; an archive of their own judges them by the rules of this program."""
    with tempfile.TemporaryDirectory() as scratch:
        records, archive = Path(scratch, "records.json"), f"--archive={Path(scratch, 'archive')}"
        call(["runs", "export", name, "-o", str(records)])
        call(["runs", "import", str(records), archive])
        ids = [row["id"] for row in json.loads(call(["runs", "--all", "--limit=0", "--json", archive]).stdout)]
        document = _document(records.read_text(encoding="utf-8"))
        runs = document.get("runs", [document])
        shown = [_document(call(["runs", "show", "--json", archive, one]).stdout) for one in ids]
    # Runs are listed with the latest first, records in the order they ran.
    shown.sort(key=lambda report: _started(report["fathom"]))
    runs.sort(key=lambda record: _started(record["invocation"]))
    return Result(runs, shown, exit_code)


def _started(of: Mapping[str, Any]) -> int:
    return int(of["started_unix_ms"])


def _document(text: str) -> Document:
    document: Document = json.loads(text)
    return document


def _spelled(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _cell(name: str, text: str) -> Cell:
    """A cell of the program's CSV as the value it stands for."""
    if name in _TEXT:
        return text
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        return float(text)
