//! Situations in a guest: all draws run in one boot, and the program's documents come back over the
//! console.

use super::results::{NotMeasured, Results};
use super::score::score;
use super::situation::Situation;
use super::stage::{GuestSteps, Made, Stage};
use crate::lab::{self, Content};
use anyhow::Result;
use std::fmt::Write;
use std::path::Path;

/// Modules of the made devices. The delay of null_blk is in nanoseconds.
const MODULES: [&str; 10] = [
    "nvme",
    "null_blk nr_devices=1 gb=1 irqmode=2 completion_nsec=2000000",
    "dm-mod",
    "dm-delay",
    "dm-flakey",
    "md-mod",
    "raid1",
    "sd_mod",
    "scsi_debug dev_size_mb=64",
    "ext4",
];

/// A draw that waits for its boot.
struct Drawn {
    situation: &'static Situation,
    draw: u32,
    made: Made,
    line: String,
}

/// Makes the situations in a guest, each so often.
pub fn run(
    root: &Path,
    stage: &mut Stage,
    situations: &[&'static Situation],
    draws: u32,
) -> Result<Results> {
    let mut drawn = Vec::new();
    for draw in 0..draws {
        for situation in situations {
            stage.begin(situation.name, draw);
            let made = (situation.make)(stage)?;
            let options = made.arguments.join(" ");
            let line = format!("fathom run --output-format=json --name=truth {options}");
            drawn.push(Drawn { situation, draw, made, line });
        }
    }
    let (script, program) = (script(&drawn), stage.fathom.clone());
    let tools = ["dmsetup", "mdadm"];
    let content = Content {
        program: &program,
        script: &script,
        modules: &MODULES,
        tools: &tools,
        files: &[],
        devices: &[],
    };
    let said = lab::boot(&root.join("target/lab"), &content)?;
    let documents = lab::documents(&said)?;
    let mut results = Results::default();
    for one in &drawn {
        let (situation, draw) = (one.situation.name, one.draw);
        let name = format!("{situation} {draw}");
        match documents.iter().find(|(known, _)| *known == name) {
            Some((_, document)) => results.outcomes.push(score(
                one.situation,
                &one.made,
                draw,
                document,
                one.line.clone(),
            )),
            None => results.not_measured.push(NotMeasured {
                situation,
                draw,
                why: "the guest printed no document".into(),
            }),
        }
    }
    Ok(results)
}

fn script(drawn: &[Drawn]) -> String {
    let mut script = "export FATHOM_ARCHIVE=off DM_DISABLE_UDEV=1\n".to_owned();
    for Drawn { situation, draw, made, line } in drawn {
        let steps = made.guest.as_ref();
        let step =
            |pick: fn(&GuestSteps) -> &String| steps.map_or("", |steps| pick(steps).as_str());
        // Writing to a string cannot fail.
        let _ = writeln!(
            script,
            "{{ :; {}\n}} >/tmp/log 2>&1\necho '== {} {draw}'\n\
             {line} >/tmp/out 2>>/tmp/log\n[ -s /tmp/out ] && cat /tmp/out || cat /tmp/log\n\
             {{ :; {}\n}} >/tmp/log 2>&1",
            step(|steps| &steps.set_up),
            situation.name,
            step(|steps| &steps.take_down),
        );
    }
    script
}
