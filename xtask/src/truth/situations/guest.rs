//! Disks that a build machine does not have, in the lab's guest: delayed, unreliable and mirrored ones.

use crate::truth::shape::{Shape, power, spread};
use crate::truth::situation::{ANY, READS, Situation, WRITES};
use crate::truth::stage::{GuestSteps, Made, Stage};
use anyhow::Result;

/// Warnings that hold in a guest whose CPUs are emulated.
const EMULATED: &[&str] = &[
    "cpu-starved",
    "cpu-elsewhere",
    "depth-not-reached",
    "depth-beyond-knee",
    "repeated-offsets",
    "not-steady",
    "interrupts-on-one-cpu",
    "never-written",
    // Emulated CPUs are slow between the I/Os.
    "client-bound",
];

pub const ALL: &[Situation] = &[
    Situation {
        name: "guest-dm-delay",
        what: "a device that delays each I/O (dm-delay)",
        limits: &["device"],
        must: &[],
        may: EMULATED,
        make: |stage| {
            let delay = stage.seeded.between(10, 60);
            let table = format!("delay /dev/nvme0n1 0 {delay}");
            on(stage, ANY, "/dev/mapper/made", mapped(&table, "nvme0n1"))
        },
    },
    Situation {
        name: "guest-null-blk",
        what: "a device that answers after 2 ms (null_blk)",
        limits: &["device"],
        must: &[],
        may: EMULATED,
        make: |stage| on(stage, ANY, "/dev/nullb0", GuestSteps::default()),
    },
    Situation {
        name: "guest-scsi-debug",
        what: "a SCSI disk that answers after 4 ms or more (scsi_debug)",
        limits: &["device"],
        must: &[],
        may: EMULATED,
        make: |stage| {
            let ns = spread(&mut stage.seeded, 4_000_000, 40_000_000);
            let set = "/sys/bus/pseudo/drivers/scsi_debug/ndelay";
            let steps = GuestSteps { set_up: format!("echo {ns} >{set}"), ..GuestSteps::default() };
            on(stage, READS, "/dev/sda", steps)
        },
    },
    Situation {
        name: "guest-slow-leg",
        what: "a mirror (md) with one slow leg",
        limits: &["device"],
        must: &[],
        may: EMULATED,
        make: |stage| {
            let delay = stage.seeded.between(10, 60);
            let leg = mapped(&format!("delay /dev/nvme1n1 0 {delay}"), "nvme1n1");
            let steps = GuestSteps {
                set_up: format!(
                    "{}; mdadm --create /dev/md0 --level=1 --raid-devices=2 --assume-clean --run \
                     --metadata=1.2 /dev/nvme0n1 /dev/mapper/made",
                    leg.set_up
                ),
                take_down: format!("mdadm --stop /dev/md0; {}", leg.take_down),
            };
            on(stage, WRITES, "/dev/md0", steps)
        },
    },
    Situation {
        name: "guest-resync",
        what: "a mirror (md) that synchronises its legs during the run",
        limits: &["device", "CPU", "neighbour"],
        must: &["background-work"],
        may: EMULATED,
        make: |stage| {
            let steps = GuestSteps {
                set_up: "echo 2000 >/proc/sys/dev/raid/speed_limit_min; \
                         echo 4000 >/proc/sys/dev/raid/speed_limit_max; \
                         mdadm --create /dev/md0 --level=1 --raid-devices=2 --run \
                         --metadata=1.2 /dev/nvme0n1 /dev/nvme1n1"
                    .to_owned(),
                take_down: "mdadm --stop /dev/md0".to_owned(),
            };
            on(stage, READS, "/dev/md0", steps)
        },
    },
    Situation {
        name: "guest-dm-flakey",
        what: "a device that fails every other second (dm-flakey)",
        limits: &["device", "CPU"],
        must: &["errors"],
        may: EMULATED,
        make: |stage| {
            let steps = mapped("flakey /dev/nvme0n1 0 1 1", "nvme0n1");
            let made = on(stage, READS, "/dev/mapper/made", steps)?;
            Ok(made.with("--continue_on_error=all").with("--runtime=3s"))
        },
    },
    Situation {
        name: "guest-small-queue",
        what: "an NVMe disk whose queue holds fewer I/Os than the job has in flight",
        limits: &["device", "CPU"],
        must: &[],
        may: EMULATED,
        make: |stage| {
            let set = "/sys/block/nvme1n1/queue/nr_requests";
            let steps = GuestSteps {
                set_up: format!("cat {set} >/tmp/before; echo 4 >{set}"),
                take_down: format!("cat /tmp/before >{set}"),
            };
            let made = on(stage, READS, "/dev/nvme1n1", steps)?;
            Ok(made.with("--ioengine=libaio").with("--iodepth=128"))
        },
    },
];

/// A device-mapper target over a whole disk.
fn mapped(table: &str, disk: &str) -> GuestSteps {
    let size = format!("$(cat /sys/block/{disk}/size)");
    GuestSteps {
        set_up: format!("dmsetup create made --table \"0 {size} {table}\""),
        take_down: "dmsetup remove made".to_owned(),
    }
}

/// A run on a device of the guest.
fn on(stage: &mut Stage, rw: &[&'static str], device: &str, steps: GuestSteps) -> Result<Made> {
    let mut shape = Shape::draw(&mut stage.seeded, rw).lasting(&mut stage.seeded, 1_000);
    (shape.size, shape.jobs) = (16 << 20, 1);
    shape.block = power(&mut stage.seeded, 4096, 64 << 10);
    shape.runtime_ms = shape.runtime_ms.map(|ms| ms.min(3_000));
    let made = Made::new(&shape, &["--direct=1"]).on_device(device);
    Ok(Made { guest: Some(steps), ..made })
}
