//! The tables of what was predicted and what was measured.

use super::figures::{Figures, IOPS, P99, PROPERTIES, Property};
use super::storage::Storage;
use super::workloads::{USUAL, Workload};
use crate::bench::middle;
use std::fmt::Write;

/// The goals: errors of the ratio of IOPS, and of p99, in the median and at worst; and the share of pairs in which
/// a model is nearer than both usual jobs.
const IOPS_MEDIAN_MAX: f64 = 0.10;
const IOPS_WORST_MAX: f64 = 0.25;
const P99_MEDIAN_MAX: f64 = 0.25;
const NEARER_MIN: f64 = 0.90;

/// All that was measured.
pub struct Results<'a> {
    pub storages: &'a [Storage],
    pub measured: &'a [Measured],
    /// Workloads, each with a program that it needs and that is not installed.
    pub left_out: &'a [(&'static str, &'static str)],
    /// IOPS of each of [`USUAL`] on each storage.
    pub usual: &'a [Vec<f64>],
    /// The machine, before the first run, and the program.
    pub facts: &'a [String],
    /// Runs of each on each storage.
    pub rounds: u32,
    /// How long a run takes.
    pub seconds: u32,
}

/// What was measured of a workload.
pub struct Measured {
    pub workload: &'static Workload,
    /// For each storage, the median figures of the workload itself …
    pub itself: Vec<Figures>,
    /// … and of its model.
    pub model: Vec<Figures>,
}

/// What is predicted for a workload on a storage other than the first, and what is measured there: multiples of
/// the first storage.
struct Pair<'a> {
    workload: &'a str,
    storage: &'a str,
    iops: Prediction,
    p99: Prediction,
    usual: Vec<Prediction>,
}

#[derive(Clone, Copy)]
struct Prediction {
    predicted: f64,
    actual: f64,
}

impl Prediction {
    fn error(self) -> f64 {
        (self.predicted / self.actual - 1.0).abs()
    }
}

/// The document.
pub fn render(results: &Results<'_>) -> String {
    let Results { rounds, seconds, .. } = results;
    let first = results.storages[0].name;
    let mut text = format!(
        "# What models predict of applications on other storage\n\n\
         `cargo xtask predict` captures each application on the storage *{first}*, models the capture, and runs the \
         application and its model in turn on this storage and on others, which the model has not seen. All runs \
         are captured, and all figures are counted from the captures. Each figure is the median of {rounds} runs; a run \
         of an application takes about {seconds} s. Every run begins with new files and none of them in the page \
         cache.\n\n"
    );
    let pairs = pairs(results);
    text += &totals(&pairs);
    let _ = write!(text, "\n## IOPS on other storage\n\n{}", ratios(&pairs, first));
    let _ = write!(text, "\nStorage:\n\n");
    for storage in results.storages {
        let _ = writeln!(text, "- *{}*: {}", storage.name, storage.what);
    }
    for measured in results.measured {
        text += &figures(measured, results.storages);
    }
    for (name, program) in results.left_out {
        let _ = write!(text, "\n{name} is left out: {program} is not installed.\n");
    }
    text += "\n## Machine\n\n";
    results.facts.iter().for_each(|fact| text += &format!("- {fact}\n"));
    text
}

fn pairs<'a>(results: &'a Results<'_>) -> Vec<Pair<'a>> {
    let mut pairs = Vec::new();
    for measured in results.measured {
        for (at, storage) in results.storages.iter().enumerate().skip(1) {
            let multiple = |all: &[Figures], property: usize| {
                all[at][property].unwrap_or(0.0) / all[0][property].unwrap_or(f64::NAN)
            };
            let prediction = |property: usize| Prediction {
                predicted: multiple(&measured.model, property),
                actual: multiple(&measured.itself, property),
            };
            let iops = prediction(IOPS);
            let usual = results.usual.iter();
            let usual =
                usual.map(|iops_of| Prediction { predicted: iops_of[at] / iops_of[0], ..iops });
            pairs.push(Pair {
                workload: measured.workload.name,
                storage: storage.name,
                iops,
                p99: prediction(P99),
                usual: usual.collect(),
            });
        }
    }
    pairs
}

