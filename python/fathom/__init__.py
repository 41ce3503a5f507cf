"""Run storage benchmarks with fathom, and read their results.

>>> import fathom
>>> result = fathom.run("job.fio", runtime=30)
>>> result.verdicts[0].limit
'device'
>>> result.latencies().to_pandas()

The module calls the program ``fathom``, which comes with the package. Every figure is the program's.
"""

from ._program import FathomError, program
from ._results import Finding, Result, Rows, Verdict, compare, load, run

__all__ = ["FathomError", "Finding", "Result", "Rows", "Verdict", "compare", "load", "program", "run"]
