//! Options a plan cannot express. The options table refuses them already; jobs may also be built
//! by hand, and nothing is ignored in silence.

use crate::problem::Findings;
use job::{Job, Size, ZoneMode};

const CURE: &str = "leave it out";

/// Reports every such option of a job.
pub(crate) fn check(job: &Job, found: &mut Findings) {
    let mut refuse = |given: bool, option: &str, what: &str| {
        if given {
            found.usage(job, option, format!("{what} does not work yet"), CURE);
        }
    };
    let target = &job.target;
    let zones = |s: &Option<Size>| matches!(s, Some(Size::Zones(_)));
    refuse(zones(&target.size), "size", "a size in zones");
    refuse(zones(&target.io_size), "io_size", "a size in zones");
    refuse(zones(&target.offset), "offset", "an offset in zones");
    refuse(zones(&target.offset_increment), "offset_increment", "an increment in zones");
    let filesize = target.filesize.is_some_and(|r| zones(&Some(r.low)) || zones(&Some(r.high)));
    refuse(filesize, "filesize", "a size in zones");
    refuse(job.zones.mode == ZoneMode::Zbd, "zonemode", "working by zones");
}