fn totals(pairs: &[Pair<'_>]) -> String {
    let errors = |prediction: fn(&Pair<'_>) -> Prediction| -> Vec<f64> {
        pairs.iter().map(|pair| prediction(pair).error()).collect()
    };
    let (iops, p99) = (errors(|pair| pair.iops), errors(|pair| pair.p99));
    let worst = iops.iter().copied().fold(0.0, f64::max);
    let is_nearer =
        |pair: &&Pair<'_>| pair.usual.iter().all(|usual| pair.iops.error() < usual.error());
    let nearer = pairs.iter().filter(is_nearer).count() as f64 / pairs.len().max(1) as f64;
    let rows = [
        ("error of the multiple of IOPS, median", middle(iops), "≤", IOPS_MEDIAN_MAX),
        ("error of the multiple of IOPS, worst", worst, "≤", IOPS_WORST_MAX),
        ("error of the multiple of p99, median", middle(p99), "≤", P99_MEDIAN_MAX),
        ("pairs in which the model is nearer than both usual jobs", nearer, "≥", NEARER_MIN),
    ];
    let mut text = format!(
        "| {} pairs of application and storage | measured | goal |\n|---|--:|--:|\n",
        pairs.len()
    );
    for (name, value, sign, goal) in rows {
        let _ = writeln!(text, "| {name} | {} | {sign} {} |", percent(value), percent(goal));
    }
    text
}

/// Multiples of the IOPS on the first storage.
fn ratios(pairs: &[Pair<'_>], first: &str) -> String {
    let mut text = format!(
        "Multiples of the IOPS on *{first}*:\n\n| application | storage | itself | model | error |"
    );
    USUAL.iter().for_each(|job| text += &format!(" {} | error |", job.name));
    text += "\n|---|---|--:|--:|--:|";
    USUAL.iter().for_each(|_| text += "--:|--:|");
    text += "\n";
    for Pair { workload, storage, iops, usual, .. } in pairs {
        let _ = write!(text, "| {workload} | {storage} | {} |", multiple(iops.actual));
        for prediction in std::iter::once(iops).chain(usual) {
            let (predicted, error) = (multiple(prediction.predicted), percent(prediction.error()));
            let _ = write!(text, " {predicted} | {error} |");
        }
        text += "\n";
    }
    text
}

/// The figures of an application and of its model, on each storage.
fn figures(Measured { workload, itself, model }: &Measured, storages: &[Storage]) -> String {
    let mut text = format!("\n## {}\n\n{}.\n\n|", workload.name, workload.what);
    storages.iter().for_each(|storage| text += &format!(" | {} | model | error", storage.name));
    text += " |\n|---|";
    storages.iter().for_each(|_| text += "--:|--:|--:|");
    text += "\n";
    for (property, Property { name, show, .. }) in PROPERTIES.iter().enumerate() {
        if itself.iter().chain(model).all(|figures| figures[property].is_none()) {
            continue;
        }
        let _ = write!(text, "| {name} |");
        for (itself, model) in itself.iter().zip(model) {
            let shown = |figure: Option<f64>| figure.map_or("none".to_owned(), *show);
            let error = match (itself[property], model[property]) {
                (Some(actual), Some(predicted)) if actual > 0.0 => {
                    percent(Prediction { predicted, actual }.error())
                }
                _ => String::new(),
            };
            let _ = write!(
                text,
                " {} | {} | {error} |",
                shown(itself[property]),
                shown(model[property])
            );
        }
        text += "\n";
    }
    text
}

fn multiple(value: f64) -> String {
    format!("{value:.2}")
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
