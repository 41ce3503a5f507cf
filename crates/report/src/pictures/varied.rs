//! Figures over varied parameters.

use super::named::{NamedPicture, numbered};
use crate::judged_set::JudgedSet;
use crate::plot::{Request, Source, picture};
use charts::Picture;
use judge::Measure;
use record::human;
use suite::grid::{self, Grid};
use suite::knee::Point;

const READING: &str = "Every tried value, with the interval of its mean if it was repeated.";

/// The main figure and its latency over the varied parameters; empty when nothing was varied, or when
/// the sets differ in what was varied.
pub(super) fn pictures(judged_sets: &[JudgedSet]) -> Vec<NamedPicture> {
    let sources: Option<Vec<Source>> = judged_sets.iter().map(|one| one.varied.clone()).collect();
    let Some(sources) = sources.filter(|sources| !sources.is_empty()) else { return Vec::new() };
    let usual = grid::usual_measure(&sources[0].set);
    let draw = |name: &str| -> Option<Picture> {
        let request = Request { metric: Measure::parse(name).ok(), ..Request::default() };
        picture(&sources, &request).ok().map(|drawn| drawn.picture)
    };
    let pictures = [usual, "p99"].into_iter().filter_map(draw).collect();
    let knees: Vec<String> = sources.iter().filter_map(knee).collect();
    let mut named = numbered("varied", pictures, READING);
    named.iter_mut().take(1).for_each(|first| {
        knees.iter().for_each(|knee| first.reading += &format!(" {knee}"));
    });
    named
}

/// The knee of a sweep of the queue depth alone.
fn knee(source: &Source) -> Option<String> {
    let mut varied = source.dimensions.iter().filter(|dimension| dimension.values.len() > 1);
    let depths = varied.next().filter(|dimension| dimension.name == "iodepth")?;
    if varied.next().is_some() {
        return None;
    }
    let grid_of = |name: &str| {
        let measure = Measure::parse(name).ok()?;
        Some(Grid::over(&source.set, &measure, vec![depths.clone()]))
    };
    let (rates, latencies) = (grid_of("iops")?, grid_of("mean")?);
    let point = |(index, value): (usize, &grid::GridValue)| {
        let mean = |grid: &Grid| Some(grid.at(&[index]).measured()?.summary.mean.value);
        let (iops, latency_ns) = (mean(&rates)?, mean(&latencies)?);
        Some(Point { depth: value.number? as u32, iops, latency_ns })
    };
    let points: Vec<Point> = depths.values.iter().enumerate().filter_map(point).collect();
    let knee = suite::knee::knee(&points).filter(|knee| knee.curve.len() > 2)?;
    let (at, most) = (&knee.at, &knee.most);
    Some(format!(
        "Knee of {}: at depth {} ({} IOPS, {} on average), beyond which latency grows faster than \
         throughput; most IOPS at depth {} ({}).",
        source.name,
        at.depth,
        human::count(at.iops),
        human::time(at.latency_ns),
        most.depth,
        human::count(most.iops)
    ))
}
