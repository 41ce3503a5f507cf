//! NVMe namespaces: which one a device is, and the layout of commands that io_uring passes to it
//! (linux/nvme_ioctl.h).

use super::io::retry;
use super::memory::errno;
use super::uring::{SecondHalf, Sqe, sqe};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// _IO('N', 0x40).
const NVME_IOCTL_ID: u32 = 0x4e40;
/// _IOWR('N', 0x80, struct nvme_uring_cmd), which has 72 bytes.
const NVME_URING_CMD_IO: u64 = 0xc048_4e80;
/// _IOWR('N', 0x81, struct nvme_uring_cmd): the data is a vector.
const NVME_URING_CMD_IO_VEC: u64 = 0xc048_4e81;
/// _IOWR('N', 0x43, struct nvme_passthru_cmd), which has 72 bytes.
const NVME_IOCTL_IO_CMD: u32 = 0xc048_4e43;

/// The namespace that a device is.
pub fn namespace_id(device: BorrowedFd<'_>) -> io::Result<u32> {
    // SAFETY: the request takes no argument.
    let id = retry(|| unsafe { libc::ioctl(device.as_raw_fd(), NVME_IOCTL_ID as _) as isize });
    if id < 0 { Err(errno(-id as i32)) } else { Ok(id as u32) }
}

/// A command of the NVM command set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Opcode.
    pub opcode: u8,
    /// Namespace.
    pub namespace: u32,
    /// Address and bytes of the metadata.
    pub metadata: (u64, u32),
    /// Address and bytes of the data; of a vector, its address and number of elements.
    pub data: (u64, u32),
    /// Dwords 10 to 15.
    pub words: [u32; 6],
}

/// How the data of a command is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataForm {
    /// By address.
    Address,
    /// As a vector.
    Vectored,
    /// As the registered buffer of this index.
    Fixed(u16),
}

impl Command {
    /// The wide submission entry of the command on `fd`.
    pub fn entry(&self, fd: i32, form: DataForm) -> (Sqe, SecondHalf) {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let mut entry = Sqe {
            opcode: sqe::URING_CMD,
            fd,
            offset: NVME_URING_CMD_IO,
            // Opcode, flags and a reserved half word; the namespace; dwords 2 and 3.
            rest: [pair(u32::from(self.opcode), self.namespace), 0],
            ..Sqe::default()
        };
        match form {
            DataForm::Address => {}
            DataForm::Vectored => entry.offset = NVME_URING_CMD_IO_VEC,
            DataForm::Fixed(index) => {
                entry.op_flags = sqe::URING_CMD_FIXED;
                entry.buffer_index = index;
            }
        }
        let [w10, w11, w12, w13, w14, w15] = self.words;
        let lengths = pair(self.metadata.1, self.data.1);
        let second = [
            self.metadata.0,
            self.data.0,
            lengths,
            pair(w10, w11),
            pair(w12, w13),
            pair(w14, w15),
            0,
            0,
        ];
        (entry, second)
    }
}

/// struct nvme_passthru_cmd, which is struct nvme_admin_cmd as well.
#[repr(C)]
#[derive(Default)]
pub(super) struct Passthrough {
    pub opcode: u8,
    pub flags: u8,
    pub reserved: u16,
    pub namespace: u32,
    pub words_2_3: [u32; 2],
    pub metadata: u64,
    pub address: u64,
    pub metadata_length: u32,
    pub length: u32,
    pub words: [u32; 6],
    pub timeout_ms: u32,
    pub result: u32,
}

/// I/O MANAGEMENT RECEIVE of the reclaim unit handle status (management operation 1) into `data`. Its
/// dword 11 counts dwords from 0.
fn handle_status(namespace: u32, data: &mut [u8]) -> Passthrough {
    Passthrough {
        opcode: 0x12,
        namespace,
        address: data.as_mut_ptr() as u64,
        length: data.len() as u32,
        words: [1, data.len() as u32 / 4 - 1, 0, 0, 0, 0],
        ..Passthrough::default()
    }
}

/// I/O MANAGEMENT RECEIVE: reads the reclaim unit handles of a namespace into `data`, which changes
/// nothing. EOPNOTSUPP if the device refuses.
pub fn reclaim_unit_handles(device: BorrowedFd<'_>, data: &mut [u8]) -> io::Result<()> {
    let mut command = handle_status(namespace_id(device)?, data);
    let argument = &raw mut command;
    // SAFETY: the kernel reads and writes one command, and writes at most `length` bytes to `data`.
    let status = retry(|| unsafe {
        libc::ioctl(device.as_raw_fd(), NVME_IOCTL_IO_CMD as _, argument) as isize
    });
    match status {
        0 => Ok(()),
        error if error < 0 => Err(errno(-error as i32)),
        _ => Err(errno(libc::EOPNOTSUPP)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reclaim_unit_handles_are_asked_for_as_specified() {
        let mut data = [0; 4112];
        let command = handle_status(3, &mut data);
        assert_eq!((command.opcode, command.namespace, command.length), (0x12, 3, 4112));
        assert_eq!(command.words, [1, 1027, 0, 0, 0, 0]);
    }

    #[test]
    fn a_command_lies_where_the_driver_reads_it() {
        let command = Command {
            opcode: 2,
            namespace: 1,
            metadata: (0x1111, 8),
            data: (0x2222, 4096),
            words: [10, 11, 12, 13, 14, 15],
        };
        let (entry, second) = command.entry(5, DataForm::Address);
        assert_eq!((entry.opcode, entry.fd, entry.offset), (46, 5, 0xc048_4e80));
        assert_eq!(entry.rest, [2 | 1 << 32, 0]);
        assert_eq!(second[..3], [0x1111, 0x2222, 8 | 4096 << 32]);
        assert_eq!(second[3..], [10 | 11 << 32, 12 | 13 << 32, 14 | 15 << 32, 0, 0]);
        let (entry, _) = command.entry(5, DataForm::Fixed(3));
        assert_eq!((entry.op_flags, entry.buffer_index), (1, 3));
    }

    #[test]
    fn a_file_that_is_no_namespace_gives_an_error() {
        use std::os::fd::AsFd;
        let file = std::fs::File::open("/dev/null").unwrap();
        let refused = namespace_id(file.as_fd()).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::ENOTTY));
        assert!(reclaim_unit_handles(file.as_fd(), &mut [0; 64]).is_err());
    }
}
