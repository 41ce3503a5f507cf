//! The system calls that are seen: what each asks for, and where it has its arguments. The numbers are
//! those of `bpf/capture.bpf.c`.

use libc::c_long;
use trace::ftr::Operation;

/// Where a call has descriptor, length and offset.
#[derive(Clone, Copy)]
enum Shape {
    AtPosition = 1,
    AtOffset,
    Vector,
    VectorOffset,
    WholeFile,
    Everything,
    Range,
    ModeRange,
    Size,
    Opens,
    Closes,
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "older calls"))]
    NameHere,
    NameAt,
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "older calls"))]
    TwoNamesHere,
    TwoNamesAt,
    NameSized,
    Submits,
    Reaps,
    SendsFile,
    Copies,
}

const CALLS: &[(c_long, Operation, Shape)] = &[
    (libc::SYS_read, Operation::Read, Shape::AtPosition),
    (libc::SYS_write, Operation::Write, Shape::AtPosition),
    (libc::SYS_pread64, Operation::Read, Shape::AtOffset),
    (libc::SYS_pwrite64, Operation::Write, Shape::AtOffset),
    (libc::SYS_readv, Operation::Read, Shape::Vector),
    (libc::SYS_writev, Operation::Write, Shape::Vector),
    (libc::SYS_preadv, Operation::Read, Shape::VectorOffset),
    (libc::SYS_pwritev, Operation::Write, Shape::VectorOffset),
    (libc::SYS_preadv2, Operation::Read, Shape::VectorOffset),
    (libc::SYS_pwritev2, Operation::Write, Shape::VectorOffset),
    (libc::SYS_fsync, Operation::Fsync, Shape::WholeFile),
    (libc::SYS_fdatasync, Operation::Fdatasync, Shape::WholeFile),
    (libc::SYS_syncfs, Operation::SyncAll, Shape::WholeFile),
    (libc::SYS_sync, Operation::SyncAll, Shape::Everything),
    (libc::SYS_sync_file_range, Operation::SyncRange, Shape::Range),
    (libc::SYS_fallocate, Operation::Allocate, Shape::ModeRange),
    (libc::SYS_ftruncate, Operation::Truncate, Shape::Size),
    (libc::SYS_truncate, Operation::Truncate, Shape::NameSized),
    (libc::SYS_openat, Operation::Open, Shape::Opens),
    (libc::SYS_openat2, Operation::Open, Shape::Opens),
    (libc::SYS_close, Operation::Close, Shape::Closes),
    (libc::SYS_renameat, Operation::Rename, Shape::TwoNamesAt),
    (libc::SYS_renameat2, Operation::Rename, Shape::TwoNamesAt),
    (libc::SYS_unlinkat, Operation::Unlink, Shape::NameAt),
    (libc::SYS_sendfile, Operation::Read, Shape::SendsFile),
    (libc::SYS_copy_file_range, Operation::Read, Shape::Copies),
    (libc::SYS_splice, Operation::Read, Shape::Copies),
    (libc::SYS_io_submit, Operation::Read, Shape::Submits),
    (libc::SYS_io_getevents, Operation::Read, Shape::Reaps),
    (IO_PGETEVENTS, Operation::Read, Shape::Reaps),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, Operation::Open, Shape::Opens),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, Operation::Open, Shape::Opens),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rename, Operation::Rename, Shape::TwoNamesHere),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_unlink, Operation::Unlink, Shape::NameHere),
];

/// io_pgetevents(2), which libc does not name everywhere.
const IO_PGETEVENTS: c_long = if cfg!(target_arch = "x86_64") { 333 } else { 292 };

/// Number of each call, and what the programs are to know of it.
pub(crate) fn calls() -> impl Iterator<Item = (u32, u32)> {
    CALLS.iter().map(|(number, operation, shape)| {
        let operation = Operation::ALL.iter().position(|one| one == operation).unwrap_or(0) as u32;
        (*number as u32, (*shape as u32) << 8 | (operation + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_call_is_listed_once_and_fits() {
        let numbers: HashSet<u32> = calls().map(|(number, _)| number).collect();
        assert_eq!(numbers.len(), CALLS.len());
        assert!(numbers.iter().all(|number| *number < 512), "{numbers:?}");
        let pread = calls().find(|(number, _)| *number == libc::SYS_pread64 as u32).unwrap();
        assert_eq!(pread.1, 2 << 8 | 1);
    }
}
