//! Why the kernel does not time I/Os for us, and what would help.

use aya::maps::MapError;
use aya::programs::ProgramError;
use aya::{BtfError, EbpfError};
use std::error::Error;
use std::io;

/// Why the path of I/Os cannot be timed. The text says what would help.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// This process may not load BPF programs.
    #[error("the kernel allows BPF programs only to root, or with CAP_BPF and CAP_PERFMON")]
    NoRights,
    /// The capabilities of this process are those of a user namespace.
    #[error(
        "this process is in a user namespace, where root has no rights in the kernel: run outside of it, as \
         root or with CAP_BPF and CAP_PERFMON"
    )]
    UserNamespace,
    /// The kernel does not describe its types.
    #[error(
        "the kernel has no type information (/sys/kernel/btf/vmlinux): it needs CONFIG_DEBUG_INFO_BTF"
    )]
    NoBtf,
    /// The kernel is locked down.
    #[error(
        "the kernel is locked down (confidentiality), and lets no BPF program read its memory: boot with \
         lockdown=integrity or none"
    )]
    LockedDown,
    /// Numbers of threads differ between this process and the kernel.
    #[error(
        "this process is in a PID namespace of its own: run outside of the container, or with --pid=host"
    )]
    PidNamespace,
    /// The kernel's tracepoints or structures are others than the programs expect.
    #[error("this kernel is unknown here ({0}): Linux 5.12 or later is needed")]
    UnknownKernel(String),
    /// The kernel's verifier does not accept a program.
    #[error(
        "the verifier of Linux {kernel} refuses the BPF programs ({said}): they are tested with Linux 6.1 and \
         6.18; please report this line"
    )]
    Refused {
        /// Release of the kernel.
        kernel: String,
        /// What the verifier says of the instruction.
        said: String,
    },
    /// No target is on a block device.
    #[error("no job reads or writes a block device or a file on one")]
    NoDevice,
    /// The jobs use more devices than the programs can tell apart.
    #[error("the jobs use {0} disks; at most 64 can be timed at once")]
    TooManyDevices(usize),
    /// More threads do I/O than the programs can know.
    #[error("too many threads do I/O: up to 16384 can be timed at once")]
    TooManyThreads,
    /// Nobody asked for it, and it would cost too much.
    #[error(
        "at {iops:.0} I/Os a second it would cost about {:.0} % of the workers' time; --layers times them \
         nevertheless",
        share * 100.0
    )]
    Costly {
        /// I/Os of the disks a second.
        iops: f64,
        /// Share of the workers' time that it would cost.
        share: f64,
    },
    /// Nobody asked for it, and the run ended before it was known what it would cost.
    #[error(
        "the run ended before the rate of its I/Os was known; --layers times them from the first on"
    )]
    TooShort,
    /// It has been finished before.
    #[error("the measurement has ended")]
    Ended,
    /// Anything else.
    #[error("the BPF programs could not be loaded ({0})")]
    Failed(String),
}

/// Number of the initial PID namespace (PROC_PID_INIT_INO).
const INITIAL_PID_NAMESPACE: &str = "pid:[4026531836]";
/// Number of the initial user namespace (PROC_USER_INIT_INO).
const INITIAL_USER_NAMESPACE: &str = "user:[4026531837]";

/// Whether this process is in another namespace of this kind than the initial one.
fn is_in_another(kind: &str, initial: &str) -> bool {
    std::fs::read_link(format!("/proc/self/ns/{kind}"))
        .is_ok_and(|name| name.as_os_str() != initial)
}

impl Unavailable {
    /// The reasons that are known before a program is loaded.
    ///
    /// # Errors
    /// The first of them.
    pub fn check() -> Result<(), Unavailable> {
        if std::fs::metadata("/sys/kernel/btf/vmlinux").is_err() {
            return Err(Unavailable::NoBtf);
        }
        let lockdown = std::fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
        if lockdown.contains("[confidentiality]") {
            return Err(Unavailable::LockedDown);
        }
        match is_in_another("pid", INITIAL_PID_NAMESPACE) {
            true => Err(Unavailable::PidNamespace),
            false => Ok(()),
        }
    }

