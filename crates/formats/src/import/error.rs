//! Why a result of fio cannot be imported.

/// Why a text cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// There is no document of fio in it.
    #[error(
        "no JSON of fio in it; fio writes one with --output-format=json, or json+ for whole latency \
         distributions"
    )]
    NotFio,
    /// The document is cut off, or is not JSON.
    #[error("the JSON of fio in it is broken: {0}")]
    Broken(String),
    /// The document is of a fio with other units.
    #[error("{0} printed latencies in microseconds and without bins; only JSON of fio 3 is read")]
    TooOld(String),
    /// A value is not what fio prints there.
    #[error("job '{job}': {key} is {found}, which fio does not print: expected {expected}")]
    Value {
        /// The job.
        job: String,
        /// The key.
        key: String,
        /// Its value.
        found: String,
        /// What fio prints there.
        expected: &'static str,
    },
    /// The numbers add up to more than a run can do.
    #[error("the numbers in it add up to more than any run can do; is the file damaged?")]
    TooLarge,
    /// Reads and writes are reported as one.
    #[error(
        "job '{0}' was reported with unified_rw_reporting=mixed, so its reads and writes are not told \
         apart; run it with unified_rw_reporting=both or none to import it"
    )]
    Mixed(String),
    /// It holds no jobs.
    #[error("the document of fio holds no jobs")]
    NoJobs,
}
