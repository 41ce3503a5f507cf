//! NFS through libnfs.

use super::arrivals::{Arrivals, InFlight};
use super::contract::{Ended, Store, StoreIo, StoreSetup};
use super::library::{Library, c_string, functions};
use crate::hot::op::OpKind;
use crate::sys::io::poll_descriptor;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;
use std::time::Duration;

type Context = *mut c_void;
type Handle = *mut c_void;
type Callback = unsafe extern "C" fn(c_int, Context, *mut c_void, *mut c_void);

/// `struct nfs_url`.
#[repr(C)]
struct Url {
    server: *const c_char,
    path: *const c_char,
    file: *const c_char,
}

/// `struct nfs_stat_64`; the size is the eighth number.
#[repr(C)]
#[derive(Default)]
struct Stat {
    before: [u64; 7],
    size: u64,
    after: [u64; 9],
}

functions!(Functions {
    nfs_init_context: fn() -> Context;
    nfs_destroy_context: fn(Context);
    nfs_parse_url_dir: fn(Context, *const c_char) -> *mut Url;
    nfs_destroy_url: fn(*mut Url);
    nfs_set_autoreconnect: fn(Context, c_int);
    nfs_mount: fn(Context, *const c_char, *const c_char) -> c_int;
    nfs_get_error: fn(Context) -> *const c_char;
    nfs_stat64: fn(Context, *const c_char, *mut Stat) -> c_int;
    nfs_fstat64: fn(Context, Handle, *mut Stat) -> c_int;
    nfs_ftruncate: fn(Context, Handle, u64) -> c_int;
    nfs_open: fn(Context, *const c_char, c_int, *mut Handle) -> c_int;
    nfs_close: fn(Context, Handle) -> c_int;
    nfs_fsync_async: fn(Context, Handle, Callback, *mut c_void) -> c_int;
    nfs_get_fd: fn(Context) -> c_int;
    nfs_which_events: fn(Context) -> c_int;
    nfs_service: fn(Context, c_int) -> c_int;
});

/// `nfs_pread_async`, `nfs_pwrite_async` up to libnfs 5: offset and count, the data read comes with
/// the callback.
type ReadOld = unsafe extern "C" fn(Context, Handle, u64, u64, Callback, *mut c_void) -> c_int;
type WriteOld =
    unsafe extern "C" fn(Context, Handle, u64, u64, *const u8, Callback, *mut c_void) -> c_int;
/// The same from libnfs 6 on: buffer, count and offset.
type ReadNew =
    unsafe extern "C" fn(Context, Handle, *mut u8, usize, u64, Callback, *mut c_void) -> c_int;
type WriteNew =
    unsafe extern "C" fn(Context, Handle, *const u8, usize, u64, Callback, *mut c_void) -> c_int;

#[derive(Clone, Copy)]
enum Transfers {
    Old(ReadOld, WriteOld),
    New(ReadNew, WriteNew),
}

/// Versions of libnfs whose calls take the data as [`Transfers::Old`], then those of `New`.
const OLD: &[&str] = &["libnfs.so.13", "libnfs.so.14", "libnfs.so.12", "libnfs.so.11"];
const NEW: &[&str] = &["libnfs.so.16", "libnfs.so.17"];

/// A mounted export.
struct Mount {
    functions: Functions,
    transfers: Transfers,
    context: Context,
}

// SAFETY: a context may be used by any thread, one at a time.
unsafe impl Send for Mount {}

