//! Zones of a target, and placement of data.

use super::Group::Target;
use super::row::{boolean, choice, floats, int, later, size, text, value};
use super::{Choice, OptionDef};

const MODES: &[Choice] = &[
    value("none", "no zones"),
    later("strided", "zonesize bytes here, then zoneskip bytes on"),
    later("zbd", "the rules of a zoned block device"),
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
    choice(Target, "zonemode", MODES, "Whether the target is worked on in zones").default("none"),
    size(Target, "zonesize", false, false, "Bytes moved in a zone, or size of a zone").default("0"),
    size(Target, "zonecapacity", false, false, "Usable bytes at the beginning of a zone")
        .default("0"),
    size(Target, "zonerange", false, false, "Size of a zone in strided mode").default("0"),
    size(Target, "zoneskip", false, true, "Bytes between two zones worked on").default("0"),
    boolean(Target, "read_beyond_wp", "Read where a zone was not written"),
    int(Target, "max_open_zones", 0, 4096, "Zones written at once, by all workers").default("0"),
    int(Target, "job_max_open_zones", 0, 4096, "Zones written at once, by each worker")
        .default("0"),
    boolean(Target, "ignore_zone_limits", "Allow more open zones than the device reports"),
    floats(Target, "zone_reset_threshold", 0.0, 1.0, "Share of blocks with data before resets"),
    floats(Target, "zone_reset_frequency", 0.0, 1.0, "Resets for each write beyond the threshold"),
    boolean(Target, "recover_zbd_write_error", "Go on from the write pointer after an error")
        .long("Newer than fio 3.33."),
    boolean(Target, "write_zone_remainder", "Fill the rest of a zone that is shorter than bs")
        .long("Newer than fio 3.33."),
    boolean(Target, "fdp", "Use NVMe flexible data placement")
        .default("0")
        .long("The older way to write dataplacement=fdp. Newer than fio 3.33."),
    choice(Target, "dataplacement", PLACEMENTS, "NVMe directive that places data")
        .alias(&["data_placement"])
        .default("none")
        .long("For io_uring_cmd. Newer than fio 3.33."),
    choice(Target, "plid_select", SELECTIONS, "How a placement id is chosen for a write")
        .alias(&["fdp_pli_select"])
        .default("roundrobin")
        .long("Newer than fio 3.33."),
    text(Target, "plids", "Placement ids to use").alias(&["fdp_pli"]).long("Newer than fio 3.33."),
    text(Target, "dp_scheme", "File with the offset table of plid_select=scheme")
        .long("Newer than fio 3.33."),
];
