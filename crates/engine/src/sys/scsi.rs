//! SCSI commands through the sg driver: the SG_IO ioctl of block and sg devices, and the queue behind
//! write(2) and read(2) of sg devices. Layout and constants from the kernel's include/scsi/sg.h.

use super::io::retry;
use super::memory::errno;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

/// struct sg_io_hdr.
#[repr(C)]
#[derive(Clone, Copy)]
struct Header {
    interface: i32,
    direction: i32,
    command_length: u8,
    sense_room: u8,
    pieces: u16,
    length: u32,
    data: *mut u8,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    id: i32,
    user: usize,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_length: u8,
    host_status: u16,
    driver_status: u16,
    left: i32,
    duration_ms: u32,
    info: u32,
}

const SG_IO: u32 = 0x2285;
const SG_DXFER_NONE: i32 = -1;
const SG_DXFER_TO_DEV: i32 = -2;
const SG_DXFER_FROM_DEV: i32 = -3;
/// SGV4_FLAG_HIPRI: poll for the completion. Drivers that cannot do so ignore it.
const HIPRI: u32 = 0x800;
/// DRIVER_SENSE: the driver itself adds this to a status that comes with sense data.
const DRIVER_SENSE: u16 = 0x08;
/// SG_MAX_QUEUE: commands in flight per open sg device.
pub const QUEUE_MAX: usize = 16;

/// Longest command.
pub const COMMAND_MAX: usize = 16;

/// Which way the data of a command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// It has none.
    None,
    /// From the device.
    In,
    /// To the device.
    Out,
}

/// The answer of a SCSI device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Bytes moved.
    pub length: usize,
    /// SCSI status: 0 good, 2 check condition.
    pub status: u8,
    /// Whether the host adapter and its driver delivered the command.
    pub delivered: bool,
    /// Sense data, which also contains ATA registers.
    pub sense: [u8; 64],
}

impl Answer {
    /// Whether the command did what it says. An error that the device recovered from is none.
    pub fn is_good(&self) -> bool {
        let recovered = self.status == 2 && self.sense_codes()[0] == 1;
        self.delivered && (self.status == 0 || recovered)
    }

    /// Sense key, additional sense code and its qualifier (SPC-5, 4.4).
    pub fn sense_codes(&self) -> [u8; 3] {
        let sense = &self.sense;
        match sense[0] & 0x7f {
            0x72 | 0x73 => [sense[1] & 0x0f, sense[2], sense[3]],
            _ => [sense[2] & 0x0f, sense[12], sense[13]],
        }
    }
}

/// A command with its sense data, at an address that the kernel keeps while the command is in flight.
pub struct Request {
    header: Header,
    command: [u8; COMMAND_MAX],
    sense: [u8; 64],
}

// SAFETY: the pointers are set anew by each command, and are used by the kernel only.
unsafe impl Send for Request {}

impl Default for Request {
    fn default() -> Self {
        let header = Header {
            interface: i32::from(b'S'),
            direction: SG_DXFER_NONE,
            command_length: 0,
            sense_room: 64,
            pieces: 0,
            length: 0,
            data: std::ptr::null_mut(),
            command: std::ptr::null(),
            sense: std::ptr::null_mut(),
            timeout_ms: 60_000,
            flags: 0,
            id: 0,
            user: 0,
            status: 0,
            masked_status: 0,
            message_status: 0,
            sense_length: 0,
            host_status: 0,
            driver_status: 0,
            left: 0,
            duration_ms: 0,
            info: 0,
        };
        Request { header, command: [0; COMMAND_MAX], sense: [0; 64] }
    }
}

impl Request {
    /// Prepares a command of at most 16 bytes.
    pub fn set(&mut self, command: &[u8], transfer: Transfer, data: *mut u8, length: u32) {
        let command = &command[..command.len().min(COMMAND_MAX)];
        self.command[..command.len()].copy_from_slice(command);
        self.sense = [0; 64];
        self.header = Header {
            direction: match transfer {
                Transfer::None => SG_DXFER_NONE,
                Transfer::In => SG_DXFER_FROM_DEV,
                Transfer::Out => SG_DXFER_TO_DEV,
            },
            command_length: command.len() as u8,
            length,
            data,
            ..Request::default().header
        };
    }

    /// Ends the command after this time.
    pub fn set_timeout(&mut self, ms: u32) {
        self.header.timeout_ms = ms;
    }

    /// Polls for the completion, where the driver can.
    pub fn poll_for_completion(&mut self) {
        self.header.flags |= HIPRI;
    }

