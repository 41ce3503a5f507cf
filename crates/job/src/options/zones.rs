//! Options for zones of a target and for data placement.

use super::Group::Target;
use super::field::field;
use super::row::{PASSTHROUGH, boolean, choice, floats, int, size, text, value};
use super::{Choice, OptionDef};

const MODES: &[Choice] = &[
    value("none", "no zones"),
    value("strided", "zonesize bytes in each zone, then zoneskip bytes skipped"),
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
    choice(Target, "zonemode", MODES, "How zones are used")
        .long(
            "strided works on slices of any target. zbd follows the rules of zoned block \
             devices: writes go to the write pointer of a zone, one at a time; zones are reset \
             before they are rewritten; trims reset zones. On a target without zones, zbd \
             emulates zones of zonesize.",
        )
        .default("none")
        .sets(field!(zones.mode)),
    size(Target, "zonesize", false, false, "Bytes moved in each zone, or zone size")
        .long(
            "strided: bytes moved before the next zone. zbd: zone size on a device without \
             zones.",
        )
        .default("0")
        .sets(field!(zones.size)),
    size(Target, "zonecapacity", false, false, "Usable bytes at the beginning of a zone")
        .long("For zbd mode on a device without zones.")
        .default("0")
        .sets(field!(zones.capacity)),
    size(Target, "zonerange", false, false, "Size of a zone in strided mode")
        .long(
            "If zonesize is smaller, only part of each zone is used; if larger, each zone is \
             used more than once.",
        )
        .default("0")
        .sets(field!(zones.range)),
    size(Target, "zoneskip", false, true, "Bytes to skip between zones")
        .long(
            "For strided mode, and for sequential I/O in zbd mode, where it must be a multiple \
             of the zone size.",
        )
        .default("0")
        .sets(field!(zones.skip)),
    boolean(Target, "read_beyond_wp", "Allow reads beyond the write pointer")
        .long("Such reads do not access the medium, so results are too good.")
        .sets(field!(zones.read_beyond)),
    int(
        Target,
        "max_open_zones",
        0,
        4096,
        "Maximum number of zones open for writing, all workers together",
    )
    .long("0 means the limit of the device.")
    .default("0")
    .sets(field!(zones.max_open)),
    int(
        Target,
        "job_max_open_zones",
        0,
        4096,
        "Maximum number of zones open for writing, each worker",
    )
    .long("0 means that a worker may open any number of zones.")
    .default("0")
    .sets(field!(zones.job_max_open)),
    boolean(Target, "ignore_zone_limits", "Allow more open zones than the device reports")
        .long("Writes may then fail on the device.")
        .sets(field!(zones.ignore_limits)),
    floats(
        Target,
        "zone_reset_threshold",
        0.0,
        1.0,
        "Fraction of blocks with data above which zones are reset",
    )
    .long("From 0 to 1; only used with zone_reset_frequency.")
    .sets(field!(zones.reset_threshold)),
    floats(
        Target,
        "zone_reset_frequency",
        0.0,
        1.0,
        "Zone resets for each write above the threshold",
    )
    .long("From 0 to 1: 0.1 resets a zone after every tenth write.")
    .sets(field!(zones.reset_frequency)),
    boolean(Target, "recover_zbd_write_error", "Continue from the write pointer after an error")
        .long(
            "For continue_on_error: a failed write may have written some data, so the write \
             pointer is read from the device. Newer than fio 3.33.",
        )
        .sets(field!(zones.recover)),
    boolean(Target, "write_zone_remainder", "Fill the rest of a zone that is shorter than bs")
        .long("Otherwise such a zone is finished without further writes. Newer than fio 3.33.")
        .sets(field!(zones.write_remainder)),
    boolean(Target, "fdp", "Use NVMe flexible data placement")
        .long("Older form of dataplacement=fdp. Newer than fio 3.33.")
        .needs(PASSTHROUGH),
    choice(Target, "dataplacement", PLACEMENTS, "NVMe directive that places data")
        .alias(&["data_placement"])
        .default("none")
        .long("For io_uring_cmd. Newer than fio 3.33.")
        .needs(PASSTHROUGH),
    choice(Target, "plid_select", SELECTIONS, "Selection of the placement id for a write")
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
