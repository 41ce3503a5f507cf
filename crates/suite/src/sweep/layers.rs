//! What each layer of a storage stack adds to the latency of the layer below it.

use crate::estimate::{Estimated, ratio};
use crate::grid::{self, Dimension, Grid, Measured};
use judge::Measure;
use record::{Facts, RecordSet};

/// Name of the dimension whose values are a file and the devices below it, from the top down.
pub const LAYER: &str = "layer";
/// The value that stands for all layers below the job's file.
pub const ALL_LAYERS: &str = "all";

/// What one layer adds to the mean latency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerCost {
    /// Values of the other dimensions ("iodepth=1"); empty where there are none.
    pub at: String,
    /// The layer: a file or a device.
    pub layer: String,
    /// The device right below it.
    pub below: String,
    /// Nanoseconds that it adds; below 0 where it is faster.
    pub added_ns: Estimated,
    /// Its latency as a multiple of that below it.
    pub ratio: Option<Estimated>,
}

/// The paths of a file and of all devices below it, from the top down.
pub fn layers(facts: &Facts, path: &str) -> Vec<String> {
    let devices = facts.stack_under(path).into_iter().map(device_path);
    // The path of a device is its own first layer.
    let own = facts.targets.get(path).filter(|target| target.filesystem.is_some());
    own.map(|_| path.to_owned()).into_iter().chain(devices).collect()
}

fn device_path(name: &str) -> String {
    format!("/dev/{name}")
}

/// The cost of each layer, for each combination of the other dimensions.
pub(super) fn conclude(set: &RecordSet, dimensions: &[Dimension]) -> Vec<LayerCost> {
    let Some(index) = dimensions.iter().position(|dimension| dimension.name == LAYER) else {
        return Vec::new();
    };
    let Ok(measure) = Measure::parse("mean") else { return Vec::new() };
    let values: Vec<&str> =
        dimensions[index].values.iter().map(|value| value.text.as_str()).collect();
    let pairs: Vec<(usize, usize)> = (0..values.len())
        .flat_map(|upper| (0..values.len()).map(move |lower| (upper, lower)))
        .filter(|(upper, lower)| is_right_below(set, values[*upper], values[*lower]))
        .collect();
    let grid = Grid::over(set, &measure, dimensions.to_vec());
    let mut costs = Vec::new();
    for place in grid::places_of_others(dimensions, index) {
        let at = |value: usize| {
            let mut place = place.clone();
            place[index] = value;
            grid.at(&place).measured()
        };
        for (upper, lower) in &pairs {
            let Some((above, below)) = at(*upper).zip(at(*lower)) else { continue };
            costs.push(LayerCost {
                at: grid::name_of_others(dimensions, index, &place),
                layer: values[*upper].to_owned(),
                below: values[*lower].to_owned(),
                added_ns: added(above, below),
                ratio: ratio(&above.values, &below.values, set.seed),
            });
        }
    }
    costs
}

/// Whether one layer lies right on another, as any run knows it.
fn is_right_below(set: &RecordSet, upper: &str, lower: &str) -> bool {
    let device = |path: &str| path.strip_prefix("/dev/").map(str::to_owned);
    let Some(lower) = device(lower) else { return false };
    set.runs.iter().any(|run| {
        let on_device = device(upper).and_then(|name| run.facts.devices.get(&name));
        match on_device {
            Some(upper) => upper.below.contains(&lower),
            None => run.facts.tops_of(upper).contains(&lower.as_str()),
        }
    })
}

/// The difference of two means, with the interval of each (MOVER, as [`ratio`]).
fn added(above: &Measured, below: &Measured) -> Estimated {
    let (above, below) = (above.summary.mean, below.summary.mean);
    let value = above.value - below.value;
    let low = value - (above.value - above.low).hypot(below.high - below.value);
    let high = value + (above.high - above.value).hypot(below.value - below.low);
    let bounded = low.is_finite() && high.is_finite();
    Estimated { value, interval: bounded.then_some((low, high)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::{Design, RunSlot, TableOptions};
    use crate::testing::{self, SimulatedDisk};
    use record::{DeviceFacts, FilesystemFacts, TargetFacts};

    /// A file on dm-0, which lies on sda and sdb.
    fn facts() -> Facts {
        let mut facts = Facts::default();
        for (name, below) in [("dm-0", vec!["sda", "sdb"]), ("sda", vec![]), ("sdb", vec![])] {
            let below = below.into_iter().map(str::to_owned).collect();
            let device = DeviceFacts { name: name.into(), below, ..DeviceFacts::default() };
            facts.devices.insert(name.into(), device);
        }
        let filesystem = FilesystemFacts { devices: vec!["dm-0".into()], ..Default::default() };
        let target = TargetFacts { filesystem: Some(filesystem), ..TargetFacts::default() };
        facts.targets.insert("/data/x".into(), target);
        facts
    }

    #[test]
    fn layers_are_a_file_and_all_devices_below_it() {
        let all = ["/data/x", "/dev/dm-0", "/dev/sda", "/dev/sdb"];
        assert_eq!(layers(&facts(), "/data/x"), all);
        assert_eq!(layers(&facts(), "/none"), Vec::<String>::new());
    }

    #[test]
    fn each_layer_costs_what_it_adds_to_the_one_right_below_it() {
        let dimension = |name: &str, values: &[String]| crate::sweep::Dimension {
            name: name.into(),
            values: values.to_vec(),
        };
        let design = Design {
            dimensions: vec![
                dimension(LAYER, &layers(&facts(), "/data/x")),
                dimension("iodepth", &["1".into()]),
            ],
            repeats: 3,
            seed: 1,
            ..Design::default()
        };
        let run = |place: RunSlot| {
            let cell = design.cell(place);
            let slow = match cell.at[0].value.as_str() {
                "/data/x" => 1.5,
                "/dev/dm-0" => 1.2,
                _ => 1.0,
            };
            let jitter = 1.0 + f64::from(place.round) / 1000.0;
            let disk =
                SimulatedDisk { read_ns: 100_000.0 * slow * jitter, ..SimulatedDisk::fast() };
            let mut run = disk.run(&testing::step("randread", 4096, 1, 1000));
            run.facts = facts();
            run.cell = Some(cell);
            run
        };
        let runs = design.order().into_iter().map(run).collect();
        let set = RecordSet { runs, seed: 1, ..RecordSet::default() };
        let costs = crate::sweep::conclude(&set, &design, &TableOptions::default()).layers;
        let told: Vec<(&str, &str)> =
            costs.iter().map(|cost| (cost.layer.as_str(), cost.below.as_str())).collect();
        let expected =
            [("/data/x", "/dev/dm-0"), ("/dev/dm-0", "/dev/sda"), ("/dev/dm-0", "/dev/sdb")];
        assert_eq!(told, expected);
        assert!((costs[0].added_ns.value / 30_000.0 - 1.0).abs() < 0.02, "{costs:?}");
        let (low, high) = costs[0].added_ns.interval.unwrap();
        assert!(low > 29_000.0 && high < 31_000.0, "{low} {high}");
        assert!((costs[1].ratio.unwrap().value - 1.2).abs() < 0.01);
        assert_eq!(costs[0].at, "iodepth=1");
    }
}
