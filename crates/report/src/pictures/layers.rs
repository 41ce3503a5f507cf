//! The times in each layer of the kernel, over the time of a run.

use super::named::{NamedPicture, numbered, words};
use super::over_time::bins;
use crate::judged_set::JudgedSet;
use charts::{Marks, Picture, Quantity, Stretch, Unit};
use judge::IoLayer;
use record::{Direction, LatencyHistory, LayerPath, RunRecord};

/// The most heat maps.
const MAPS_MAX: usize = 12;
/// Steps that make a map.
const STEPS_MIN: usize = 3;

const MAP: &str = "Each column shows the times in this layer of the I/Os that were complete in it: brighter \
    means a larger share. A band that moves tells in which layer, and when, the I/Os became slower.";

/// A map for each layer of each job, disk and direction, of the first run of a set that has them.
pub(super) fn heat_maps(judged_sets: &[JudgedSet]) -> Vec<NamedPicture> {
    let maps = judged_sets.iter().filter_map(|judged_set| {
        let mut runs = judged_set.set.runs.iter();
        let run = runs.find(|run| run.evidence.layers.is_some())?;
        let name = format!("{}, ", judged_set.name);
        let name = if judged_sets.len() > 1 { name } else { String::new() };
        Some(of_run(run, &name, judged_sets))
    });
    numbered("layers", maps.flatten().take(MAPS_MAX).collect(), MAP)
}

fn of_run(run: &RunRecord, name: &str, judged_sets: &[JudgedSet]) -> Vec<Picture> {
    let end = run.jobs.iter().map(|job| job.ended.seconds()).fold(0.0, f64::max);
    let marks = Marks { shown: Stretch { from: 0.0, to: end }, ..Marks::default() };
    let paths = run.evidence.layers.iter().flat_map(|layers| &layers.paths);
    let maps = paths.flat_map(|path| {
        let layers = IoLayer::INSIDE.into_iter().zip(path.inside());
        layers
            .filter_map(move |(layer, times)| Some((path, layer, path.direction?, &times.history)))
    });
    let drawn = maps.filter(|(.., history)| history.columns.len() >= STEPS_MIN);
    drawn
        .map(|(path, layer, direction, history)| {
            let title = title(path, layer, direction, name);
            map(&words(&title, "", judged_sets), &marks, direction, history)
        })
        .collect()
}

fn title(path: &LayerPath, layer: IoLayer, direction: Direction, name: &str) -> String {
    let job = if path.job.is_empty() { "all jobs" } else { &path.job };
    let (layer, direction) = (layer.name(), direction.name());
    format!("Layer {layer} over time: {name}{job}, {direction} on {}", path.device_name)
}

fn map(
    words: &charts::Words,
    marks: &Marks,
    direction: Direction,
    history: &LatencyHistory,
) -> Picture {
    let name = "time in the layer".into();
    let quantity = Quantity { name, unit: Unit::Nanoseconds, more_is_better: false };
    charts::spread_over_time(words, marks, &quantity, &bins(history, direction))
}
