//! The code that used the CPUs.

use super::tree::{Json, array, object};
use record::{CodeUse, CpuProfile};

/// The profile as JSON; times are in seconds of CPU time.
pub(super) fn cpu_profile(profile: &CpuProfile) -> Json {
    let seconds = |samples: u64| samples as f64 / f64::from(profile.hz.max(1));
    let code = |code: &CodeUse| {
        object! {
            "pid" => code.pid,
            "process" => &code.process,
            "library" => &code.library,
            "function" => code.function.as_deref(),
            "samples" => code.samples,
            "cpu_seconds" => seconds(code.samples),
        }
    };
    object! {
        "hz" => profile.hz,
        "lost" => profile.lost,
        "with_kernel" => profile.with_kernel,
        "others_cpu_seconds" => profile.with_kernel.then(|| seconds(profile.others)),
        "code" => array(&profile.code, code),
    }
}
