//! Entries as bytes. An event is stored as its difference from the one before it and from the end of
//! the last access to its file, so most fields need a byte or none. Each block begins anew.

use super::event::{Contents, Entry, Event, File, FileKind, Flags, Level, Operation, Thread};
use super::varint::{Bytes, put, put_signed, put_text};

/// First bytes of entries that are no events.
const FILE: u8 = 0x80;
const THREAD: u8 = 0x81;
const LOST: u8 = 0x82;
const CONTENTS: u8 = 0x83;

// Bits of the first byte of an event beside its operation.
const OPERATION: u8 = 0x0f;
const DEVICE: u8 = 0x10;
const SAME_THREAD: u8 = 0x20;
const SAME_FILE: u8 = 0x40;

// Bits of its second byte.
const HAS_DURATION: u8 = 1;
const HAS_CPU: u8 = 1 << 1;
const WHOLE: u8 = 1 << 2;
const HAS_RESULT: u8 = 1 << 3;
const SAME_LENGTH: u8 = 1 << 4;
const NEXT_OFFSET: u8 = 1 << 5;
const SAME_FLAGS: u8 = 1 << 6;

const KINDS: [FileKind; 4] =
    [FileKind::Regular, FileKind::Directory, FileKind::Block, FileKind::Unknown];

/// Files whose last end is remembered; others share its place, which only costs bytes.
const FILES: usize = 1024;

/// What the next event is compared with; the same in writer and reader.
pub(super) struct Context {
    last: Event,
    ends: Box<[u64; FILES]>,
}

impl Context {
    pub fn new() -> Self {
        let last = Event {
            at_ns: 0,
            duration_ns: None,
            level: Level::Application,
            operation: Operation::Read,
            flags: Flags(0),
            thread: 0,
            file: 0,
            offset: 0,
            length: 0,
            result: None,
            cpu_before_ns: None,
        };
        Context { last, ends: Box::new([0; FILES]) }
    }

    /// Begins a block.
    pub fn reset(&mut self) {
        *self = Context::new();
    }

    fn end(&mut self, file: u32) -> &mut u64 {
        &mut self.ends[file as usize % FILES]
    }

    fn keep(&mut self, event: &Event) {
        *self.end(event.file) = event.offset.wrapping_add(event.length);
        self.last = *event;
    }
}

/// Appends an entry.
pub(super) fn encode(out: &mut Vec<u8>, entry: &Entry, context: &mut Context) {
    match entry {
        Entry::Event(event) => {
            encode_event(out, event, context);
            context.keep(event);
        }
        Entry::File(file) => {
            out.push(FILE);
            put(out, file.number.into());
            put_text(out, &file.name);
            let kind = KINDS.iter().position(|kind| *kind == file.kind).unwrap_or(3);
            out.push(kind as u8 | if file.device.is_some() { 0x10 } else { 0 });
            put(out, file.size);
            if let Some((major, minor)) = file.device {
                put(out, major.into());
                put(out, minor.into());
            }
        }
        Entry::Thread(thread) => {
            out.push(THREAD);
            put(out, thread.number.into());
            put(out, thread.process.into());
            put(out, thread.thread.into());
            put_text(out, &thread.name);
        }
        Entry::Lost(events) => {
            out.push(LOST);
            put(out, *events);
        }
        Entry::Contents(contents) => {
            out.push(CONTENTS);
            put(out, contents.file.into());
            put(out, contents.blocks.into());
            put(out, contents.compressible.into());
            put(out, contents.duplicate.into());
        }
    }
}