impl Mount {
    fn open(setup: &StoreSetup<'_>) -> Result<Mount, String> {
        let library = Library::open(&[OLD, NEW].concat(), "libnfs13")
            .map_err(|why| format!("ioengine=nfs needs libnfs: {why}"))?;
        let functions = Functions::load(library)?;
        // SAFETY: the types are those of the header of these versions.
        let transfers = unsafe {
            match OLD.contains(&library.name()) {
                true => Transfers::Old(
                    library.function("nfs_pread_async")?,
                    library.function("nfs_pwrite_async")?,
                ),
                false => Transfers::New(
                    library.function("nfs_pread_async")?,
                    library.function("nfs_pwrite_async")?,
                ),
            }
        };
        // SAFETY: the function has no requirements.
        let context = unsafe { (functions.nfs_init_context)() };
        if context.is_null() {
            return Err("libnfs is out of memory".to_owned());
        }
        let mount = Mount { functions, transfers, context };
        let given = setup.options.nfs_url.as_deref().unwrap_or_default();
        let url_text = c_string(given)?;
        // SAFETY: the context lives; texts end with NUL; the URL is destroyed once, after its use.
        let code = unsafe {
            // A server that is gone ends the I/O with an error instead of holding it forever.
            (mount.functions.nfs_set_autoreconnect)(context, 0);
            let url = (mount.functions.nfs_parse_url_dir)(context, url_text.as_ptr());
            if url.is_null() {
                return Err(format!("nfs_url={given}: {}", mount.error()));
            }
            let code = (mount.functions.nfs_mount)(context, (*url).server, (*url).path);
            (mount.functions.nfs_destroy_url)(url);
            code
        };
        match code {
            0 => Ok(mount),
            _ => Err(format!("nfs_url={given} cannot be mounted: {}", mount.error())),
        }
    }

    /// Makes a file at least so long, with a hole at its end.
    fn extend(&self, file: Handle, length: u64) -> Result<(), String> {
        let mut stat = Stat::default();
        // SAFETY: context and handle live; the structure is the library's.
        let code = unsafe {
            match (self.functions.nfs_fstat64)(self.context, file, &mut stat) {
                0 if stat.size < length => {
                    (self.functions.nfs_ftruncate)(self.context, file, length)
                }
                code => code,
            }
        };
        match code {
            0 => Ok(()),
            _ => Err(format!("a file cannot get {length} bytes: {}", self.error())),
        }
    }

