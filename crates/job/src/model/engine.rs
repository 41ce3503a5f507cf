//! The engines, and what each of them is.

/// I/O engines by name. Those that do not work yet are refused by the options table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// lseek, then read or write.
    Sync,
    /// pread, pwrite.
    #[default]
    Psync,
    /// readv, writev with coalescing of adjacent I/O.
    Vsync,
    /// preadv, pwritev.
    Pvsync,
    /// preadv2, pwritev2 with flags.
    Pvsync2,
    /// Linux native AIO.
    Libaio,
    /// POSIX AIO: a pool of threads behind aio_read, aio_write.
    Posixaio,
    /// io_uring.
    IoUring,
    /// memcpy to and from a mapping.
    Mmap,
    /// Moves nothing.
    Null,
    /// splice and vmsplice through a pipe.
    Splice,
    /// fallocate, by the kind of I/O; no data.
    Falloc,
    /// ftruncate to each offset; no data.
    Ftruncate,
    /// Makes each file.
    Filecreate,
    /// Asks for the attributes of each file.
    Filestat,
    /// Removes each file.
    Filedelete,
    /// Makes each directory.
    Dircreate,
    /// Asks for the attributes of each directory.
    Dirstat,
    /// Removes each directory.
    Dirdelete,
    /// Touches pages of anonymous memory.
    PageFault,
    /// Computes.
    Cpuio,
    /// Runs a program.
    Exec,
    /// Data through a socket.
    Net,
    /// The same with splice and vmsplice.
    Netsplice,
    /// Objects of a store reached over HTTP.
    Http,
}

/// What the I/O of an engine goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Files or devices that are opened, and whose data is moved.
    Data,
    /// Files that are opened, and of which only the space or the size changes.
    Space,
    /// Names in directories: nothing is opened. Each file gets one I/O a pass.
    Names {
        /// Whether they are those of directories.
        directories: bool,
        /// Whether they have to be there before the run.
        there: bool,
    },
    /// Nothing outside of the process; files are names only, and take as much as `size` says.
    Memory,
    /// A socket.
    Socket,
    /// Objects of a store somewhere else; files are names only.
    Objects,
    /// Nothing at all: its I/O has neither place nor length, and no file.
    Time,
}

/// What is fixed for an engine.
struct Traits {
    engine: Engine,
    name: &'static str,
    synchronous: bool,
    medium: Medium,
}

const fn queued(engine: Engine, name: &'static str, medium: Medium) -> Traits {
    Traits { engine, name, synchronous: false, medium }
}

const fn synchronous(engine: Engine, name: &'static str, medium: Medium) -> Traits {
    Traits { engine, name, synchronous: true, medium }
}

const fn names(engine: Engine, name: &'static str, directories: bool, there: bool) -> Traits {
    synchronous(engine, name, Medium::Names { directories, there })
}

/// One line an engine, in the order of [`Engine`].
const TRAITS: [Traits; 25] = [
    synchronous(Engine::Sync, "sync", Medium::Data),
    synchronous(Engine::Psync, "psync", Medium::Data),
    queued(Engine::Vsync, "vsync", Medium::Data),
    synchronous(Engine::Pvsync, "pvsync", Medium::Data),
    synchronous(Engine::Pvsync2, "pvsync2", Medium::Data),
    queued(Engine::Libaio, "libaio", Medium::Data),
    queued(Engine::Posixaio, "posixaio", Medium::Data),
    queued(Engine::IoUring, "io_uring", Medium::Data),
    synchronous(Engine::Mmap, "mmap", Medium::Data),
    queued(Engine::Null, "null", Medium::Memory),
    synchronous(Engine::Splice, "splice", Medium::Data),
    synchronous(Engine::Falloc, "falloc", Medium::Space),
    synchronous(Engine::Ftruncate, "ftruncate", Medium::Space),
    names(Engine::Filecreate, "filecreate", false, false),
    names(Engine::Filestat, "filestat", false, true),
    names(Engine::Filedelete, "filedelete", false, true),
    names(Engine::Dircreate, "dircreate", true, false),
    names(Engine::Dirstat, "dirstat", true, true),
    names(Engine::Dirdelete, "dirdelete", true, true),
    synchronous(Engine::PageFault, "page_fault", Medium::Memory),
    synchronous(Engine::Cpuio, "cpuio", Medium::Time),
    synchronous(Engine::Exec, "exec", Medium::Time),
    synchronous(Engine::Net, "net", Medium::Socket),
    synchronous(Engine::Netsplice, "netsplice", Medium::Socket),
    queued(Engine::Http, "http", Medium::Objects),
];

impl Engine {
    /// The engine of this name.
    pub fn named(name: &str) -> Option<Engine> {
        TRAITS.iter().find(|traits| traits.name == name).map(|traits| traits.engine)
    }

    const fn traits(self) -> &'static Traits {
        &TRAITS[self as usize]
    }

    /// fio's name.
    pub const fn name(self) -> &'static str {
        self.traits().name
    }

    /// One I/O at a time, whatever `iodepth` says.
    pub const fn is_synchronous(self) -> bool {
        self.traits().synchronous
    }

    /// What its I/O goes to.
    pub const fn medium(self) -> Medium {
        self.traits().medium
    }

    /// Whether data moves between memory and a file or device.
    pub const fn moves_data(self) -> bool {
        matches!(self.medium(), Medium::Data)
    }

    /// Whether files are opened before its I/O.
    pub const fn opens_files(self) -> bool {
        matches!(self.medium(), Medium::Data | Medium::Space)
    }

    /// Whether its I/O makes or removes what the names of its files stand for.
    pub const fn changes_names(self) -> bool {
        matches!(
            self,
            Engine::Filecreate | Engine::Filedelete | Engine::Dircreate | Engine::Dirdelete
        )
    }

    /// Whether anything of a filesystem or a device has a part in it.
    pub const fn has_targets(self) -> bool {
        matches!(self.medium(), Medium::Data | Medium::Space | Medium::Names { .. })
    }
}

/// `stat_type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatCall {
    /// stat(2).
    #[default]
    Stat,
    /// lstat(2): of a link itself.
    Lstat,
    /// statx(2).
    Statx,
}

/// What cpuio does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuLoad {
    /// `cpuload`: share of a CPU, in per cent.
    pub percent: Option<u8>,
    /// `cpuchunks`: length of one burst of work, in microseconds; `None`: the default.
    pub chunk_us: Option<u64>,
    /// `cpumode=qsort`: sorts, rather than doing nothing.
    pub sorts: bool,
    /// `exit_on_io_done`: ends with the workers that do I/O.
    pub ends_with_io: bool,
}

/// What exec runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// `program`.
    pub path: Option<String>,
    /// `arguments`, in one string.
    pub arguments: String,
    /// `grace_time`: seconds between SIGTERM and SIGKILL.
    pub grace_seconds: u64,
    /// `std_redirect`: what it prints goes to files.
    pub redirect: bool,
}

impl Default for Program {
    fn default() -> Self {
        Program { path: None, arguments: String::new(), grace_seconds: 1, redirect: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_engines() {
        for (at, traits) in TRAITS.iter().enumerate() {
            assert_eq!(traits.engine as usize, at, "{}", traits.name);
            assert_eq!(Engine::named(traits.engine.name()), Some(traits.engine));
        }
        assert_eq!(Engine::named("sg"), None);
    }
}
