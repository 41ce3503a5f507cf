//! The SCSI commands of the `sg` engine (SBC-4), as bytes.

use crate::sys::scsi::{COMMAND_MAX, Transfer};
use plan::SgWriteMode;

/// A command, and how much data goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    bytes: [u8; COMMAND_MAX],
    length: usize,
    /// Which way its data goes.
    pub transfer: Transfer,
    /// Bytes of its data.
    pub data: u32,
}

/// Blocks of the device that a command is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Logical block address.
    pub block: u64,
    /// Number of blocks.
    pub count: u32,
    /// Bytes of a block.
    pub size: u32,
}

/// Force unit access: past the cache of the device.
const FUA: u8 = 0x08;
/// No data-out buffer, of WRITE SAME (16).
const NDOB: u8 = 0x01;
/// Bytes of the parameter list of UNMAP with one descriptor.
pub const UNMAP_BYTES: usize = 24;

impl Command {
    /// The bytes of the command.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn new(bytes: &[u8], transfer: Transfer, data: u32) -> Command {
        let mut command = Command { bytes: [0; COMMAND_MAX], length: bytes.len(), transfer, data };
        command.bytes[..bytes.len()].copy_from_slice(bytes);
        command
    }

    /// A command in its form of 10 bytes, or of 16 where block or count need it.
    fn ranged([short, long]: [u8; 2], flags: u8, range: Range) -> Command {
        let address = range.block.to_be_bytes();
        let count = range.count.to_be_bytes();
        let fits = u32::try_from(range.block).is_ok() && range.count <= u32::from(u16::MAX);
        let mut bytes = [0; COMMAND_MAX];
        bytes[1] = flags;
        if fits && short != 0 {
            bytes[0] = short;
            bytes[2..6].copy_from_slice(&address[4..]);
            bytes[7..9].copy_from_slice(&count[2..]);
            return Command { bytes, length: 10, transfer: Transfer::None, data: 0 };
        }
        bytes[0] = long;
        bytes[2..10].copy_from_slice(&address);
        bytes[10..14].copy_from_slice(&count);
        Command { bytes, length: 16, transfer: Transfer::None, data: 0 }
    }

    fn with(self, transfer: Transfer, data: u32) -> Command {
        Command { transfer, data, ..self }
    }

    /// READ.
    pub fn read(range: Range, fua: bool) -> Command {
        let flags = if fua { FUA } else { 0 };
        Command::ranged([0x28, 0x88], flags, range).with(Transfer::In, range.count * range.size)
    }

    /// What `sg_write_mode` makes of a write. `stream` is the identifier of WRITE STREAM.
    pub fn write(mode: SgWriteMode, range: Range, fua: bool, stream: u16) -> Command {
        let all = range.count * range.size;
        let flags = if fua { FUA } else { 0 };
        let out = Transfer::Out;
        match mode {
            SgWriteMode::Write => Command::ranged([0x2a, 0x8a], flags, range).with(out, all),
            SgWriteMode::WriteAndVerify => Command::ranged([0x2e, 0x8e], 0, range).with(out, all),
            SgWriteMode::WriteSame => Command::ranged([0x41, 0x93], 0, range).with(out, range.size),
            SgWriteMode::WriteSameNdob => Command::ranged([0, 0x93], NDOB, range),
            SgWriteMode::VerifyBytchk00 => Command::ranged([0x2f, 0x8f], 0, range),
            SgWriteMode::VerifyBytchk01 => {
                Command::ranged([0x2f, 0x8f], 0b01 << 1, range).with(out, all)
            }
            SgWriteMode::VerifyBytchk11 => {
                Command::ranged([0x2f, 0x8f], 0b11 << 1, range).with(out, range.size)
            }
            SgWriteMode::WriteStream => {
                let mut command = Command::ranged([0, 0x9a], flags, range).with(out, all);
                let count = (range.count as u16).to_be_bytes();
                command.bytes[10..12].copy_from_slice(&stream.to_be_bytes());
                command.bytes[12..14].copy_from_slice(&count);
                command
            }
        }
    }

    /// UNMAP, and the list of one range that goes with it.
    pub fn unmap(range: Range) -> (Command, [u8; UNMAP_BYTES]) {
        let mut list = [0; UNMAP_BYTES];
        // Lengths of what follows them: the whole list, and its descriptors.
        (list[1], list[3]) = (22, 16);
        list[8..16].copy_from_slice(&range.block.to_be_bytes());
        list[16..20].copy_from_slice(&range.count.to_be_bytes());
        let bytes = [0x42, 0, 0, 0, 0, 0, 0, 0, UNMAP_BYTES as u8, 0];
        (Command::new(&bytes, Transfer::Out, UNMAP_BYTES as u32), list)
    }

    /// SYNCHRONIZE CACHE of the whole device.
    pub fn synchronize() -> Command {
        Command::new(&[0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0], Transfer::None, 0)
    }

    /// RESET WRITE POINTER of the zone that begins at this block (ZBC).
    pub fn reset_zone(block: u64) -> Command {
        let mut bytes = [0; 16];
        (bytes[0], bytes[1]) = (0x94, 0x04);
        bytes[2..10].copy_from_slice(&block.to_be_bytes());
        Command::new(&bytes, Transfer::None, 0)
    }

    /// READ CAPACITY (16), which answers with 32 bytes.
    pub fn read_capacity() -> Command {
        let mut bytes = [0; 16];
        (bytes[0], bytes[1], bytes[13]) = (0x9e, 0x10, 32);
        Command::new(&bytes, Transfer::In, 32)
    }

    /// STREAM CONTROL that opens a stream, whose identifier is in bytes 4 and 5 of the 8 it answers
    /// with.
    pub fn open_stream() -> Command {
        Command::stream_control(0b01, 0)
    }

    /// STREAM CONTROL that closes a stream.
    pub fn close_stream(stream: u16) -> Command {
        Command::stream_control(0b10, stream)
    }

    fn stream_control(control: u8, stream: u16) -> Command {
        let mut bytes = [0; 16];
        (bytes[0], bytes[1], bytes[13]) = (0x9e, 0x14 | control << 5, 8);
        bytes[4..6].copy_from_slice(&stream.to_be_bytes());
        Command::new(&bytes, Transfer::In, 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: Range = Range { block: 0x0102_0304, count: 8, size: 512 };

    #[test]
    fn small_addresses_take_ten_bytes_and_large_ones_sixteen() {
        let read = Command::read(RANGE, true);
        assert_eq!(read.bytes(), [0x28, 8, 1, 2, 3, 4, 0, 0, 8, 0]);
        assert_eq!((read.transfer, read.data), (Transfer::In, 4096));
        let far = Range { block: 1 << 32, ..RANGE };
        let read = Command::read(far, false);
        assert_eq!(read.bytes(), [0x88, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0]);
        let large = Range { count: 0x1_0000, ..RANGE };
        assert_eq!(Command::read(large, false).bytes()[0], 0x88);
    }

    #[test]
    fn each_mode_of_a_write_is_a_command_of_its_own() {
        let of = |mode| {
            let command = Command::write(mode, RANGE, true, 7);
            let bytes = command.bytes();
            ((bytes[0], bytes[1]), bytes.len(), command.transfer, command.data)
        };
        let (out, none) = (Transfer::Out, Transfer::None);
        assert_eq!(of(SgWriteMode::Write), ((0x2a, 8), 10, out, 4096));
        assert_eq!(of(SgWriteMode::WriteAndVerify), ((0x2e, 0), 10, out, 4096));
        assert_eq!(of(SgWriteMode::WriteSame), ((0x41, 0), 10, out, 512));
        assert_eq!(of(SgWriteMode::WriteSameNdob), ((0x93, 1), 16, none, 0));
        assert_eq!(of(SgWriteMode::VerifyBytchk00), ((0x2f, 0), 10, none, 0));
        assert_eq!(of(SgWriteMode::VerifyBytchk01), ((0x2f, 2), 10, out, 4096));
        assert_eq!(of(SgWriteMode::VerifyBytchk11), ((0x2f, 6), 10, out, 512));
        let stream = Command::write(SgWriteMode::WriteStream, RANGE, true, 7);
        let expected = [0x9a, 8, 0, 0, 0, 0, 1, 2, 3, 4, 0, 7, 0, 8, 0, 0];
        assert_eq!(stream.bytes(), expected);
    }

    #[test]
    fn unmap_lists_its_range() {
        let (command, list) = Command::unmap(RANGE);
        assert_eq!(command.bytes(), [0x42, 0, 0, 0, 0, 0, 0, 0, 24, 0]);
        assert_eq!(list[..8], [0, 22, 0, 16, 0, 0, 0, 0]);
        assert_eq!(list[8..], [0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 8, 0, 0, 0, 0]);
    }

    #[test]
    fn streams_are_opened_and_closed_by_their_control_bits() {
        assert_eq!(Command::open_stream().bytes()[..2], [0x9e, 0x34]);
        let close = Command::close_stream(0x0102);
        assert_eq!(close.bytes()[..6], [0x9e, 0x54, 0, 0, 1, 2]);
    }
}
