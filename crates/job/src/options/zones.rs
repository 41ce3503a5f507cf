//! Options for zones of a target and for data placement.

use super::Group::Target;
use super::field::field;
use super::row::{boolean, choice, floats, int, rows, size, text, value};
use super::{Choice, OptionDef};
use crate::model::DataPlacement;

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

pub(super) const ROWS: &[OptionDef] = rows! {
    /// How zones are used
    ///
    /// strided works on slices of any target. zbd follows the rules of zoned block devices: writes
    /// go to the write pointer of a zone, one at a time; zones are reset before they are rewritten;
    /// trims reset zones. On a target without zones, zbd emulates zones of zonesize.
    "zonemode" => choice(Target, MODES).default("none").sets(field!(zones.mode)),

    /// Bytes moved in each zone, or zone size
    ///
    /// strided: bytes moved before the next zone. zbd: zone size on a device without zones.
    "zonesize" => size(Target, false, false).default("0").sets(field!(zones.size)),

    /// Usable bytes at the beginning of a zone
    ///
    /// For zbd mode on a device without zones.
    "zonecapacity" => size(Target, false, false).default("0").sets(field!(zones.capacity)),

    /// Size of a zone in strided mode
    ///
    /// If zonesize is smaller, only part of each zone is used; if larger, each zone is used more
    /// than once.
    "zonerange" => size(Target, false, false).default("0").sets(field!(zones.range)),

    /// Bytes to skip between zones
    ///
    /// For strided mode, and for sequential I/O in zbd mode, where it must be a multiple of the
    /// zone size.
    "zoneskip" => size(Target, false, true).default("0").sets(field!(zones.skip)),

    /// Allow reads beyond the write pointer
    ///
    /// Such reads do not access the medium, so results are too good.
    "read_beyond_wp" => boolean(Target).sets(field!(zones.read_beyond)),

    /// Maximum number of zones open for writing, all workers together
    ///
    /// 0 means the limit of the device.
    "max_open_zones" => int(Target, 0, 4096).default("0").sets(field!(zones.max_open)),

    /// Maximum number of zones open for writing, each worker
    ///
    /// 0 means that a worker may open any number of zones.
    "job_max_open_zones" => int(Target, 0, 4096).default("0").sets(field!(zones.job_max_open)),

    /// Allow more open zones than the device reports
    ///
    /// Writes may then fail on the device.
    "ignore_zone_limits" => boolean(Target).sets(field!(zones.ignore_limits)),

    /// Fraction of blocks with data above which zones are reset
    ///
    /// From 0 to 1; only used with zone_reset_frequency.
    "zone_reset_threshold" => floats(Target, 0.0, 1.0).sets(field!(zones.reset_threshold)),

    /// Zone resets for each write above the threshold
    ///
    /// From 0 to 1: 0.1 resets a zone after every tenth write.
    "zone_reset_frequency" => floats(Target, 0.0, 1.0).sets(field!(zones.reset_frequency)),

    /// Continue from the write pointer after an error
    ///
    /// For continue_on_error: a failed write may have written some data, so the write pointer is
    /// read from the device. Newer than fio 3.33.
    "recover_zbd_write_error" => boolean(Target).sets(field!(zones.recover)),

    /// Fill the rest of a zone that is shorter than bs
    ///
    /// Otherwise such a zone is finished without further writes. Newer than fio 3.33.
    "write_zone_remainder" => boolean(Target).sets(field!(zones.write_remainder)),

    /// Use NVMe flexible data placement
    ///
    /// Older form of dataplacement=fdp. Newer than fio 3.33.
    "fdp" => boolean(Target).sets_with(|job, v| {
        let kind = if v.flag() { DataPlacement::Fdp } else { DataPlacement::None };
        job.queue.options.nvme.placement.kind = kind;
        Ok(())
    }),

    /// NVMe directive that places data
    ///
    /// For io_uring_cmd. Newer than fio 3.33.
    "dataplacement" => choice(Target, PLACEMENTS)
        .alias(&["data_placement"])
        .default("none")
        .sets(field!(queue.options.nvme.placement.kind))
        .recorded(),

    /// Selection of the placement id for a write
    ///
    /// Newer than fio 3.33.
    "plid_select" => choice(Target, SELECTIONS)
        .alias(&["fdp_pli_select"])
        .default("roundrobin")
        .sets(field!(queue.options.nvme.placement.select)),

    /// Placement ids to use
    ///
    /// Indexes of reclaim unit handles with fdp, all of them without this option; stream identifiers
    /// with streams. Newer than fio 3.33.
    "plids" => text(Target)
        .alias(&["fdp_pli"])
        .sets(field!(queue.options.nvme.placement.identifiers)),

    /// File with the offset table of plid_select=scheme
    ///
    /// Each line is FROM, TO, INDEX: writes at offsets from FROM up to TO take the id of that index
    /// in plids. Newer than fio 3.33.
    "dp_scheme" => text(Target).sets(field!(queue.options.nvme.placement.scheme)),
};
