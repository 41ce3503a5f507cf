//! iSCSI through libiscsi.

use super::arrivals::{Arrivals, InFlight};
use super::contract::{Ended, Store, StoreIo, StoreSetup};
use super::library::{Library, c_string, functions};
use crate::hot::op::OpKind;
use crate::sys::io::poll_descriptor;
use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};
use std::sync::Arc;
use std::time::{Duration, Instant};

type Context = *mut c_void;
/// `struct scsi_task`, of which only the status, its first number, is read.
type Task = *mut c_int;
type Callback = unsafe extern "C" fn(Context, c_int, *mut c_void, *mut c_void);

const TEXT: usize = 256;

/// `struct iscsi_url`, up to what is read of it.
#[repr(C)]
struct Url {
    portal: [c_char; TEXT],
    target: [c_char; TEXT],
    user: [c_char; TEXT],
    password: [c_char; TEXT],
    target_user: [c_char; TEXT],
    target_password: [c_char; TEXT],
    lun: c_int,
}

/// `struct scsi_readcapacity16`, up to what is read of it.
#[repr(C)]
struct Capacity {
    last_block: u64,
    block: u32,
}

/// `struct unmap_list`.
#[repr(C)]
struct Unmap {
    block: u64,
    count: u32,
}

functions!(Functions {
    iscsi_create_context: fn(*const c_char) -> Context;
    iscsi_destroy_context: fn(Context) -> c_int;
    iscsi_parse_full_url: fn(Context, *const c_char) -> *mut Url;
    iscsi_destroy_url: fn(*mut Url);
    iscsi_get_error: fn(Context) -> *const c_char;
    iscsi_set_targetname: fn(Context, *const c_char) -> c_int;
    iscsi_set_session_type: fn(Context, c_int) -> c_int;
    iscsi_set_initiator_username_pwd: fn(Context, *const c_char, *const c_char) -> c_int;
    iscsi_set_noautoreconnect: fn(Context, c_int);
    iscsi_set_timeout: fn(Context, c_int) -> c_int;
    iscsi_full_connect_sync: fn(Context, *const c_char, c_int) -> c_int;
    iscsi_logout_sync: fn(Context) -> c_int;
    iscsi_readcapacity16_sync: fn(Context, c_int) -> Task;
    scsi_datain_unmarshall: fn(Task) -> *mut Capacity;
    scsi_free_scsi_task: fn(Task);
    iscsi_read16_task: fn(
        Context, c_int, u64, u32, c_int, c_int, c_int, c_int, c_int, c_int, Callback, *mut c_void
    ) -> Task;
    iscsi_write16_task: fn(
        Context, c_int, u64, *mut c_uchar, u32, c_int, c_int, c_int, c_int, c_int, c_int, Callback,
        *mut c_void
    ) -> Task;
    iscsi_unmap_task: fn(
        Context, c_int, c_int, c_int, *mut Unmap, c_int, Callback, *mut c_void
    ) -> Task;
    iscsi_synchronizecache10_task: fn(
        Context, c_int, c_int, c_int, c_int, c_int, Callback, *mut c_void
    ) -> Task;
    scsi_task_add_data_in_buffer: fn(Task, c_int, *mut c_uchar) -> c_int;
    iscsi_get_fd: fn(Context) -> c_int;
    iscsi_which_events: fn(Context) -> c_int;
    iscsi_service: fn(Context, c_int) -> c_int;
});

const SESSION_NORMAL: c_int = 2;
/// The name that fathom logs in with.
const INITIATOR: &str = "iqn.2024-01.io.fathom:initiator";
/// Seconds after which a command without an answer fails.
const TIMEOUT_S: c_int = 60;

/// A logical unit that is logged in to.
struct Lun {
    functions: Arc<Functions>,
    context: Context,
    lun: c_int,
    block: u32,
    blocks: u64,
}

// SAFETY: a context may be used by any thread, one at a time.
unsafe impl Send for Lun {}

fn functions() -> Result<Arc<Functions>, String> {
    let library = Library::open(&["libiscsi.so.7", "libiscsi.so.8", "libiscsi.so.9"], "libiscsi7")
        .map_err(|why| format!("ioengine=libiscsi needs libiscsi: {why}"))?;
    Functions::load(library).map(Arc::new)
}