    fn set_pointers(&mut self) {
        self.header.command = self.command.as_ptr();
        self.header.sense = self.sense.as_mut_ptr();
    }

    /// Sends the command and waits for its answer.
    ///
    /// # Safety
    /// The data given to [`Request::set`] must be valid for its length and used by nothing else
    /// meanwhile.
    pub unsafe fn run(&mut self, device: RawFd) -> io::Result<Answer> {
        self.set_pointers();
        let header = &raw mut self.header;
        // SAFETY: the header is of the kernel's layout; command and sense data are fields of this
        // request, and the data is valid (contract of this function).
        let answer = retry(|| unsafe { libc::ioctl(device, SG_IO as _, header) as isize });
        if answer < 0 {
            return Err(errno(-answer as i32));
        }
        Ok(self.answer(&self.header))
    }

    /// Sends the command to an sg device. [`take`] returns `id` when it has ended.
    ///
    /// # Safety
    /// The request must not move or change, and the data given to [`Request::set`] must be valid and
    /// used by nothing else, until the answer was taken.
    pub unsafe fn submit(&mut self, device: RawFd, id: u32) -> io::Result<()> {
        self.set_pointers();
        self.header.id = id as i32;
        let header = (&raw const self.header).cast();
        // SAFETY: the kernel reads one header; see the contract of this function for what it points to.
        let written =
            retry(|| unsafe { libc::write(device, header, std::mem::size_of::<Header>()) });
        if written < 0 { Err(errno(-written as i32)) } else { Ok(()) }
    }

    fn answer(&self, header: &Header) -> Answer {
        Answer {
            length: header.length.saturating_sub(header.left.max(0) as u32) as usize,
            status: header.status,
            delivered: header.host_status == 0 && header.driver_status & !DRIVER_SENSE == 0,
            sense: self.sense,
        }
    }

    /// The answer that [`take`] returned for this request.
    pub fn answer_of(&self, taken: &Taken) -> Answer {
        self.answer(&taken.0)
    }
}

/// An answer read from an sg device.
pub struct Taken(Header);

impl Taken {
    /// The number it was submitted with.
    pub fn id(&self) -> u32 {
        self.0.id as u32
    }
}

/// Takes an answer from an sg device on which one is ready, or waits for one.
pub fn take(device: RawFd) -> io::Result<Taken> {
    let mut header = Request::default().header;
    let room = (&raw mut header).cast();
    // SAFETY: the kernel writes one header to a header; the pointers in it are not followed here.
    let read = retry(|| unsafe { libc::read(device, room, std::mem::size_of::<Header>()) });
    if read < 0 { Err(errno(-read as i32)) } else { Ok(Taken(header)) }
}

/// Sends a command whose data is `data`, and waits for its answer.
pub fn run(
    device: BorrowedFd<'_>,
    command: &[u8],
    transfer: Transfer,
    data: &mut [u8],
    timeout_ms: u32,
) -> io::Result<Answer> {
    let mut request = Request::default();
    request.set(command, transfer, data.as_mut_ptr(), data.len() as u32);
    request.set_timeout(timeout_ms);
    // SAFETY: `data` is borrowed until the command has ended.
    unsafe { request.run(device.as_raw_fd()) }
}

/// Whether a descriptor is of a character device. sg devices are; they have a queue, and block devices
/// do not.
pub fn is_character(device: impl AsFd) -> bool {
    let mode = rustix::fs::fstat(device).map(|stat| stat.st_mode);
    mode.is_ok_and(|mode| mode & libc::S_IFMT == libc::S_IFCHR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_the_kernels() {
        if cfg!(target_pointer_width = "64") {
            assert_eq!(std::mem::size_of::<Header>(), 88);
        }
    }

    #[test]
    fn sense_codes_are_read_in_both_formats() {
        let mut answer = Answer { length: 0, status: 2, delivered: true, sense: [0; 64] };
        (answer.sense[0], answer.sense[2], answer.sense[12]) = (0x70, 0x05, 0x20);
        assert_eq!(answer.sense_codes(), [5, 0x20, 0]);
        answer.sense = [0; 64];
        answer.sense[..4].copy_from_slice(&[0x72, 0x0e, 0x1d, 0x01]);
        assert_eq!(answer.sense_codes(), [0xe, 0x1d, 1]);
    }

    #[test]
    fn a_file_that_is_no_scsi_device_gives_an_error() {
        let file = std::fs::File::open("/dev/null").unwrap();
        let refused = run(file.as_fd(), &[0; 6], Transfer::None, &mut [], 100).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::ENOTTY));
        assert!(is_character(&file));
    }
}
