//! Zones of a target, and placement of data.

use super::Group::Target;
use super::field::field;
use super::row::{PASSTHROUGH, boolean, choice, floats, int, size, text, value};
use super::{Choice, OptionDef};

const MODES: &[Choice] = &[
    value("none", "no zones"),
    value("strided", "zonesize bytes here, then zoneskip bytes on"),
    value("zbd", "the rules of a zoned block device"),
];

const PLACEMENTS: &[Choice] = &[
    value("none", "no directive"),
    value("fdp", "NVMe flexible data placement"),
    value("streams", "NVMe streams"),
];

const SELECTIONS: &[Choice] = &[
    value("random", "drawn evenly"),
    value("roundrobin", "in turn"),
    value("scheme", "by the offset table of dp_scheme"),
];

pub(super) const ROWS: &[OptionDef] = &[
    choice(Target, "zonemode", MODES, "Whether the target is worked on in zones")
        .long(
            "strided works on slices of any target; zbd follows the write pointers of a zoned \
             device: writes go to the pointer of their zone, one at a time; zones are reset \
             before they are written again; trims reset zones. On a target without zones of its \
             own, zbd invents them from zonesize.",
        )
        .default("none")
        .sets(field!(zones.mode)),
    size(Target, "zonesize", false, false, "Bytes moved in a zone, or size of a zone")
        .long(
            "In strided mode the bytes moved before it goes on to the next zone; in zbd mode \
             the size of a zone of a device that has none.",
        )
        .default("0")
        .sets(field!(zones.size)),
    size(Target, "zonecapacity", false, false, "Usable bytes at the beginning of a zone")
        .long("For zbd mode on a device without zones.")
        .default("0")
        .sets(field!(zones.capacity)),
    size(Target, "zonerange", false, false, "Size of a zone in strided mode")
        .long(
            "zonesize below it uses a part of each zone, above it uses each zone more than \
             once.",
        )
        .default("0")
        .sets(field!(zones.range)),
    size(Target, "zoneskip", false, true, "Bytes between two zones worked on")
        .long(
            "In strided mode, and for sequential I/O in zbd mode, where it is a multiple of the \
             zone.",
        )
        .default("0")
        .sets(field!(zones.skip)),
    boolean(Target, "read_beyond_wp", "Read where a zone was not written")
        .long(
            "Such reads return at once without touching the medium, so they flatter the \
             figures.",
        )
        .sets(field!(zones.read_beyond)),
    int(Target, "max_open_zones", 0, 4096, "Zones written at once, by all workers")
        .long("0 is the limit of the device.")
        .default("0")
        .sets(field!(zones.max_open)),
    int(Target, "job_max_open_zones", 0, 4096, "Zones written at once, by each worker")
        .long("0 is no limit of its own.")
        .default("0")
        .sets(field!(zones.job_max_open)),
    boolean(Target, "ignore_zone_limits", "Allow more open zones than the device reports")
        .long("The device may then fail writes.")
        .sets(field!(zones.ignore_limits)),
    floats(Target, "zone_reset_threshold", 0.0, 1.0, "Share of blocks with data before resets")
        .long("A number from 0 to 1; it has a meaning with zone_reset_frequency.")
        .sets(field!(zones.reset_threshold)),
    floats(Target, "zone_reset_frequency", 0.0, 1.0, "Resets for each write beyond the threshold")
        .long("A number from 0 to 1: 0.1 resets a zone after every tenth write.")
        .sets(field!(zones.reset_frequency)),
    boolean(Target, "recover_zbd_write_error", "Go on from the write pointer after an error")
        .long(
            "With continue_on_error: a failed write may have left a part behind, so the device \
             is asked where its zone goes on. Newer than fio 3.33.",
        )
        .sets(field!(zones.recover)),
    boolean(Target, "write_zone_remainder", "Fill the rest of a zone that is shorter than bs")
        .long("Otherwise such a zone is finished as it is. Newer than fio 3.33.")
        .sets(field!(zones.write_remainder)),
    boolean(Target, "fdp", "Use NVMe flexible data placement")
        .long("The older way to write dataplacement=fdp. Newer than fio 3.33.")
        .needs(PASSTHROUGH),
    choice(Target, "dataplacement", PLACEMENTS, "NVMe directive that places data")
        .alias(&["data_placement"])
        .default("none")
        .long("For io_uring_cmd. Newer than fio 3.33.")
        .needs(PASSTHROUGH),
    choice(Target, "plid_select", SELECTIONS, "How a placement id is chosen for a write")
        .alias(&["fdp_pli_select"])
        .default("roundrobin")
        .long("Newer than fio 3.33.")
        .needs(PASSTHROUGH),
    text(Target, "plids", "Placement ids to use")
        .alias(&["fdp_pli"])
        .long("Newer than fio 3.33.")
        .needs(PASSTHROUGH),
    text(Target, "dp_scheme", "File with the offset table of plid_select=scheme")
        .long("Newer than fio 3.33.")
        .needs(PASSTHROUGH),
];
