//! The layers of a suite: those of all runs of a cell together.

use super::{IoLayer, LayerTable, layers};
use record::{Direction, RunRecord};

/// The layers of all runs of a cell: of I/Os in one direction to one disk.
#[derive(Clone, Debug, PartialEq)]
pub struct CellLayers {
    /// Name of the cell.
    pub cell: String,
    /// The job; empty if all jobs are counted together.
    pub job: String,
    /// Kernel name of the disk.
    pub device: String,
    /// Reads, writes or trims.
    pub direction: Direction,
    /// I/Os that were timed.
    pub ios: u64,
    /// Their mean latency, in nanoseconds.
    pub latency_ns: f64,
    /// The mean time of each layer in this order, in nanoseconds.
    pub means_ns: Vec<(IoLayer, f64)>,
}

/// The layers of each cell of a suite, in the order in which the cells ran. Disks below others and
/// flushes are left out.
pub fn layers_by_cell(runs: &[RunRecord]) -> Vec<CellLayers> {
    let mut cells: Vec<CellLayers> = Vec::new();
    for run in runs {
        let Some(found) = layers(run) else { continue };
        let cell = run.cell.as_ref().map(|cell| cell.name.clone()).unwrap_or_default();
        for table in found.tables.iter().filter(|table| !table.is_member) {
            let Some(direction) = table.direction else { continue };
            let same = |it: &&mut CellLayers| {
                (&it.cell, &it.job, &it.device, it.direction)
                    == (&cell, &table.job, &table.device, direction)
            };
            match cells.iter_mut().find(same) {
                Some(known) => known.add(table),
                None => cells.push(CellLayers::new(&cell, table, direction)),
            }
        }
    }
    cells
}

impl CellLayers {
    fn new(cell: &str, table: &LayerTable, direction: Direction) -> CellLayers {
        let mut made = CellLayers {
            cell: cell.into(),
            job: table.job.clone(),
            device: table.device.clone(),
            direction,
            ios: 0,
            latency_ns: 0.0,
            means_ns: Vec::new(),
        };
        made.add(table);
        made
    }

    /// Adds another run of the cell, whose I/Os then count in the means.
    fn add(&mut self, table: &LayerTable) {
        let ios = self.ios + table.ios;
        let weight = table.ios as f64 / ios.max(1) as f64;
        let mix = |old: f64, new: f64| old + (new - old) * weight;
        for row in &table.rows {
            if self.means_ns.iter().all(|(layer, _)| *layer != row.layer) {
                self.means_ns.push((row.layer, 0.0));
            }
        }
        for (layer, mean) in &mut self.means_ns {
            let row = table.rows.iter().find(|row| row.layer == *layer);
            *mean = mix(*mean, row.map_or(0.0, |row| row.mean_ns));
        }
        self.means_ns.sort_by_key(|(layer, _)| *layer as u8);
        self.latency_ns = mix(self.latency_ns, table.latency_ns);
        self.ios = ios;
    }
}

#[cfg(test)]
mod tests {
    use super::super::LayerRow;
    use super::*;

    #[test]
    fn runs_of_a_cell_are_one_row() {
        let table = |ios, latency_ns, means: &[(IoLayer, f64)]| {
            let row = |(layer, mean_ns): &(IoLayer, f64)| LayerRow {
                layer: *layer,
                mean_ns: *mean_ns,
                percentiles_ns: None,
                share: 0.0,
            };
            let rows = means.iter().map(row).collect();
            LayerTable { ios, latency_ns, rows, ..LayerTable::default() }
        };
        let device = (IoLayer::Device, 700.0);
        let all = [
            (IoLayer::Submission, 150.0),
            (IoLayer::Scheduler, 100.0),
            device,
            (IoLayer::Completion, 50.0),
        ];
        let (short, long) = (table(100, 1_000.0, &all), table(300, 2_000.0, &[device]));
        let mut cell = CellLayers::new("iodepth=8", &short, Direction::Read);
        cell.add(&long);
        assert_eq!((cell.ios, cell.latency_ns), (400, 1_750.0));
        let expected = [
            (IoLayer::Submission, 37.5),
            (IoLayer::Scheduler, 25.0),
            (IoLayer::Device, 700.0),
            (IoLayer::Completion, 12.5),
        ];
        assert_eq!(cell.means_ns, expected);
    }
}
