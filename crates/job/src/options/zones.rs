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
    choice(Target, "zonemode", MODES, "Whether the target is worked on in zones")
        .long(
            "strided works on slices of any target; zbd follows the write pointers of a zoned \
             device.",
        )
        .default("none"),
    size(Target, "zonesize", false, false, "Bytes moved in a zone, or size of a zone")
        .long(
            "In strided mode the bytes moved before it goes on to the next zone; in zbd mode \
             the size of a zone of a device that has none.",
        )
        .default("0"),
    size(Target, "zonecapacity", false, false, "Usable bytes at the beginning of a zone")
        .long("For zbd mode on a device without zones.")
        .default("0"),
    size(Target, "zonerange", false, false, "Size of a zone in strided mode")
        .long(
            "zonesize below it uses a part of each zone, above it uses each zone more than \
             once.",
        )
        .default("0"),
    size(Target, "zoneskip", false, true, "Bytes between two zones worked on")
        .long("In strided mode; zbd mode wants 0.")
        .default("0"),
    boolean(Target, "read_beyond_wp", "Read where a zone was not written").long(
        "Such reads return at once without touching the medium, so they flatter the \
             figures.",
    ),
    int(Target, "max_open_zones", 0, 4096, "Zones written at once, by all workers")
        .long("0 is the limit of the device.")
        .default("0"),
    int(Target, "job_max_open_zones", 0, 4096, "Zones written at once, by each worker")
        .long("0 is no limit of its own.")
        .default("0"),
    boolean(Target, "ignore_zone_limits", "Allow more open zones than the device reports")
        .long("The device may then fail writes."),
    floats(Target, "zone_reset_threshold", 0.0, 1.0, "Share of blocks with data before resets")
        .long("A number from 0 to 1."),
    floats(Target, "zone_reset_frequency", 0.0, 1.0, "Resets for each write beyond the threshold")
        .long("A number from 0 to 1: 0.1 resets a zone after every tenth write."),
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
