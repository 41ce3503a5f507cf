//! A command line during parsing.

use super::profile::{Profile, Spread, Target, TimeSpan};
use super::{Remarks, Task};

/// Options under construction.
pub(super) struct Draft {
    pub task: Task,
    pub profile: Profile,
    /// The one timespan of a command line without a profile.
    pub span: TimeSpan,
    /// The settings of all targets.
    pub target: Target,
    /// `-s` and `-si`: stride and whether it is shared; the stride is the block unless given.
    pub sequential: Option<(Option<u64>, bool)>,
    /// `-r`, `-rs`, `-rd`: alignment, share, spread.
    pub random: Option<Random>,
    /// Overrides of a profile's timespans: `-d`, `-W`, `-C`, `-z`.
    pub overrides: Overrides,
    pub format_given: bool,
    pub remarks: Remarks,
    pub seed: u64,
}

/// The values of `-r`, `-rs` and `-rd`.
#[derive(Default)]
pub(super) struct Random {
    pub align: Option<u64>,
    pub percent: Option<u64>,
    pub spread: Option<Spread>,
}

/// Values of the command line that override every timespan of a profile.
#[derive(Default)]
pub(super) struct Overrides {
    pub duration_s: Option<u64>,
    pub warmup_s: Option<u64>,
    pub cooldown_s: Option<u64>,
    pub seed: Option<u64>,
}

impl Draft {
    /// A draft before the first option. `seed` is used by `-z` without a value.
    pub fn new(seed: u64) -> Draft {
        Draft {
            task: Task::Run,
            profile: Profile::default(),
            span: TimeSpan::default(),
            target: Target::default(),
            sequential: None,
            random: None,
            overrides: Overrides::default(),
            format_given: false,
            remarks: Remarks::default(),
            seed,
        }
    }
}