fn encode_event(out: &mut Vec<u8>, event: &Event, context: &mut Context) {
    let end = *context.end(event.file);
    let last = &context.last;
    let bit = |is: bool, bit: u8| if is { bit } else { 0 };
    let operation = Operation::ALL.iter().position(|one| *one == event.operation).unwrap_or(0);
    let (same_thread, same_file) = (event.thread == last.thread, event.file == last.file);
    out.push(
        operation as u8
            | bit(event.level == Level::Device, DEVICE)
            | bit(same_thread, SAME_THREAD)
            | bit(same_file, SAME_FILE),
    );
    let is_whole = event.result.is_some_and(|result| u64::try_from(result) == Ok(event.length));
    let (same_length, same_flags) = (event.length == last.length, event.flags == last.flags);
    out.push(
        bit(event.duration_ns.is_some(), HAS_DURATION)
            | bit(event.cpu_before_ns.is_some(), HAS_CPU)
            | bit(is_whole, WHOLE)
            | bit(!is_whole && event.result.is_some(), HAS_RESULT)
            | bit(same_length, SAME_LENGTH)
            | bit(event.offset == end, NEXT_OFFSET)
            | bit(same_flags, SAME_FLAGS),
    );
    put_signed(out, event.at_ns.wrapping_sub(last.at_ns) as i64);
    if !same_thread {
        put(out, event.thread.into());
    }
    if !same_file {
        put(out, event.file.into());
    }
    if event.offset != end {
        put_signed(out, event.offset.wrapping_sub(end) as i64);
    }
    if !same_length {
        put(out, event.length);
    }
    if !same_flags {
        put(out, event.flags.0.into());
    }
    if let Some(duration) = event.duration_ns {
        put(out, duration);
    }
    if let Some(cpu) = event.cpu_before_ns {
        put(out, cpu);
    }
    if let Some(result) = event.result.filter(|_| !is_whole) {
        put_signed(out, result);
    }
}

/// The next entry; `None` if the bytes are none.
pub(super) fn decode(bytes: &mut Bytes<'_>, context: &mut Context) -> Option<Entry> {
    let first = bytes.byte()?;
    Some(match first {
        FILE => {
            let (number, name) = (bytes.number32()?, bytes.text()?.to_owned());
            let kind = bytes.byte()?;
            let size = bytes.number()?;
            let device = match kind & 0x10 {
                0 => None,
                _ => Some((bytes.number32()?, bytes.number32()?)),
            };
            let kind = *KINDS.get(usize::from(kind & 0x0f))?;
            Entry::File(File { number, name, kind, size, device })
        }
        THREAD => Entry::Thread(Thread {
            number: bytes.number32()?,
            process: bytes.number32()?,
            thread: bytes.number32()?,
            name: bytes.text()?.to_owned(),
        }),
        LOST => Entry::Lost(bytes.number()?),
        CONTENTS => Entry::Contents(Contents {
            file: bytes.number32()?,
            blocks: bytes.number32()?,
            compressible: bytes.number()?.try_into().ok()?,
            duplicate: bytes.number()?.try_into().ok()?,
        }),
        0x84.. => return None,
        _ => {
            let event = decode_event(first, bytes, context)?;
            context.keep(&event);
            Entry::Event(event)
        }
    })
}

fn decode_event(first: u8, bytes: &mut Bytes<'_>, context: &mut Context) -> Option<Event> {
    let second = bytes.byte()?;
    let last = context.last;
    let has = |bit: u8| second & bit != 0;
    let at_ns = last.at_ns.wrapping_add(bytes.signed()? as u64);
    let thread = if first & SAME_THREAD != 0 { last.thread } else { bytes.number32()? };
    let file = if first & SAME_FILE != 0 { last.file } else { bytes.number32()? };
    let mut offset = *context.end(file);
    if !has(NEXT_OFFSET) {
        offset = offset.wrapping_add(bytes.signed()? as u64);
    }
    let length = if has(SAME_LENGTH) { last.length } else { bytes.number()? };
    let flags = match has(SAME_FLAGS) {
        true => last.flags,
        false => Flags(bytes.number()?.try_into().ok()?),
    };
    let duration_ns = if has(HAS_DURATION) { Some(bytes.number()?) } else { None };
    let cpu_before_ns = if has(HAS_CPU) { Some(bytes.number()?) } else { None };
    let result = match (has(WHOLE), has(HAS_RESULT)) {
        (true, _) => Some(i64::try_from(length).ok()?),
        (_, true) => Some(bytes.signed()?),
        _ => None,
    };
    Some(Event {
        at_ns,
        duration_ns,
        level: if first & DEVICE != 0 { Level::Device } else { Level::Application },
        operation: *Operation::ALL.get(usize::from(first & OPERATION))?,
        flags,
        thread,
        file,
        offset,
        length,
        result,
        cpu_before_ns,
    })
}

/// The operation with this number, for tests.
#[cfg(test)]
pub(super) fn operation(number: usize) -> Operation {
    Operation::ALL[number]
}