impl Lun {
    fn open(functions: Arc<Functions>, url_text: &str) -> Result<Lun, String> {
        let name = c_string(INITIATOR)?;
        // SAFETY: the name ends with NUL.
        let context = unsafe { (functions.iscsi_create_context)(name.as_ptr()) };
        if context.is_null() {
            return Err("libiscsi is out of memory".to_owned());
        }
        let mut lun = Lun { functions, context, lun: 0, block: 512, blocks: 0 };
        let text = c_string(url_text)?;
        // SAFETY: the context lives and the text ends with NUL.
        let url = unsafe { (lun.functions.iscsi_parse_full_url)(context, text.as_ptr()) };
        if url.is_null() {
            let form = "iscsi://[user%password@]host[:port]/target/lun, with colons as \\:";
            return Err(format!("'{url_text}' is no URL of a logical unit: give {form}"));
        }
        // SAFETY: the URL is the library's, its texts end with NUL, and it is destroyed once.
        let code = unsafe {
            let code = lun.log_in(&*url);
            (lun.functions.iscsi_destroy_url)(url);
            code
        };
        if code != 0 {
            return Err(format!("{url_text}: {}", lun.error()));
        }
        lun.read_capacity().map_err(|why| format!("{url_text}: {why}"))?;
        Ok(lun)
    }

    /// # Safety
    /// The texts of the URL must end with NUL.
    unsafe fn log_in(&mut self, url: &Url) -> c_int {
        let (f, context) = (&self.functions, self.context);
        self.lun = url.lun;
        // SAFETY: the context lives, the texts end with NUL (contract).
        unsafe {
            (f.iscsi_set_targetname)(context, url.target.as_ptr());
            (f.iscsi_set_session_type)(context, SESSION_NORMAL);
            if url.user[0] != 0 {
                let password = url.password.as_ptr();
                (f.iscsi_set_initiator_username_pwd)(context, url.user.as_ptr(), password);
            }
            // A target that is gone ends the I/O with an error instead of holding it forever.
            (f.iscsi_set_noautoreconnect)(context, 1);
            (f.iscsi_set_timeout)(context, TIMEOUT_S);
            (f.iscsi_full_connect_sync)(context, url.portal.as_ptr(), url.lun)
        }
    }

    fn read_capacity(&mut self) -> Result<(), String> {
        let (f, context) = (&self.functions, self.context);
        // SAFETY: the context lives; the task is freed once, after what belongs to it was read.
        unsafe {
            let task = (f.iscsi_readcapacity16_sync)(context, self.lun);
            if task.is_null() {
                return Err(self.error());
            }
            let good = *task == 0;
            let capacity =
                if good { (f.scsi_datain_unmarshall)(task) } else { std::ptr::null_mut() };
            if let Some(capacity) = capacity.as_ref() {
                (self.block, self.blocks) = (capacity.block.max(1), capacity.last_block + 1);
            }
            let found = !capacity.is_null();
            (f.scsi_free_scsi_task)(task);
            if found { Ok(()) } else { Err(format!("READ CAPACITY failed: {}", self.error())) }
        }
    }

    fn error(&self) -> String {
        // SAFETY: the context lives; the text ends with NUL and stays until the next call.
        unsafe {
            CStr::from_ptr((self.functions.iscsi_get_error)(self.context))
                .to_string_lossy()
                .into_owned()
        }
    }
}

impl Drop for Lun {
    fn drop(&mut self) {
        // SAFETY: the context is not used any more. Destroying it ends what is in flight.
        unsafe { (self.functions.iscsi_destroy_context)(self.context) };
    }
}

/// The sizes of logical units.
pub(super) fn sizes(setup: &StoreSetup<'_>) -> Result<Vec<Option<u64>>, String> {
    let functions = functions()?;
    let size = |url: &String| {
        let lun = Lun::open(Arc::clone(&functions), url)?;
        // SAFETY: the context lives. An error does not matter: the session ends in any case.
        unsafe { (lun.functions.iscsi_logout_sync)(lun.context) };
        Ok(Some(lun.blocks.saturating_mul(u64::from(lun.block))))
    };
    setup.names.iter().map(size).collect()
}

/// Logical units.
pub(super) struct Iscsi {
    // Dropped before the slots: ending a context calls the callbacks of I/O in flight.
    luns: Vec<Lun>,
    slots: Box<[InFlight<Functions>]>,
    arrivals: Arc<Arrivals>,
}

