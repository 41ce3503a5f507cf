//! MPI, from the library that the launcher of this process belongs to, opened at run time.
//!
//! Open MPI and the family of MPICH have the same functions but other handles: those of Open MPI are
//! pointers to variables of the library, those of MPICH numbers (the "MPICH ABI compatibility
//! initiative", which Intel MPI, MVAPICH and Cray MPICH follow). Only functions that return at once are
//! used besides start and end, so no call can wait for a rank that is gone.

use super::stores::library::Library;
use std::collections::VecDeque;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// A handle: a pointer of Open MPI, or a number of MPICH in the low half. On the processors that
/// fathom runs on, a function that takes an `int` ignores the high half of the register.
type Handle = usize;

/// `MPI_THREAD_FUNNELED`: all calls come from the thread that started MPI. The same in both families.
const FUNNELED: c_int = 1;
/// The tag of all messages.
const TAG: c_int = 25;
/// Room for the version of the library; MPICH writes up to 8192 bytes.
const VERSION_MAX: usize = 8192;

/// A family of MPI libraries with the same handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Open MPI.
    OpenMpi,
    /// MPICH and those with its binary interface.
    Mpich,
}

impl Family {
    fn open(self) -> Result<Library, String> {
        match self {
            Family::OpenMpi => {
                Library::open_for_plugins(&["libmpi.so.40", "libmpi.so.80"], "libopenmpi3")
            }
            Family::Mpich => {
                Library::open_for_plugins(&["libmpich.so.12", "libmpi.so.12"], "libmpich12")
            }
        }
    }
}

/// `MPI_Status`. Open MPI begins with the source, MPICH has two numbers before it.
#[repr(C, align(8))]
#[derive(Clone, Copy, Default)]
struct Status([c_int; 16]);

/// `MPI_Isend` and `MPI_Irecv`: buffer, count, type, rank, tag, communicator, request.
type BeginTransfer<P> =
    unsafe extern "C" fn(P, c_int, Handle, c_int, c_int, Handle, *mut Handle) -> c_int;

struct Functions {
    isend: BeginTransfer<*const c_void>,
    irecv: BeginTransfer<*mut c_void>,
    iprobe: unsafe extern "C" fn(c_int, c_int, Handle, *mut c_int, *mut Status) -> c_int,
    test: unsafe extern "C" fn(*mut Handle, *mut c_int, *mut Status) -> c_int,
    get_count: unsafe extern "C" fn(*const Status, Handle, *mut c_int) -> c_int,
    finalize: unsafe extern "C" fn() -> c_int,
    abort: unsafe extern "C" fn(Handle, c_int) -> c_int,
}

/// The handles of a family.
#[derive(Clone, Copy)]
struct Handles {
    world: Handle,
    byte: Handle,
    errors_return: Handle,
    any_source: c_int,
    /// Place of the source in a status.
    source: usize,
}

impl Handles {
    /// The handles of the family, from its library.
    ///
    /// # Errors
    /// When the library is not of the family.
    fn load(family: Family, library: &Library) -> Result<Handles, String> {
        let variable = |name| {
            let address = library.address(name)?.map(|address| address as Handle);
            address.ok_or_else(|| format!("{} has no {name}: it is not Open MPI", library.name()))
        };
        Ok(match family {
            Family::OpenMpi => Handles {
                world: variable("ompi_mpi_comm_world")?,
                byte: variable("ompi_mpi_byte")?,
                errors_return: variable("ompi_mpi_errors_return")?,
                any_source: -1,
                source: 0,
            },
            Family::Mpich => Handles {
                world: 0x4400_0000,
                byte: 0x4c00_010d,
                errors_return: 0x5400_0001,
                any_source: -2,
                source: 2,
            },
        })
    }
}

/// A message on its way. The library uses `bytes` until the request has ended.
struct Transfer {
    bytes: Vec<u8>,
    request: Box<Handle>,
    peer: u32,
}