    /// The reason behind an error, by its innermost cause.
    fn from_causes(error: &(dyn Error + 'static)) -> Unavailable {
        let (mut cause, mut text) = (Some(error), String::new());
        while let Some(error) = cause {
            if let Some(error) = error.downcast_ref::<io::Error>()
                && error.kind() == io::ErrorKind::PermissionDenied
            {
                return match is_in_another("user", INITIAL_USER_NAMESPACE) {
                    true => Unavailable::UserNamespace,
                    false => Unavailable::NoRights,
                };
            }
            (cause, text) = (error.source(), error.to_string());
        }
        let line = text.lines().next().unwrap_or_default();
        Unavailable::Failed(line.to_owned())
    }
}

impl From<EbpfError> for Unavailable {
    fn from(error: EbpfError) -> Self {
        match error {
            EbpfError::RelocationError(error) => Unavailable::UnknownKernel(error.to_string()),
            EbpfError::BtfRelocationError(error) => Unavailable::UnknownKernel(error.to_string()),
            error => Unavailable::from_causes(&error),
        }
    }
}

/// What the verifier says in the end: the last line of its log before its statistics. `None` if it was not
/// asked.
fn verdict(log: &str) -> Option<String> {
    let statistics = ["processed ", "verification time", "stack depth", "mark_precise"];
    let is_said = |line: &&str| !statistics.iter().any(|start| line.starts_with(start));
    let mut lines = log.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.rfind(is_said).map(str::to_owned)
}

impl From<ProgramError> for Unavailable {
    fn from(error: ProgramError) -> Self {
        if let ProgramError::LoadError { verifier_log, .. } = &error
            && let Some(said) = verdict(&verifier_log.to_string())
        {
            let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
            return Unavailable::Refused { kernel, said };
        }
        match error {
            ProgramError::Btf(error) => Unavailable::UnknownKernel(error.to_string()),
            error => Unavailable::from_causes(&error),
        }
    }
}

impl From<BtfError> for Unavailable {
    fn from(error: BtfError) -> Self {
        Unavailable::from_causes(&error)
    }
}

impl From<MapError> for Unavailable {
    fn from(error: MapError) -> Self {
        Unavailable::from_causes(&error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aya::programs::BtfTracePoint;
    use aya::{Btf, EbpfLoader};

    #[test]
    fn a_refusal_by_the_verifier_is_told_with_its_reason() {
        // The call of bpf_ktime_get_ns, and of a function that no kernel has.
        let (clock, unknown) = ([0x85, 0, 0, 0, 5, 0, 0, 0], [0x85, 0, 0, 0, 0xff, 0xff, 0, 0]);
        let mut object = crate::collector::OBJECT.to_vec();
        let calls: Vec<usize> = (0..object.len() - clock.len())
            .step_by(8)
            .filter(|at| object[*at..].starts_with(&clock))
            .collect();
        calls.iter().for_each(|at| object[*at..*at + clock.len()].copy_from_slice(&unknown));
        let btf = Btf::from_sys_fs().unwrap();
        let mut ebpf = EbpfLoader::new().btf(Some(&btf)).load(&object).unwrap();
        let program: &mut BtfTracePoint = ebpf.program_mut("getrq").unwrap().try_into().unwrap();
        let refused = Unavailable::from(program.load("block_getrq", &btf).unwrap_err());
        let Unavailable::Refused { kernel, said } = &refused else { panic!("{refused}") };
        assert!(said.contains("65535"), "{said}");
        assert_eq!(*kernel, std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap().trim());
        assert_eq!(verdict("\nprocessed 0 insns (limit 1000000)\n"), None);
    }

    /// Loads a program of the object in which a name of a kernel structure's field is another one.
    fn loaded_with(field: &str, other: &str, program: &str) -> Result<(), Unavailable> {
        let mut object = crate::collector::OBJECT.to_vec();
        let name = |text: &str| format!("\0{text}\0").into_bytes();
        let (field, other) = (name(field), name(other));
        let found = object.windows(field.len()).position(|bytes| bytes == field).unwrap();
        object[found..found + field.len()].copy_from_slice(&other);
        let btf = Btf::from_sys_fs().unwrap();
        let mut ebpf = EbpfLoader::new().btf(Some(&btf)).load(&object)?;
        let program: &mut BtfTracePoint = ebpf.program_mut(program).unwrap().try_into().unwrap();
        program.load("block_bio_queue", &btf)?;
        Ok(())
    }

    #[test]
    fn a_kernel_that_lacks_a_field_is_told_unless_the_programs_can_do_without() {
        // Kernels without control groups for block I/O have none of this one.
        loaded_with("bi_blkg", "bi_none", "bio_queue").unwrap();
        let refused = loaded_with("bi_iter", "bi_none", "bio_queue").unwrap_err();
        let told = matches!(refused, Unavailable::UnknownKernel(_) | Unavailable::Refused { .. });
        assert!(told, "{refused:?}");
    }

    #[test]
    fn a_refusal_by_the_kernel_is_told_as_missing_rights() {
        let error = |kind: io::ErrorKind| MapError::CreateError {
            name: "cells".into(),
            io_error: kind.into(),
        };
        let refused = Unavailable::from(EbpfError::from(error(io::ErrorKind::PermissionDenied)));
        assert!(refused.to_string().contains("CAP_BPF and CAP_PERFMON"), "{refused}");
        let other = Unavailable::from(error(io::ErrorKind::OutOfMemory));
        assert!(matches!(&other, Unavailable::Failed(text) if text.contains("memory")), "{other}");
    }
}
