//! Zones of any target (`zonemode=strided`).

use crate::model::Strides;
use crate::problem::Diagnostics;
use job::{Job, Size, ZoneMode};

/// Checks the zone options of a job against its `zonemode`.
pub(crate) fn check(job: &Job, diagnostics: &mut Diagnostics) {
    let size = job.zones.size.0;
    match job.zones.mode {
        ZoneMode::Strided if size == 0 => {
            diagnostics.usage(
                job,
                "zonesize",
                "zonemode=strided without it (fio: --zonesize must be specified when using \
                 --zonemode=strided)",
                "give the bytes of a zone",
            );
        }
        ZoneMode::None if size > 0 => {
            let cure = "add zonemode=strided (or zbd) or leave zonesize out";
            let what = "it is given without a zonemode (fio: --zonemode=none and --zonesize are not \
                        compatible)";
            diagnostics.usage(job, "zonesize", what, cure);
        }
        _ => {}
    }
}

/// The strides of a job with `zonemode=strided`. Oracle: the default length of a zone is the number
/// of bytes moved in it.
pub(crate) fn strides(job: &Job) -> Option<Strides> {
    let zones = &job.zones;
    let moved = zones.size.0;
    let skip = match zones.skip {
        Some(Size::Bytes(bytes)) => bytes.0,
        _ => 0,
    };
    let range = if zones.range.0 > 0 { zones.range.0 } else { moved };
    (zones.mode == ZoneMode::Strided && moved > 0).then_some(Strides { moved, range, skip })
}
