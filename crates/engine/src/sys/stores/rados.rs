//! Objects of Ceph through librados, and the connection that librbd uses too.

use super::arrivals::{Arrivals, InFlight};
use super::contract::{Ended, Store, StoreIo, StoreSetup};
use super::library::{Library, c_string, functions};
use crate::hot::op::OpKind;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Cluster = *mut c_void;
/// `rados_ioctx_t`.
pub(super) type Pool = *mut c_void;
type Completion = *mut c_void;
type Callback = unsafe extern "C" fn(Completion, *mut c_void);
type WriteOp = *mut c_void;

functions!(Functions {
    rados_create: fn(*mut Cluster, *const c_char) -> c_int;
    rados_create2: fn(*mut Cluster, *const c_char, *const c_char, u64) -> c_int;
    rados_conf_read_file: fn(Cluster, *const c_char) -> c_int;
    rados_conf_set: fn(Cluster, *const c_char, *const c_char) -> c_int;
    rados_connect: fn(Cluster) -> c_int;
    rados_shutdown: fn(Cluster);
    rados_ioctx_create: fn(Cluster, *const c_char, *mut Pool) -> c_int;
    rados_ioctx_destroy: fn(Pool);
    rados_write: fn(Pool, *const c_char, *const c_char, usize, u64) -> c_int;
    rados_stat: fn(Pool, *const c_char, *mut u64, *mut i64) -> c_int;
    rados_aio_create_completion: fn(*mut c_void, Callback, *const c_void, *mut Completion) -> c_int;
    rados_aio_get_return_value: fn(Completion) -> c_int;
    rados_aio_release: fn(Completion);
    rados_aio_read: fn(Pool, *const c_char, Completion, *mut u8, usize, u64) -> c_int;
    rados_aio_write: fn(Pool, *const c_char, Completion, *const u8, usize, u64) -> c_int;
    rados_create_write_op: fn() -> WriteOp;
    rados_release_write_op: fn(WriteOp);
    rados_write_op_zero: fn(WriteOp, u64, u64);
    rados_aio_write_op_operate: fn(
        WriteOp, Pool, Completion, *const c_char, *const i64, c_int
    ) -> c_int;
});

/// Seconds after which a cluster that does not answer is given up, where the configuration does not
/// say otherwise.
const CONNECT_TIMEOUT: &CStr = c"30";

/// The text of a negative errno.
pub(super) fn reason(code: c_int) -> String {
    io::Error::from_raw_os_error(-code).to_string()
}

/// A pool of a cluster.
pub(super) struct Connection {
    functions: Arc<Functions>,
    cluster: Cluster,
    pub pool: Pool,
}

// SAFETY: librados locks its objects; any thread may use them.
unsafe impl Send for Connection {}

impl Connection {
    pub fn open(setup: &StoreSetup<'_>) -> Result<Connection, String> {
        let name = setup.engine.name();
        let library = Library::open(&["librados.so.2"], "librados2")
            .map_err(|why| format!("ioengine={name} needs librados: {why}"))?;
        let functions = Arc::new(Functions::load(library)?);
        let ceph = &setup.options.ceph;
        let mut connection =
            Connection { functions, cluster: std::ptr::null_mut(), pool: std::ptr::null_mut() };
        connection.create(ceph.cluster.as_deref(), ceph.client.as_deref())?;
        let pool = ceph.pool.as_deref().unwrap_or_default();
        connection.connect(ceph.conf.as_deref(), pool)?;
        Ok(connection)
    }

    /// Oracle: with a name of the cluster, the client's name is a full one.
    fn create(&mut self, cluster: Option<&str>, client: Option<&str>) -> Result<(), String> {
        let client_text = client.map(c_string).transpose()?;
        let client_name = client_text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr());
        let code = match cluster {
            // SAFETY: texts end with NUL; the handle is written once.
            None => unsafe { (self.functions.rados_create)(&mut self.cluster, client_name) },
            Some(cluster) => {
                let full = match client {
                    Some(client) if client.contains('.') => c_string(client)?,
                    client => c_string(&format!("client.{}", client.unwrap_or("admin")))?,
                };
                let cluster = c_string(cluster)?;
                // SAFETY: as above.
                unsafe {
                    (self.functions.rados_create2)(
                        &mut self.cluster,
                        cluster.as_ptr(),
                        full.as_ptr(),
                        0,
                    )
                }
            }
        };
        match code {
            0 => Ok(()),
            _ => Err(format!("no client of a Ceph cluster can be made: {}", reason(code))),
        }
    }

    fn connect(&mut self, conf: Option<&str>, pool: &str) -> Result<(), String> {
        let (f, pool_name) = (&self.functions, c_string(pool)?);
        let conf_text = conf.map(c_string).transpose()?;
        let path = conf_text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr());
        // SAFETY: the cluster was created; texts end with NUL.
        let code = unsafe {
            (f.rados_conf_set)(
                self.cluster,
                c"client_mount_timeout".as_ptr(),
                CONNECT_TIMEOUT.as_ptr(),
            );
            (f.rados_conf_read_file)(self.cluster, path)
        };
        if code != 0 {
            let at = conf.unwrap_or("$CEPH_CONF or /etc/ceph/ceph.conf");
            let why = reason(code);
            return Err(format!("the configuration of Ceph ({at}) cannot be read: {why}"));
        }
        // SAFETY: the cluster was created.
        let code = unsafe { (f.rados_connect)(self.cluster) };
        if code != 0 {
            return Err(format!("the Ceph cluster cannot be reached: {}", reason(code)));
        }
        // SAFETY: the cluster is connected; the name ends with NUL.
        let code =
            unsafe { (f.rados_ioctx_create)(self.cluster, pool_name.as_ptr(), &mut self.pool) };
        match code {
            0 => Ok(()),
            _ => Err(format!("pool={pool} cannot be opened: {}", reason(code))),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: both handles are the library's and are not used any more.
        unsafe {
            if !self.pool.is_null() {
                (self.functions.rados_ioctx_destroy)(self.pool);
            }
            if !self.cluster.is_null() {
                (self.functions.rados_shutdown)(self.cluster);
            }
        }
    }
}

