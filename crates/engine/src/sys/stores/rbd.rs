//! Block devices of Ceph through librbd.

use super::arrivals::{Arrivals, InFlight};
use super::contract::{Ended, Store, StoreIo, StoreSetup};
use super::library::{Library, c_string, functions};
use super::rados::{Connection, Pool, reason, wait_for};
use crate::hot::op::OpKind;
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;
use std::time::Duration;

/// `rbd_image_t`.
type Handle = *mut c_void;
type Completion = *mut c_void;
type Callback = unsafe extern "C" fn(Completion, *mut c_void);

functions!(Functions {
    rbd_open: fn(Pool, *const c_char, *mut Handle, *const c_char) -> c_int;
    rbd_open_read_only: fn(Pool, *const c_char, *mut Handle, *const c_char) -> c_int;
    rbd_close: fn(Handle) -> c_int;
    rbd_get_size: fn(Handle, *mut u64) -> c_int;
    rbd_aio_create_completion: fn(*mut c_void, Callback, *mut Completion) -> c_int;
    rbd_aio_get_return_value: fn(Completion) -> isize;
    rbd_aio_release: fn(Completion);
    rbd_aio_read: fn(Handle, u64, usize, *mut u8, Completion) -> c_int;
    rbd_aio_write: fn(Handle, u64, usize, *const u8, Completion) -> c_int;
    rbd_aio_discard: fn(Handle, u64, u64, Completion) -> c_int;
    rbd_aio_flush: fn(Handle, Completion) -> c_int;
});

/// An open image.
struct Image {
    functions: Arc<Functions>,
    handle: Handle,
    // Dropped last: the image uses it.
    _connection: Connection,
}

// SAFETY: librbd locks its objects; any thread may use them.
unsafe impl Send for Image {}

impl Image {
    fn open(setup: &StoreSetup<'_>, writes: bool) -> Result<Image, String> {
        let library = Library::open(&["librbd.so.1"], "librbd1")
            .map_err(|why| format!("ioengine=rbd needs librbd: {why}"))?;
        let functions = Arc::new(Functions::load(library)?);
        let connection = Connection::open(setup)?;
        let name = setup.options.ceph.image.as_deref().unwrap_or_default();
        let (text, mut handle) = (c_string(name)?, std::ptr::null_mut());
        let open = if writes { functions.rbd_open } else { functions.rbd_open_read_only };
        // SAFETY: the pool is open and the name ends with NUL; no snapshot is named.
        let code = unsafe { open(connection.pool, text.as_ptr(), &mut handle, std::ptr::null()) };
        match code {
            0 => Ok(Image { functions, handle, _connection: connection }),
            _ => Err(format!("rbdname={name} cannot be opened: {}", reason(code))),
        }
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: the image is open, and not used any more.
        unsafe { (self.functions.rbd_close)(self.handle) };
    }
}

/// The size of the image.
pub(super) fn size(setup: &StoreSetup<'_>) -> Result<u64, String> {
    let (image, mut size) = (Image::open(setup, false)?, 0);
    // SAFETY: the image is open.
    match unsafe { (image.functions.rbd_get_size)(image.handle, &mut size) } {
        0 => Ok(size),
        code => Err(format!("the size of the image cannot be read: {}", reason(code))),
    }
}

/// A block device of Ceph.
pub(super) struct Rbd {
    image: Image,
    slots: Box<[InFlight<Functions>]>,
    arrivals: Arc<Arrivals>,
    busy: bool,
}

impl Rbd {
    pub fn open(setup: &StoreSetup<'_>) -> Result<Rbd, String> {
        let image = Image::open(setup, setup.writes)?;
        let arrivals = Arc::new(Arrivals::default());
        let slots = InFlight::slots(setup.depth, &arrivals, &image.functions);
        Ok(Rbd { image, slots, arrivals, busy: setup.options.ceph.busy_poll })
    }
}

/// The callback of all I/O, in a thread of the library.
unsafe extern "C" fn ended(completion: Completion, private: *mut c_void) {
    // SAFETY: `private` is the slot of the I/O, which lives until this callback was called.
    let slot = unsafe { &*private.cast::<InFlight<Functions>>() };
    // SAFETY: the completion has ended, and is released once.
    let code = unsafe {
        let code = (slot.functions.rbd_aio_get_return_value)(completion);
        (slot.functions.rbd_aio_release)(completion);
        code as i64
    };
    slot.ended(match (code, slot.io.kind) {
        (..0, _) | (_, OpKind::Read) => code,
        _ => slot.whole(),
    });
}

impl Store for Rbd {
    unsafe fn start(&mut self, io: &StoreIo) -> Result<(), i64> {
        let private = self.slots[io.slot as usize].begin(io);
        let (f, handle, length) = (&self.image.functions, self.image.handle, io.length as usize);
        let mut completion = std::ptr::null_mut();
        // SAFETY: the image is open; the buffer belongs to this I/O until it ends (contract of
        // `start`); the slot does not move; a completion that was not started is released here.
        unsafe {
            let made = (f.rbd_aio_create_completion)(private, ended, &mut completion);
            if made < 0 {
                return Err(i64::from(made));
            }
            let code = match io.kind {
                OpKind::Read => (f.rbd_aio_read)(handle, io.offset, length, io.buffer, completion),
                OpKind::Write => {
                    (f.rbd_aio_write)(handle, io.offset, length, io.buffer, completion)
                }
                OpKind::Trim | OpKind::ResetZone => {
                    (f.rbd_aio_discard)(handle, io.offset, io.length, completion)
                }
                _ => (f.rbd_aio_flush)(handle, completion),
            };
            if code < 0 {
                (f.rbd_aio_release)(completion);
                return Err(i64::from(code));
            }
        }
        Ok(())
    }

    fn poll(&mut self, wait: Duration, ended: &mut Vec<Ended>) -> Result<(), String> {
        wait_for(&self.arrivals, self.busy, wait, ended);
        Ok(())
    }

    fn can_abandon(&self) -> bool {
        false
    }
}
