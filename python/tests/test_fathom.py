"""Tests of the module against a program: FATHOM_PROGRAM names it. Run by `cargo xtask test`."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import fathom

NULL = {"name": "reader", "ioengine": "null", "size": "64m", "rw": "randrw", "bs": "4k", "time_based": True}


class Module(unittest.TestCase):
    """What the module says of short runs without storage."""

    result: fathom.Result

    @classmethod
    def setUpClass(cls) -> None:
        cls.scratch = tempfile.TemporaryDirectory()
        os.environ["FATHOM_ARCHIVE"] = str(Path(cls.scratch.name, "archive"))
        cls.result = fathom.run(**NULL, runtime=1)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.scratch.cleanup()

    def test_a_run_has_verdicts_and_findings(self) -> None:
        verdict = self.result.verdicts[0]
        self.assertEqual((verdict.job, verdict.limit), ("reader", "CPU"))
        self.assertTrue(verdict.because and verdict.use_for)
        self.assertIn("too-short", [finding.check for finding in self.result.findings])
        self.assertIn("reader: CPU", repr(self.result))

    def test_percentiles_are_those_of_the_report(self) -> None:
        rows = self.result.latencies()
        found = [row["value_ns"] for row in rows if row["direction"] == "read" and row["percentile"] in (99, 99.0)]
        reported = self.result.reports[0]["jobs"][0]["read"]["clat_ns"]["percentile"]["99.000000"]
        self.assertEqual(found[:1], [reported])

    def test_tables_become_pandas_and_arrow(self) -> None:
        rows = self.result.intervals()
        ios = sum(row["ios"] for row in rows)
        self.assertEqual(ios, sum(self.result.reports[0]["jobs"][0][way]["total_ios"] for way in ("read", "write")))
        self.assertEqual(rows.to_pandas()["ios"].sum(), ios)
        table = rows.to_arrow()
        self.assertEqual((table.num_rows, table.column_names), (len(rows), list(rows[0])))

    def test_runs_are_loaded_by_name_and_by_path(self) -> None:
        path = Path(self.scratch.name, "saved.json")
        self.result.save(path)
        archived = subprocess.run([fathom.program(), "runs", "--json", "--all"], check=True, capture_output=True)
        first = min(json.loads(archived.stdout), key=lambda row: row["started_unix_ms"])["id"]
        for name in (first, path):
            loaded = fathom.load(name)
            self.assertEqual(loaded.records, self.result.records)
            self.assertEqual(loaded.verdicts, self.result.verdicts)

    def test_repeats_are_one_result(self) -> None:
        both = fathom.run(**NULL, runtime=1, repeat=2)
        self.assertEqual((len(both.records), len(both.reports), len(both.verdicts)), (2, 2, 2))
        self.assertEqual({row["round"] for row in both.intervals()}, {0, 1})
        self.assertEqual(len(fathom.load("latest").records), 2)
        self.assertIn("conclusion", fathom.compare(both, both))

    def test_json_of_fio_is_read(self) -> None:
        path = Path(self.scratch.name, "fio.json")
        fio = [
            "fio",
            "--name=x",
            "--ioengine=null",
            "--size=64m",
            "--rw=read",
            "--output-format=json+",
            f"--output={path}",
        ]
        subprocess.run(fio, check=True)
        printed = json.loads(path.read_text())["jobs"][0]["read"]
        result = fathom.load(path)
        self.assertEqual(result.reports[0]["jobs"][0]["read"]["total_ios"], printed["total_ios"])
        p99 = [row["value_ns"] for row in result.latencies() if row["percentile"] == 99]
        self.assertEqual(p99[:1], [printed["clat_ns"]["percentile"]["99.000000"]])

    def test_a_job_file_takes_options(self) -> None:
        path = Path(self.scratch.name, "a.fio")
        path.write_text("[a]\nioengine=null\nrw=read\nsize=1m\n")
        read = fathom.run(path, bs="16k").reports[0]["jobs"][0]["read"]
        self.assertEqual(read["total_ios"], 64)

    def test_a_condition_that_is_not_met_has_its_exit_code(self) -> None:
        self.assertEqual(fathom.run(**NULL, runtime=1, accept="read.iops<1").exit_code, 4)

    def test_a_wrong_job_raises_the_text_of_the_program(self) -> None:
        with self.assertRaisesRegex(fathom.FathomError, "rw") as caught:
            fathom.run(name="x", rw="sideways")
        self.assertEqual(caught.exception.exit_code, 2)
        with self.assertRaises(fathom.FathomError):
            fathom.load("no-such-run")

    def test_the_notebook_runs(self) -> None:
        import nbclient
        import nbformat

        notebook = nbformat.read(Path(__file__).parent.parent / "tour.ipynb", as_version=4)
        self.assertTrue(any(cell.cell_type == "code" for cell in notebook.cells))
        with tempfile.TemporaryDirectory() as place:
            nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": place}}).execute()


if __name__ == "__main__":
    unittest.main()
