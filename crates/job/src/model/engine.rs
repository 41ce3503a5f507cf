//! Options of single engines.

use super::named::named;

/// `stat_type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatCall {
    /// stat(2).
    #[default]
    Stat,
    /// lstat(2): of a link itself.
    Lstat,
    /// statx(2).
    Statx,
}

/// Options of cpuio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuLoad {
    /// `cpuload`: share of a CPU, in per cent.
    pub percent: Option<u8>,
    /// `cpuchunks`: length of one burst of work, in microseconds; `None`: the default.
    pub chunk_us: Option<u64>,
    /// `cpumode=qsort`: sorts instead of executing empty instructions.
    pub sorts: bool,
    /// `exit_on_io_done`: ends when the workers that do I/O have ended.
    pub ends_with_io: bool,
}

/// The program that custom runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomEngine {
    /// `custom_program`.
    pub program: Option<String>,
    /// `custom_arguments`, in one string.
    pub arguments: String,
}

/// What rados and rbd connect to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ceph {
    /// `clustername`.
    pub cluster: Option<String>,
    /// `clientname`.
    pub client: Option<String>,
    /// `pool`.
    pub pool: Option<String>,
    /// `conf`; `None`: where Ceph looks for it.
    pub conf: Option<String>,
    /// `rbdname`.
    pub image: Option<String>,
    /// `busy_poll`: poll for completions.
    pub busy_poll: bool,
    /// `touch_objects=0`: objects are not made at the start.
    pub leaves_objects: bool,
}

/// The program that exec runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// `program`.
    pub path: Option<String>,
    /// `arguments`, in one string.
    pub arguments: String,
    /// `grace_time`: seconds between SIGTERM and SIGKILL.
    pub grace_seconds: u64,
    /// `std_redirect`: its output goes to files.
    pub redirect: bool,
}

impl Default for Program {
    fn default() -> Self {
        Program { path: None, arguments: String::new(), grace_seconds: 1, redirect: true }
    }
}

/// `sg_write_mode`: the SCSI command that a write becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SgWriteMode {
    /// WRITE.
    #[default]
    Write,
    /// WRITE AND VERIFY.
    WriteAndVerify,
    /// WRITE SAME: one block of data for all blocks.
    WriteSame,
    /// WRITE SAME (16) without data.
    WriteSameNdob,
    /// VERIFY without data.
    VerifyBytchk00,
    /// VERIFY against the data.
    VerifyBytchk01,
    /// VERIFY of all blocks against one block of data.
    VerifyBytchk11,
    /// WRITE STREAM (16).
    WriteStream,
}

named!(SgWriteMode:
    Write "write", WriteAndVerify "write_and_verify", WriteSame "write_same",
    WriteSameNdob "write_same_ndob", VerifyBytchk00 "verify_bytchk_00",
    VerifyBytchk01 "verify_bytchk_01", VerifyBytchk11 "verify_bytchk_11",
    WriteStream "write_stream");
named!(StatCall: Stat "stat", Lstat "lstat", Statx "statx");
