//! What the caller allows, beside what the jobs ask for.

use record::{Nanos, with_defaults};

with_defaults! {
    /// What the caller allows.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Policy {
        /// Called under the name fio: fio's own rule for mounted devices holds
        /// (`allow_mounted_write=1` lifts it) and a mere signature only warns.
        pub as_fio: bool,
        /// `--readonly`: no write, no trim, no file made or extended.
        pub readonly: bool,
        /// `--allow-destroy`: block devices that may be overwritten whatever is on them, by the path
        /// the job names, the path with links resolved, or /dev/NAME.
        pub allow_destroy: Vec<String>,
        /// `--max-jobs`: workers of all jobs together.
        pub max_jobs: u64 = 4096,
        /// Seeds jobs with `randrepeat=0` and no `randseed`. Should differ from run to run.
        pub entropy: u64,
        /// `--status-interval`: what was measured so far is wanted this often.
        pub status_interval: Option<Nanos>,
        /// `--aux-path`; empty: the working directory.
        pub aux_path: String,
    }
}