/// The ranks that a launcher started together. It stays on the thread that started it.
pub struct Mpi {
    functions: Functions,
    handles: Handles,
    rank: u32,
    size: u32,
    library: String,
    sending: VecDeque<Transfer>,
    receiving: VecDeque<Transfer>,
}

impl Mpi {
    /// Loads the library and starts MPI; all ranks have to. The launcher's timeouts apply.
    ///
    /// # Errors
    /// When there is no library, or MPI refuses.
    pub fn start(family: Family) -> Result<Mpi, String> {
        let library = family.open()?;
        let handles = Handles::load(family, &library)?;
        // SAFETY: the types are those of mpi.h in both families; for handles see `Handle`.
        let functions = unsafe {
            Functions {
                isend: library.function("MPI_Isend")?,
                irecv: library.function("MPI_Irecv")?,
                iprobe: library.function("MPI_Iprobe")?,
                test: library.function("MPI_Test")?,
                get_count: library.function("MPI_Get_count")?,
                finalize: library.function("MPI_Finalize")?,
                abort: library.function("MPI_Abort")?,
            }
        };
        let library = initialise(&library, handles)?;
        let mut mpi = Mpi {
            functions,
            handles,
            rank: 0,
            size: 0,
            library: library.version,
            sending: VecDeque::new(),
            receiving: VecDeque::new(),
        };
        (mpi.rank, mpi.size) = (library.rank, library.size);
        Ok(mpi)
    }

    /// The number of this rank, from 0.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The number of ranks.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The library with its version ("Open MPI v4.1.4").
    pub fn library(&self) -> &str {
        &self.library
    }

    /// Begins to send bytes to a rank. Returns at once.
    ///
    /// # Errors
    /// When MPI refuses, or the message is longer than 2 GiB.
    pub fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), String> {
        let count = c_int::try_from(bytes.len())
            .map_err(|_| format!("a message of {} bytes is too long for MPI", bytes.len()))?;
        let mut transfer = Transfer { bytes, request: Box::new(0), peer: to };
        // SAFETY: bytes and request live in `sending` until the library has ended the request, or
        // for good (see `drop`).
        let code = unsafe {
            (self.functions.isend)(
                transfer.bytes.as_ptr().cast(),
                count,
                self.handles.byte,
                to as c_int,
                TAG,
                self.handles.world,
                &raw mut *transfer.request,
            )
        };
        self.sending.push_back(transfer);
        check(code, "MPI_Isend")
    }

    /// The next message that has arrived, with its sender. Returns at once.
    pub fn receive(&mut self) -> Result<Option<(u32, Vec<u8>)>, String> {
        self.is_idle()?;
        self.accept()?;
        for index in 0..self.receiving.len() {
            if self.has_ended(|mpi| &mut mpi.receiving[index].request)?
                && let Some(transfer) = self.receiving.remove(index)
            {
                return Ok(Some((transfer.peer, transfer.bytes)));
            }
        }
        Ok(None)
    }

    /// Begins to receive a message that was announced, if there is one.
    fn accept(&mut self) -> Result<(), String> {
        let (mut found, mut status) = (0, Status::default());
        let Handles { world, byte, any_source, source, .. } = self.handles;
        // SAFETY: both places are valid for the call.
        let code =
            unsafe { (self.functions.iprobe)(any_source, TAG, world, &mut found, &mut status) };
        check(code, "MPI_Iprobe")?;
        if found == 0 {
            return Ok(());
        }
        let mut count = 0;
        // SAFETY: the status is that of a message.
        check(unsafe { (self.functions.get_count)(&status, byte, &mut count) }, "MPI_Get_count")?;
        let from = status.0[source];
        let bytes = vec![0; usize::try_from(count).unwrap_or_default()];
        let mut transfer = Transfer { bytes, request: Box::new(0), peer: from as u32 };
        // SAFETY: as for `send`; the buffer has room for the message, which no other receive takes.
        let code = unsafe {
            (self.functions.irecv)(
                transfer.bytes.as_mut_ptr().cast(),
                count,
                byte,
                from,
                TAG,
                world,
                &raw mut *transfer.request,
            )
        };
        self.receiving.push_back(transfer);
        check(code, "MPI_Irecv")
    }

    /// Whether every message that was sent has left its buffer.
    pub fn is_idle(&mut self) -> Result<bool, String> {
        let mut index = 0;
        while index < self.sending.len() {
            if self.has_ended(|mpi| &mut mpi.sending[index].request)? {
                self.sending.remove(index);
            } else {
                index += 1;
            }
        }
        Ok(self.sending.is_empty())
    }

    fn has_ended(&mut self, request: impl Fn(&mut Mpi) -> &mut Handle) -> Result<bool, String> {
        let (mut done, mut status) = (0, Status::default());
        let test = self.functions.test;
        // SAFETY: the request is one of a transfer that has not ended; the places are valid.
        let code = unsafe { test(request(self), &mut done, &mut status) };
        check(code, "MPI_Test").map(|()| done != 0)
    }

    /// Ends MPI; all ranks have to. This waits for them.
    pub fn finish(self) {
        // SAFETY: MPI is started, and no call follows.
        unsafe { (self.functions.finalize)() };
    }

    /// Ends all ranks with this exit code, those that hang included.
    pub fn abort(self, code: u8) {
        // SAFETY: MPI is started, and no call follows.
        unsafe { (self.functions.abort)(self.handles.world, c_int::from(code)) };
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        // The library may still write to the buffers of transfers that have not ended.
        std::mem::forget(std::mem::take(&mut self.sending));
        std::mem::forget(std::mem::take(&mut self.receiving));
    }
}

