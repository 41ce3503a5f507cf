//! Steps of the suites: a run for each phase of each repetition.

use record::{Cell, Coordinate};
use std::fmt::Display;

/// The name of the first varied parameter in records.
const PHASE: &str = "phase";

/// "--name=value".
pub(crate) fn option(name: &str, value: impl Display) -> String {
    format!("--{name}={value}")
}

/// Options of a task that do not depend on what it does.
pub(crate) fn of_task(task: u32, seed: u64, delay_s: u64) -> Vec<String> {
    let mut options = vec![
        option("randseed", seed.wrapping_add(task.into()) >> 1),
        option("percentile_list", "50:99:99.9"),
        option("group_reporting", 1),
    ];
    let pause = delay_s.saturating_mul(1_000_000);
    options.extend((pause > 0).then(|| format!("--startdelay={pause}us")));
    options
}

/// The cell of a run. `repeated`: the name of what is counted by `number`.
pub(crate) fn cell(phase: &str, repeated: &str, number: u32) -> Cell {
    let at = |dimension: &str, value: String| Coordinate { dimension: dimension.into(), value };
    Cell {
        name: format!("{phase}-{number}"),
        round: 0,
        at: vec![at(PHASE, phase.to_owned()), at(repeated, number.to_string())],
    }
}

/// The phase of a cell, among these by name, and its number.
pub(crate) fn phase_of<P: Copy>(
    cell: &Cell,
    phases: &[P],
    name: fn(P) -> &'static str,
    repeated: &str,
) -> Option<(P, u32)> {
    let at = |dimension: &str| {
        let found = cell.at.iter().find(|coordinate| coordinate.dimension == dimension);
        found.map(|coordinate| coordinate.value.as_str())
    };
    let phase = phases.iter().find(|phase| at(PHASE) == Some(name(**phase)))?;
    Some((*phase, at(repeated)?.parse().ok()?))
}
