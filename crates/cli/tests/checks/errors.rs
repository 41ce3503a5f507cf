//! The check for failed I/O, on real runs.

use crate::common::{alone, loop_device, recorded, scratch, silent, system, the_finding};
use record::Severity;

#[test]
fn errors_are_told_by_kind_with_their_place() {
    let _alone = alone();
    let directory = scratch();
    let device = loop_device(directory.path(), 8 << 20, &[]);
    // The device keeps its size; what is below it goes away.
    let image = directory.path().join("loop.img");
    system("truncate", &["--size=4M", image.to_str().unwrap()]);
    let filename = format!("--filename={}", device.device);
    let arguments = [
        "--name=fails",
        &filename,
        "--ioengine=psync",
        "--direct=1",
        "--rw=read",
        "--bs=64k",
        "--continue_on_error=all",
    ];
    let found = the_finding(&recorded(directory.path(), 1, &arguments), "errors");
    assert_eq!(found.severity, Severity::Error);
    assert!(found.text.contains("64 read errors: Input/output error"), "{found:?}");
    assert!(found.text.contains(&format!("{}, offset 4194304", device.device)), "{found:?}");
    assert!(found.remedy.to_string().contains("dmesg"), "{found:?}");
}

#[test]
fn a_run_without_errors_says_nothing() {
    let directory = scratch();
    let arguments = ["--name=fine", "--rw=read", "--bs=64k", "--size=1m", "--direct=1"];
    silent(&recorded(directory.path(), 0, &arguments), "errors");
}
