//! The load of the machine during the runs.

use super::named::{LINES_MAX, NamedPicture, labels, numbered, words};
use crate::judged_set::JudgedSet;
use charts::{Axis, Marks, Point, Quantity, Series, Stretch, Tick, Trace, Unit};
use judge::{CpuStep, DeviceStep, DeviceTraffic, device_traffic, job_series, machine_series};
use record::RunRecord;

const SECOND: f64 = 1e9;
/// A share of CPU time that a hypervisor took which is worth a line.
const STOLEN: f64 = 0.01;

const DEPTH: &str = "How many I/Os were under way: of each job as it counts them, and of each device as \
    the kernel does. A device below a job that holds far fewer was not the one waited for.";
const CPU: &str = "How busy the processors were. One that is busy all the time can limit what the jobs \
    can do, whatever the others have to spare.";
const BYTES: &str = "What the jobs asked for beside what the devices did. A missing bar on the right is \
    memory that answered; a longer one is somebody else, or a layer that writes more than it is told.";

/// The first run of each set that is not a sweep.
fn runs(judged_sets: &[JudgedSet]) -> Vec<(&JudgedSet, &RunRecord)> {
    let alike = judged_sets.iter().filter(|judged_set| judged_set.varied.is_none());
    alike.filter_map(|judged_set| Some((judged_set, judged_set.first()?))).collect()
}

fn marks(traces: &[Trace]) -> Marks {
    let ends = traces.iter().filter_map(|trace| trace.points.last());
    let to = ends.map(|(at, _)| *at).fold(0.0, f64::max);
    Marks { shown: Stretch { from: 0.0, to }, ..Marks::default() }
}

fn of_first(judged_sets: &[JudgedSet]) -> &'static str {
    match judged_sets.iter().any(|judged_set| judged_set.set.runs.len() > 1) {
        true => "of the first run",
        false => "",
    }
}

/// I/Os in flight.
pub(super) fn depth(judged_sets: &[JudgedSet]) -> Vec<NamedPicture> {
    let mut lines: Vec<Line> = Vec::new();
    for (judged_set, run) in runs(judged_sets) {
        for course in job_series(run) {
            let point = |(at, depth): &(u64, f64)| (*at as f64 / SECOND, *depth);
            let name = [judged_set.name.clone(), format!("job {}", course.job)];
            lines.push((name, course.depth.iter().map(point).collect()));
        }
        for device in machine_series(run).devices {
            if device.steps.iter().any(|step| step.in_flight > 0.0) {
                let point = |step: &DeviceStep| (step.start as f64 / SECOND, step.in_flight);
                let name = [judged_set.name.clone(), format!("device {}", device.name)];
                lines.push((name, device.steps.iter().map(point).collect()));
            }
        }
    }
    let quantity = Quantity { name: "in flight".into(), unit: Unit::Ios, more_is_better: true };
    drawn("depth", "I/Os in flight over time", &quantity, lines, judged_sets, DEPTH)
}

/// Busy processors.
pub(super) fn cpu(judged_sets: &[JudgedSet]) -> Vec<NamedPicture> {
    let mut lines: Vec<Line> = Vec::new();
    for (judged_set, run) in runs(judged_sets) {
        let steps = machine_series(run).cpus;
        let mut push = |what: &str, of: fn(&CpuStep) -> f64| {
            let point = |step: &CpuStep| (step.start as f64 / SECOND, of(step) * 100.0);
            let name = [judged_set.name.clone(), what.to_owned()];
            lines.push((name, steps.iter().map(point).collect()));
        };
        push("all CPUs, busy", |step| step.busy);
        if judged_sets.len() > 1 {
            continue;
        }
        push("busiest CPU", |step| step.busiest);
        if steps.iter().any(|step| step.stolen > STOLEN) {
            push("taken by the hypervisor", |step| step.stolen);
        }
    }
    let quantity = Quantity { name: "CPU time".into(), unit: Unit::Percent, more_is_better: false };
    drawn("cpu", "CPUs over time", &quantity, lines, judged_sets, CPU)
}

/// A line of a chart: the name of its set, its own name, and its points.
type Line = ([String; 2], Vec<(f64, f64)>);

fn drawn(
    id: &str,
    title: &str,
    quantity: &Quantity,
    lines: Vec<Line>,
    judged_sets: &[JudgedSet],
    reading: &str,
) -> Vec<NamedPicture> {
    let (parts, points): (Vec<_>, Vec<_>) = lines.into_iter().unzip();
    let named = labels(&parts).into_iter().zip(points).take(LINES_MAX);
    let traces: Vec<Trace> = named.map(|(name, points)| Trace { name, points }).collect();
    if traces.iter().all(|trace| trace.points.len() < 2) {
        return Vec::new();
    }
    let words = words(title, of_first(judged_sets), judged_sets);
    let picture = charts::over_time(&words, &marks(&traces), quantity, &traces);
    numbered(id, vec![picture], reading)
}

/// Bytes of the jobs and of the devices.
pub(super) fn bytes(judged_sets: &[JudgedSet]) -> Vec<NamedPicture> {
    let several = judged_sets.len() > 1;
    let mut axis = Axis::default();
    let (mut asked, mut moved) = (Vec::new(), Vec::new());
    for (judged_set, run) in runs(judged_sets) {
        for DeviceTraffic { device, read_asked, read, write_asked, written } in device_traffic(run)
        {
            for (what, wanted, done) in
                [("read", read_asked, read), ("written", write_asked, written)]
            {
                if wanted + done == 0 {
                    continue;
                }
                let prefix = if several { format!("{}: ", judged_set.name) } else { String::new() };
                axis.ticks.push(Tick { text: format!("{prefix}{device} {what}"), number: None });
                asked.push(Point::value(wanted as f64));
                moved.push(Point::value(done as f64));
            }
        }
    }
    if axis.ticks.is_empty() {
        return Vec::new();
    }
    let series = [
        Series { name: "asked by the jobs".into(), points: asked },
        Series { name: "moved by the device".into(), points: moved },
    ];
    let quantity = Quantity { name: "data".into(), unit: Unit::Bytes, more_is_better: false };
    let words = words("What jobs asked for and devices moved", of_first(judged_sets), judged_sets);
    numbered("bytes", vec![charts::bars(&words, &axis, &quantity, &series)], BYTES)
}