impl Iscsi {
    pub fn open(setup: &StoreSetup<'_>) -> Result<Iscsi, String> {
        let functions = functions()?;
        let log_in = |url: &String| Lun::open(Arc::clone(&functions), url);
        let luns: Result<Vec<Lun>, String> = setup.names.iter().map(log_in).collect();
        let arrivals = Arc::new(Arrivals::default());
        let slots = InFlight::slots(setup.depth, &arrivals, &functions);
        Ok(Iscsi { luns: luns?, slots, arrivals })
    }
}

// SAFETY: tasks in flight belong to the contexts and move with them.
unsafe impl Send for Iscsi {}

/// The callback of all commands. A status of 0 is GOOD.
unsafe extern "C" fn ended(_: Context, status: c_int, task: *mut c_void, private: *mut c_void) {
    // SAFETY: `private` is the slot of the I/O, which lives as long as the context.
    let slot = unsafe { &*private.cast::<InFlight<Functions>>() };
    let result = match status {
        0 => slot.whole(),
        _ => -i64::from(libc::EIO),
    };
    if !task.is_null() {
        // SAFETY: the task belongs to this callback, which frees it once.
        unsafe { (slot.functions.scsi_free_scsi_task)(task.cast()) };
    }
    slot.ended(result);
}

impl Store for Iscsi {
    unsafe fn start(&mut self, io: &StoreIo) -> Result<(), i64> {
        let lun = &self.luns[io.file as usize];
        let (f, context, unit, block) = (&lun.functions, lun.context, lun.lun, lun.block);
        let private = self.slots[io.slot as usize].begin(io);
        if [io.offset, io.length].iter().any(|bytes| !bytes.is_multiple_of(u64::from(block))) {
            return Err(-i64::from(libc::EINVAL));
        }
        let (first, bytes, size) = (io.offset / u64::from(block), io.length as u32, block as c_int);
        // SAFETY: the context lives; the buffer belongs to this I/O until it ends (contract of
        // `start`); the slot does not move. The list of ranges is copied by the call.
        let task = unsafe {
            match io.kind {
                OpKind::Read => {
                    let task = (f.iscsi_read16_task)(
                        context, unit, first, bytes, size, 0, 0, 0, 0, 0, ended, private,
                    );
                    if !task.is_null() {
                        (f.scsi_task_add_data_in_buffer)(task, bytes as c_int, io.buffer);
                    }
                    task
                }
                OpKind::Write => (f.iscsi_write16_task)(
                    context, unit, first, io.buffer, bytes, size, 0, 0, 0, 0, 0, ended, private,
                ),
                OpKind::Trim => {
                    let mut list = Unmap { block: first, count: bytes / block };
                    (f.iscsi_unmap_task)(context, unit, 0, 0, &mut list, 1, ended, private)
                }
                OpKind::Fsync | OpKind::Fdatasync => {
                    (f.iscsi_synchronizecache10_task)(context, unit, 0, 0, 0, 0, ended, private)
                }
                _ => return Err(-i64::from(libc::EOPNOTSUPP)),
            }
        };
        match task.is_null() {
            false => Ok(()),
            true => Err(-i64::from(libc::EIO)),
        }
    }

    fn poll(&mut self, wait: Duration, ended: &mut Vec<Ended>) -> Result<(), String> {
        let deadline = Instant::now() + wait;
        loop {
            for lun in &self.luns {
                let (f, context) = (&lun.functions, lun.context);
                let left = deadline.saturating_duration_since(Instant::now());
                let alone = self.luns.len() == 1 && ended.is_empty();
                let wait = if alone { left } else { left.min(Duration::from_millis(1)) };
                // SAFETY: the context lives.
                let (fd, events) =
                    unsafe { ((f.iscsi_get_fd)(context), (f.iscsi_which_events)(context)) };
                let events =
                    poll_descriptor(fd, events as i16, wait).map_err(|why| why.to_string())?;
                // SAFETY: the context lives; callbacks write to slots, which live as well.
                if unsafe { (f.iscsi_service)(context, i32::from(events)) } < 0 {
                    return Err(format!("the connection to the target failed: {}", lun.error()));
                }
            }
            self.arrivals.take(ended);
            if !ended.is_empty() || Instant::now() >= deadline {
                return Ok(());
            }
        }
    }
}
