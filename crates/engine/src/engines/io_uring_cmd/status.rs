//! Statuses of NVMe commands (NVMe base specification, Status Field).

/// Status code type and status code, without the bits beside them.
const fn code(status: u32) -> u32 {
    status & 0x7ff
}

/// The status in numbers and words.
pub fn describe(status: u32) -> String {
    let name = match code(status) {
        0x001 => "invalid opcode",
        0x002 => "invalid field",
        0x004 => "data transfer error",
        0x006 => "internal error",
        0x00b => "invalid namespace or format",
        0x01c => "sanitize in progress",
        0x080 => "block out of range",
        0x081 => "capacity exceeded",
        0x082 => "namespace not ready",
        0x180 => "conflicting attributes",
        0x181 => "invalid protection information",
        0x182 => "write to a read-only range",
        0x1b8 => "zone boundary",
        0x1b9 => "zone is full",
        0x1bc => "invalid zone write",
        0x1bd => "too many active zones",
        0x1be => "too many open zones",
        0x280 => "write fault",
        0x281 => "unrecovered read error",
        0x282 => "guard check failed",
        0x283 => "application tag check failed",
        0x284 => "reference tag check failed",
        0x285 => "compare failed",
        0x286 => "access denied",
        0x287 => "block was never written",
        _ => "no name known",
    };
    format!("NVMe status {:#05x} ({name})", code(status))
}

/// The errno that fits a status.
pub fn errno_of(status: u32) -> i32 {
    match code(status) {
        0x001 => libc::EOPNOTSUPP,
        0x002 | 0x00b | 0x080 | 0x180 | 0x181 | 0x1b8 | 0x1bc => libc::EINVAL,
        0x081 | 0x1b9 => libc::ENOSPC,
        0x182 => libc::EROFS,
        0x1bd => libc::EOVERFLOW,
        0x1be => libc::ETOOMANYREFS,
        0x281 | 0x287 => libc::ENODATA,
        0x282..=0x285 => libc::EILSEQ,
        0x286 => libc::EACCES,
        _ => libc::EIO,
    }
}
