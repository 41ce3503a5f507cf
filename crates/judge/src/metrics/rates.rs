//! The rate that a job asks for, and the rate that it reached.

use crate::case::Part;
use record::human::{count, rate};

/// Over all workers and directions that have a rate and did I/O.
pub(crate) struct Rates {
    pub asked: f64,
    pub reached: f64,
    /// "IOPS" or "bytes/s".
    pub unit: &'static str,
}

impl Rates {
    /// `None` for a job without a rate.
    pub fn from_part(part: &Part) -> Option<Rates> {
        let mut rates = Rates { asked: 0.0, reached: 0.0, unit: "IOPS" };
        for job in &part.workers {
            for (direction, result) in job.results.iter().filter(|(_, r)| r.runtime.0 > 0) {
                let seconds = result.runtime.seconds();
                if let Some(iops) = job.workload.rate_iops[direction] {
                    rates.asked += iops as f64;
                    rates.reached += result.ios as f64 / seconds;
                } else if let Some(bytes) = job.workload.rate[direction] {
                    rates.unit = "bytes/s";
                    rates.asked += bytes as f64;
                    rates.reached += result.bytes.0 as f64 / seconds;
                }
            }
        }
        (rates.asked > 0.0).then_some(rates)
    }

    /// A rate for people.
    pub fn text(value: f64, unit: &str) -> String {
        if unit == "IOPS" { count(value) + " IOPS" } else { rate(value) }
    }
}