    fn error(&self) -> String {
        // SAFETY: the context lives; the text ends with NUL and stays until the next call.
        unsafe {
            let text = (self.functions.nfs_get_error)(self.context);
            match text.is_null() {
                true => "no reason given".to_owned(),
                false => CStr::from_ptr(text).to_string_lossy().into_owned(),
            }
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // SAFETY: the context was made by the library and is not used any more.
        unsafe { (self.functions.nfs_destroy_context)(self.context) }
    }
}

/// A name within the export.
fn path(name: &str) -> Result<std::ffi::CString, String> {
    c_string(&format!("/{}", name.trim_start_matches('/')))
}

/// The sizes of files; `None` for those that are not there.
pub(super) fn sizes(setup: &StoreSetup<'_>) -> Result<Vec<Option<u64>>, String> {
    let mount = Mount::open(setup)?;
    let size = |name: &String| {
        let (name_text, mut stat) = (path(name)?, Stat::default());
        // SAFETY: the context lives, the name ends with NUL, and the structure is the library's.
        let code =
            unsafe { (mount.functions.nfs_stat64)(mount.context, name_text.as_ptr(), &mut stat) };
        match -code {
            0 => Ok(Some(stat.size)),
            libc::ENOENT => Ok(None),
            _ => Err(format!("{name}: {}", mount.error())),
        }
    };
    setup.names.iter().map(size).collect()
}

/// Files of an export.
pub(super) struct Nfs {
    // Dropped before the slots: ending the context calls the callbacks of I/O in flight.
    mount: Mount,
    files: Vec<Handle>,
    slots: Box<[InFlight<()>]>,
    arrivals: Arc<Arrivals>,
    in_flight: usize,
    /// Why the library did not take an I/O.
    refusal: Option<String>,
}

// SAFETY: handles belong to the context and move with it.
unsafe impl Send for Nfs {}

impl Nfs {
    pub fn open(setup: &StoreSetup<'_>) -> Result<Nfs, String> {
        let mount = Mount::open(setup)?;
        let flags = if setup.writes { libc::O_RDWR | libc::O_CREAT } else { libc::O_RDONLY };
        let mut files = Vec::with_capacity(setup.names.len());
        for name in setup.names {
            let (text, mut handle) = (path(name)?, std::ptr::null_mut());
            // SAFETY: the context lives, the name ends with NUL, and the handle is written once.
            let code = unsafe {
                (mount.functions.nfs_open)(mount.context, text.as_ptr(), flags, &mut handle)
            };
            if code != 0 {
                return Err(format!("{name} cannot be opened: {}", mount.error()));
            }
            files.push(handle);
        }
        for (handle, length) in files.iter().zip(setup.lengths) {
            mount.extend(*handle, *length)?;
        }
        let arrivals = Arc::new(Arrivals::default());
        let slots = InFlight::slots(setup.depth, &arrivals, &Arc::new(()));
        Ok(Nfs { mount, files, slots, arrivals, in_flight: 0, refusal: None })
    }
}

/// The callback of all I/O.
unsafe extern "C" fn ended(code: c_int, _: Context, data: *mut c_void, private: *mut c_void) {
    // SAFETY: `private` is the slot of the I/O, which lives as long as the context.
    let slot = unsafe { &*private.cast::<InFlight<()>>() };
    let io = &slot.io;
    if code > 0 && io.kind == OpKind::Read && !data.is_null() {
        let length = (code as usize).min(io.length as usize);
        // SAFETY: the library has so many bytes there, and the buffer belongs to this I/O.
        unsafe { std::ptr::copy_nonoverlapping(data.cast::<u8>(), io.buffer, length) };
    }
    slot.ended(i64::from(code));
}

/// The callback of reads that put data where it belongs by themselves.
unsafe extern "C" fn read_ended(code: c_int, _: Context, _: *mut c_void, private: *mut c_void) {
    // SAFETY: as above.
    unsafe { &*private.cast::<InFlight<()>>() }.ended(i64::from(code));
}

impl Store for Nfs {
    unsafe fn start(&mut self, io: &StoreIo) -> Result<(), i64> {
        let file = self.files[io.file as usize];
        let private = self.slots[io.slot as usize].begin(io);
        let (context, count) = (self.mount.context, io.length);
        // SAFETY: context and handle live; the buffer belongs to this I/O until it ends (contract
        // of `start`); the slot does not move.
        let code = unsafe {
            match (io.kind, self.mount.transfers) {
                (OpKind::Read, Transfers::Old(read, _)) => {
                    read(context, file, io.offset, count, ended, private)
                }
                (OpKind::Read, Transfers::New(read, _)) => {
                    read(context, file, io.buffer, count as usize, io.offset, read_ended, private)
                }
                (OpKind::Write, Transfers::Old(_, write)) => {
                    write(context, file, io.offset, count, io.buffer, ended, private)
                }
                (OpKind::Write, Transfers::New(_, write)) => {
                    write(context, file, io.buffer, count as usize, io.offset, ended, private)
                }
                (OpKind::Fsync | OpKind::Fdatasync | OpKind::SyncFileRange(_), _) => {
                    (self.mount.functions.nfs_fsync_async)(context, file, ended, private)
                }
                _ => return Err(-i64::from(libc::EOPNOTSUPP)),
            }
        };
        match code {
            0 => {
                self.in_flight += 1;
                Ok(())
            }
            _ => {
                let why = self.mount.error();
                self.refusal.get_or_insert(format!("libnfs did not take an I/O: {why}"));
                Err(-i64::from(libc::EIO))
            }
        }
    }

    fn end(&mut self) -> Vec<String> {
        self.refusal.take().into_iter().collect()
    }

    fn poll(&mut self, wait: Duration, ended: &mut Vec<Ended>) -> Result<(), String> {
        let before = ended.len();
        self.arrivals.take(ended);
        let wait = if ended.is_empty() { wait } else { Duration::ZERO };
        let (functions, context) = (&self.mount.functions, self.mount.context);
        // SAFETY: the context lives.
        let (fd, events) =
            unsafe { ((functions.nfs_get_fd)(context), (functions.nfs_which_events)(context)) };
        let events = poll_descriptor(fd, events as i16, wait).map_err(|why| why.to_string())?;
        // SAFETY: the context lives; callbacks write to slots, which live as well.
        if unsafe { (functions.nfs_service)(context, i32::from(events)) } < 0 {
            return Err(format!("the connection to the NFS server failed: {}", self.mount.error()));
        }
        self.arrivals.take(ended);
        self.in_flight -= ended.len() - before;
        Ok(())
    }
}

impl Drop for Nfs {
    fn drop(&mut self) {
        if self.in_flight > 0 {
            // The server does not answer; it would not answer this either.
            return;
        }
        for file in self.files.drain(..) {
            // SAFETY: each handle is closed once. An error does not matter any more.
            unsafe { (self.mount.functions.nfs_close)(self.mount.context, file) };
        }
    }
}