/// The sizes of objects; `None` for those that are not there.
pub(super) fn sizes(setup: &StoreSetup<'_>) -> Result<Vec<Option<u64>>, String> {
    let connection = Connection::open(setup)?;
    let size = |name: &String| {
        let (text, mut size, mut time) = (c_string(name)?, 0, 0);
        // SAFETY: the pool is open, the name ends with NUL, and both numbers are the library's.
        let code = unsafe {
            (connection.functions.rados_stat)(connection.pool, text.as_ptr(), &mut size, &mut time)
        };
        match -code {
            0 => Ok(Some(size).filter(|size| *size > 0)),
            libc::ENOENT => Ok(None),
            _ => Err(format!("{name}: {}", reason(code))),
        }
    };
    setup.names.iter().map(size).collect()
}

/// How a store waits for callbacks of other threads.
pub(super) fn wait_for(arrivals: &Arrivals, busy: bool, wait: Duration, ended: &mut Vec<Ended>) {
    if !busy {
        return arrivals.wait(wait, ended);
    }
    let deadline = Instant::now() + wait;
    loop {
        arrivals.take(ended);
        if !ended.is_empty() || Instant::now() >= deadline {
            return;
        }
        std::hint::spin_loop();
    }
}

/// Objects of a pool.
pub(super) struct Rados {
    connection: Connection,
    objects: Vec<CString>,
    slots: Box<[InFlight<Functions>]>,
    arrivals: Arc<Arrivals>,
    busy: bool,
}

impl Rados {
    pub fn open(setup: &StoreSetup<'_>) -> Result<Rados, String> {
        let connection = Connection::open(setup)?;
        let names: Result<Vec<CString>, String> =
            setup.names.iter().map(|name| c_string(name)).collect();
        let (objects, ceph) = (names?, &setup.options.ceph);
        if !ceph.leaves_objects {
            for object in &objects {
                // SAFETY: the pool is open, the name ends with NUL, and no data is read.
                let code = unsafe {
                    (connection.functions.rados_write)(
                        connection.pool,
                        object.as_ptr(),
                        c"".as_ptr(),
                        0,
                        0,
                    )
                };
                if code < 0 {
                    let name = object.to_string_lossy();
                    return Err(format!("object {name} cannot be made: {}", reason(code)));
                }
            }
        }
        let arrivals = Arc::new(Arrivals::default());
        let slots = InFlight::slots(setup.depth, &arrivals, &connection.functions);
        Ok(Rados { connection, objects, slots, arrivals, busy: ceph.busy_poll })
    }
}

/// The callback of all I/O, in a thread of the library.
unsafe extern "C" fn ended(completion: Completion, private: *mut c_void) {
    // SAFETY: `private` is the slot of the I/O, which lives until this callback was called.
    let slot = unsafe { &*private.cast::<InFlight<Functions>>() };
    // SAFETY: the completion has ended, and is released once.
    let code = unsafe {
        let code = (slot.functions.rados_aio_get_return_value)(completion);
        (slot.functions.rados_aio_release)(completion);
        code
    };
    slot.ended(match (code, slot.io.kind) {
        (..0, _) | (_, OpKind::Read) => i64::from(code),
        _ => slot.whole(),
    });
}

impl Store for Rados {
    unsafe fn start(&mut self, io: &StoreIo) -> Result<(), i64> {
        let object = self.objects[io.file as usize].as_ptr();
        let private = self.slots[io.slot as usize].begin(io);
        let (f, pool, length) = (&self.connection.functions, self.connection.pool, io.length);
        if io.kind.direction().is_none() {
            // A write has ended when it is durable.
            return Err(0);
        }
        let mut completion = std::ptr::null_mut();
        // SAFETY: the pool is open; the buffer belongs to this I/O until it ends (contract of
        // `start`); the slot does not move; a completion that was not started is released here.
        let code = unsafe {
            let made =
                (f.rados_aio_create_completion)(private, ended, std::ptr::null(), &mut completion);
            if made < 0 {
                return Err(i64::from(made));
            }
            match io.kind {
                OpKind::Read => (f.rados_aio_read)(
                    pool,
                    object,
                    completion,
                    io.buffer,
                    length as usize,
                    io.offset,
                ),
                OpKind::Write => (f.rados_aio_write)(
                    pool,
                    object,
                    completion,
                    io.buffer,
                    length as usize,
                    io.offset,
                ),
                _ => {
                    let op = (f.rados_create_write_op)();
                    (f.rados_write_op_zero)(op, io.offset, length);
                    let no_time = std::ptr::null();
                    let code =
                        (f.rados_aio_write_op_operate)(op, pool, completion, object, no_time, 0);
                    (f.rados_release_write_op)(op);
                    code
                }
            }
        };
        if code < 0 {
            // SAFETY: nothing was started, so no callback releases it.
            unsafe { (f.rados_aio_release)(completion) };
            return Err(i64::from(code));
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