/// What MPI returns at its start.
struct Started {
    rank: u32,
    size: u32,
    version: String,
}

fn initialise(library: &Library, handles: Handles) -> Result<Started, String> {
    type Init = unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int) -> c_int;
    type GetNumber = unsafe extern "C" fn(Handle, *mut c_int) -> c_int;
    type SetHandler = unsafe extern "C" fn(Handle, Handle) -> c_int;
    type Version = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    // SAFETY: the types are those of mpi.h in both families.
    let (init, rank_of, size_of, set_handler, version) = unsafe {
        (
            library.function::<Init>("MPI_Init_thread")?,
            library.function::<GetNumber>("MPI_Comm_rank")?,
            library.function::<GetNumber>("MPI_Comm_size")?,
            library.function::<SetHandler>("MPI_Comm_set_errhandler")?,
            library.function::<Version>("MPI_Get_library_version")?,
        )
    };
    let (mut provided, mut rank, mut size) = (0, 0, 0);
    let mut text = vec![0_u8; VERSION_MAX];
    let mut length = 0;
    // SAFETY: no arguments are passed on, and all places are valid for the calls.
    unsafe {
        check(init(ptr::null_mut(), ptr::null_mut(), FUNNELED, &mut provided), "MPI_Init_thread")?;
        check(set_handler(handles.world, handles.errors_return), "MPI_Comm_set_errhandler")?;
        check(rank_of(handles.world, &mut rank), "MPI_Comm_rank")?;
        check(size_of(handles.world, &mut size), "MPI_Comm_size")?;
        check(version(text.as_mut_ptr().cast(), &mut length), "MPI_Get_library_version")?;
    }
    let text = String::from_utf8_lossy(&text[..length.clamp(0, VERSION_MAX as c_int) as usize]);
    let first = text.lines().next().unwrap_or_default().trim_end_matches('\0');
    // "Open MPI v4.1.4, package: …", "MPICH Version:\t4.0.2".
    let version = first.split(',').next().unwrap_or_default().replace(" Version:", "");
    let version = version.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Started { rank: rank as u32, size: size as u32, version })
}

fn check(code: c_int, function: &str) -> Result<(), String> {
    match code {
        0 => Ok(()),
        code => Err(format!("{function} failed with MPI error {code}")),
    }
}
