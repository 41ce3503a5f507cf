//! Read-only commands to disks: identification, logs, health.

use super::memory::check;
use super::nvme::Passthrough;
use super::scsi::{Answer, Transfer, run};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// _IOWR('N', 0x41, struct nvme_admin_cmd) of linux/nvme_ioctl.h, which is 72 bytes.
const NVME_IOCTL_ADMIN_CMD: u32 = 0xC048_4E41;

/// Read-only commands: Get Log Page, Identify, Get Features (NVMe base specification 2.0,
/// section 5).
const NVME_READ_ONLY: [u8; 3] = [0x02, 0x06, 0x0a];

/// Timeout of a command.
const TIMEOUT_MS: u32 = 5_000;

/// Sends an NVMe admin command that fills `data`; `words` are its dwords 10 to 15. Returns its result,
/// which is the answer of Get Features.
///
/// # Errors
/// EINVAL for a command that is not read-only; EIO if the controller returns a status other than
/// success.
pub fn nvme_admin(
    device: BorrowedFd<'_>,
    opcode: u8,
    namespace: u32,
    words: [u32; 6],
    data: &mut [u8],
) -> io::Result<u32> {
    if !NVME_READ_ONLY.contains(&opcode) {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let mut command = Passthrough {
        opcode,
        namespace,
        address: if data.is_empty() { 0 } else { data.as_mut_ptr() as u64 },
        length: data.len() as u32,
        words,
        timeout_ms: TIMEOUT_MS,
        ..Passthrough::default()
    };
    // SAFETY: the kernel reads and writes one command of ours and, since the command is read-only,
    // writes at most `length` bytes at `address`, which is `data`.
    let status =
        unsafe { libc::ioctl(device.as_raw_fd(), NVME_IOCTL_ADMIN_CMD as _, &raw mut command) };
    check(status.min(0))?;
    if status > 0 {
        return Err(io::Error::from_raw_os_error(libc::EIO));
    }
    Ok(command.result)
}

/// ATA PASS-THROUGH (16) of SAT-5.
const ATA_PASS_THROUGH: u8 = 0x85;
/// Read-only commands: TEST UNIT READY, INQUIRY, MODE SENSE (6 and 10), LOG SENSE (SPC-5).
const SCSI_READ_ONLY: [u8; 5] = [0x00, 0x12, 0x1a, 0x5a, 0x4d];
/// Read-only ATA commands: IDENTIFY DEVICE, CHECK POWER MODE (ACS-4). SMART (0xb0) with the
/// features of [`SMART_READ_ONLY`] as well.
const ATA_READ_ONLY: [u8; 2] = [0xec, 0xe5];
/// READ DATA, READ THRESHOLDS, RETURN STATUS.
const SMART_READ_ONLY: [u8; 3] = [0xd0, 0xd1, 0xda];

fn is_read_only(command: &[u8]) -> bool {
    match command {
        // Features are in byte 4, the command in byte 14.
        [ATA_PASS_THROUGH, rest @ ..] if rest.len() == 15 => {
            ATA_READ_ONLY.contains(&rest[13])
                || (rest[13] == 0xb0 && SMART_READ_ONLY.contains(&rest[3]))
        }
        [first, ..] => SCSI_READ_ONLY.contains(first),
        [] => false,
    }
}

/// Sends a SCSI command that fills `data` (SG_IO). A status other than good is an answer, not an error.
///
/// # Errors
/// EINVAL for a command that is not read-only; EIO if the host adapter could not deliver it.
pub fn scsi(device: BorrowedFd<'_>, command: &[u8], data: &mut [u8]) -> io::Result<Answer> {
    if !is_read_only(command) || command.len() > 16 {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let transfer = if data.is_empty() { Transfer::None } else { Transfer::In };
    let answer = run(device, command, transfer, data, TIMEOUT_MS)?;
    if !answer.delivered {
        return Err(io::Error::from_raw_os_error(libc::EIO));
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsFd;

    fn number(error: io::Error) -> Option<i32> {
        error.raw_os_error()
    }

    #[test]
    fn commands_that_could_change_a_disk_never_reach_the_kernel() {
        let file = File::open("/dev/null").unwrap();
        // Format NVM, Firmware Commit, Sanitize, Security Send.
        for opcode in [0x80, 0x10, 0x84, 0x81] {
            let refused = nvme_admin(file.as_fd(), opcode, 1, [0; 6], &mut []).unwrap_err();
            assert_eq!(number(refused), Some(libc::EINVAL));
        }
        let mut ata = [0; 16];
        ata[0] = ATA_PASS_THROUGH;
        // SECURITY ERASE UNIT, WRITE DMA EXT, SMART with DISABLE OPERATIONS.
        for (command, features) in [(0xf4, 0), (0x35, 0), (0xb0, 0xd9)] {
            (ata[14], ata[4]) = (command, features);
            let refused = scsi(file.as_fd(), &ata, &mut []).unwrap_err();
            assert_eq!(number(refused), Some(libc::EINVAL));
        }
        // WRITE (10), FORMAT UNIT, UNMAP, nothing.
        for command in [&[0x2a, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &[4; 6], &[0x42; 10], &[]] {
            let refused = scsi(file.as_fd(), command, &mut []).unwrap_err();
            assert_eq!(number(refused), Some(libc::EINVAL));
        }
    }

    #[test]
    fn a_file_that_is_no_disk_gives_an_error() {
        let file = File::open("/dev/null").unwrap();
        let mut page = [0; 512];
        let nvme = nvme_admin(file.as_fd(), 0x02, u32::MAX, [0; 6], &mut page).unwrap_err();
        let inquiry = scsi(file.as_fd(), &[0x12, 0, 0, 0, 96, 0], &mut page[..96]).unwrap_err();
        assert_eq!([number(nvme), number(inquiry)], [Some(libc::ENOTTY); 2]);
    }
}
