//! Where I/O goes beyond plain sequential and random order.

use crate::blocks::{Blocks, directions};
use crate::model::{Placing, Worker};
use crate::problem::Diagnostics;
use crate::sizes::human;
use crate::zones;
use job::{Distribution, Job, Size};
use record::PerDirection;

/// What a job asks for; nothing for a sequential one, as in fio.
pub(crate) fn resolve(job: &Job, blocks: &Blocks) -> Placing {
    let pattern = &job.pattern;
    let always = Placing {
        strides: zones::strides(job),
        serialize_overlap: pattern.serialize_overlap,
        ..Placing::default()
    };
    if !pattern.rw.is_random() {
        return always;
    }
    let mut spread = PerDirection::<Distribution>::default();
    let mut sequential_share = PerDirection::<u8>::default();
    for d in directions(job) {
        spread[d] = pattern.distribution[d].clone();
        sequential_share[d] = 100u8.saturating_sub(pattern.percentage_random[d]);
    }
    Placing {
        spread,
        sequence_stride: pattern.sequence_stride,
        sequential_blocks: blocks.sequential.clone(),
        sequential_share,
        ..always
    }
}

/// Refuses zones and sequences that name what a file's region does not have.
pub(crate) fn check(job: &Job, worker: &Worker, diagnostics: &mut Diagnostics) {
    let block = worker.min_block();
    if let Some(strides) = worker.placing.strides.filter(|s| s.range < block)
        && job.pattern.rw.is_random()
    {
        let what = format!("zones of {} hold no block of {}", human(strides.range), human(block));
        diagnostics.usage(job, "zonerange", what, "give a larger range or a smaller block");
    }
    for direction in directions(job) {
        for file in &worker.files {
            match &worker.placing.spread[direction] {
                Distribution::Zoned(zones) => {
                    let bytes = zones.iter().fold(0u64, |sum, zone| match zone.size {
                        Size::Bytes(bytes) => sum.saturating_add(bytes.0),
                        Size::Percent(_) | Size::Zones(_) => sum,
                    });
                    if bytes > file.length {
                        let have = format!("{} has {}", file.path, human(file.length));
                        let what = format!("its zones make {}, {have}", human(bytes));
                        let cure = "lower the zones' sizes or raise size";
                        diagnostics.refuse(job, "random_distribution", what, cure);
                    }
                }
                Distribution::Sequence(list) if !worker.placing.sequence_stride => {
                    let align = worker.pattern.align[direction].max(1);
                    let blocks = file.length / align;
                    if let Some(beyond) = list.iter().find(|block| **block >= blocks) {
                        let what = format!(
                            "its sequence names block {beyond}, {} has {blocks} (from 0)",
                            file.path
                        );
                        let cure = "name blocks that are there or raise size";
                        diagnostics.refuse(job, "random_distribution", what, cure);
                    }
                }
                _ => {}
            }
        }
    }
}
