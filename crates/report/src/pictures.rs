//! The pictures of a report: rates and latencies over time, latency distributions, the load of the
//! machine, and figures over varied parameters.

mod distribution;
mod layers;
mod machine;
mod named;
mod over_time;
mod varied;

use crate::judged_set::JudgedSet;
use charts::Picture;
pub use named::NamedPicture;

/// Names of pictures, in the order of the report. Not every run has all of them.
pub const NAMES: [&str; 10] = [
    "varied",
    "iops",
    "bandwidth",
    "latency",
    "percentiles",
    "heatmap",
    "layers",
    "depth",
    "cpu",
    "bytes",
];

/// All pictures of these judged sets, in the order of the report.
pub fn all(judged_sets: &[JudgedSet]) -> Vec<NamedPicture> {
    let mut all = varied::pictures(judged_sets);
    all.extend(over_time::rates(judged_sets));
    all.extend(over_time::latency(judged_sets));
    all.extend(distribution::curves(judged_sets));
    all.extend(over_time::heat_maps(judged_sets));
    all.extend(layers::heat_maps(judged_sets));
    all.extend(machine::depth(judged_sets));
    all.extend(machine::cpu(judged_sets));
    all.extend(machine::bytes(judged_sets));
    all
}

/// The picture of this name.
///
/// # Errors
/// There is no such picture; the message names the existing ones.
pub fn one(judged_sets: &[JudgedSet], name: &str) -> Result<Picture, String> {
    let mut all = all(judged_sets);
    match all.iter().position(|named| named.id == name) {
        Some(index) => Ok(all.swap_remove(index).picture),
        None => {
            let names: Vec<&str> = all.iter().map(|named| named.id.as_str()).collect();
            Err(match names.is_empty() {
                true => "there is nothing to draw in it".into(),
                false => format!("it has no picture '{name}'; it has {}", names.join(", ")),
            })
        }
    }
}
