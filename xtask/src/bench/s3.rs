//! `cargo xtask bench s3`: what objects cost the client, beside the least that any client has to do
//! for the same bytes, turn by turn, over loopback to a store that keeps nothing.

use super::bounds::middle;
use super::cases::Ends;
use super::machine;
use super::measure::Program;
use super::output::publish;
use crate::cargo;
use anyhow::{Context, Result, bail};
use clap::Args;
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use wait4::{ResUse, Wait4};

const GIB: f64 = (1_u64 << 30) as f64;

/// How often, and over how much.
#[derive(Args)]
pub struct Options {
    /// Measure this program as ours instead of building it.
    #[arg(long, value_name = "PATH")]
    fathom: Option<PathBuf>,
    /// Rounds of each case.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(3..))]
    rounds: u32,
    /// GiB of each run with large objects.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1024))]
    gib: u64,
    /// Thousands of GETs of each run with small objects.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    thousands: u64,
    /// Write the table here as well.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What must hold of a case.
enum Demand {
    /// At most so many times the floor's CPU time, and at most so many CPU-seconds per GiB, where
    /// that is demanded.
    Bytes { ratio: f64, seconds: Option<f64> },
    /// At least so many requests per CPU-second.
    Requests(f64),
}

struct Case {
    name: &'static str,
    /// What the floor does.
    floor: &'static str,
    /// Bytes of an object.
    size: u64,
    /// In flight.
    depth: u32,
    options: &'static [&'static str],
    demand: Demand,
}

const LARGE: u64 = 5 << 20;

const CASES: &[Case] = &[
    Case {
        name: "PUT, content signed",
        floor: "put-hashed",
        size: LARGE,
        depth: 8,
        options: &["--rw=write", "--http_s3_payload=signed"],
        demand: Demand::Bytes { ratio: 1.4, seconds: Some(0.7) },
    },
    Case {
        name: "PUT, content not signed",
        floor: "put",
        size: LARGE,
        depth: 8,
        options: &["--rw=write", "--http_s3_payload=unsigned"],
        demand: Demand::Bytes { ratio: 1.5, seconds: Some(0.35) },
    },
    Case {
        name: "GET",
        floor: "get",
        size: LARGE,
        depth: 8,
        options: &["--rw=read"],
        demand: Demand::Bytes { ratio: 1.5, seconds: Some(0.3) },
    },
    Case {
        name: "GET of 4 KiB",
        floor: "get",
        size: 4096,
        depth: 8,
        options: &["--rw=read"],
        demand: Demand::Requests(23_000.0),
    },
    Case {
        name: "PUT over TLS",
        floor: "put-sealed",
        size: LARGE,
        depth: 8,
        options: &["--rw=write", "--https=insecure"],
        demand: Demand::Bytes { ratio: 1.5, seconds: None },
    },
    Case {
        name: "PUT over TLS, content signed",
        floor: "put-hashed-sealed",
        size: LARGE,
        depth: 8,
        options: &["--rw=write", "--https=insecure", "--http_s3_payload=signed"],
        demand: Demand::Bytes { ratio: 1.5, seconds: None },
    },
    Case {
        name: "GET over TLS",
        floor: "get-sealed",
        size: LARGE,
        depth: 8,
        options: &["--rw=read", "--https=insecure"],
        demand: Demand::Bytes { ratio: 1.5, seconds: None },
    },
];

impl Case {
    /// Objects of a run.
    fn count(&self, options: &Options) -> u64 {
        match self.demand {
            Demand::Bytes { .. } => (options.gib << 30) / self.size,
            Demand::Requests(_) => options.thousands * 1000,
        }
    }

    fn is_encrypted(&self) -> bool {
        self.options.contains(&"--https=insecure")
    }

    fn arguments(&self, port: u16, count: u64) -> Vec<String> {
        let mut arguments = vec![
            "--name=bench".to_owned(),
            "--ioengine=http".to_owned(),
            "--http_mode=s3".to_owned(),
            format!("--http_host=127.0.0.1:{port}"),
            "--http_s3_keyid=bench".to_owned(),
            "--http_s3_key=no-secret".to_owned(),
            "--filename=/bench/object".to_owned(),
            format!("--bs={}", self.size),
            format!("--size={}", self.size * count),
            format!("--iodepth={}", self.depth),
        ];
        arguments.extend(self.options.iter().map(|option| (*option).to_owned()));
        arguments
    }
}

/// CPU-seconds of the runs of a case, ours and the floor's.
struct Measured {
    ours: Vec<f64>,
    floor: Vec<f64>,
}

/// The store, ended with the value.
struct Served {
    child: Child,
    port: u16,
}

impl Served {
    fn start(program: &Path, what: &str, size: u64) -> Result<Served> {
        let mut command = Command::new(program);
        command.args([what, &size.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| program.display().to_string())?;
        let mut line = String::new();
        let said = child.stdout.take().context("the store's stdout")?;
        BufReader::new(said).read_line(&mut line).context("the store's port")?;
        let port = line.trim().parse().context("the store told no port")?;
        Ok(Served { child, port })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // One that has ended needs neither.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Measures, and writes the table.
pub fn run(root: &Path, options: &Options, interrupted: &AtomicBool) -> Result<()> {
    let ours = cargo::measured_program(root, options.fathom.as_deref())?;
    let loopback = cargo::release_example(root, "fathom-test-servers", "loopback")?;
    let facts = machine::facts();
    let scratch = tempfile::tempdir().context("making a scratch directory")?;
    let alias = scratch.path().join("fio");
    std::os::unix::fs::symlink(&ours, &alias).context("linking our program as fio")?;
    let fathom = Program::new("fathom", &alias)?;
    let mut text = heading(&fathom.version, options);
    let mut rounds = String::new();
    for case in CASES {
        let store = Served::start(&loopback, "serve", case.size)?;
        // The floor encrypts, and sends it to a store that does not ask what it is.
        let encrypted = match case.is_encrypted() {
            true => Some(Served::start(&loopback, "serve-tls", case.size)?),
            false => None,
        };
        let ours = encrypted.as_ref().unwrap_or(&store).port;
        let count = case.count(options);
        let mut measured = Measured { ours: Vec::new(), floor: Vec::new() };
        for round in 0..options.rounds {
            // Who begins changes, so that neither always meets what the other left.
            for turn in [round % 2, 1 - round % 2] {
                if turn == 0 {
                    measured.floor.push(floor(&loopback, case, store.port, count)?);
                } else {
                    let arguments = case.arguments(ours, count);
                    let sample =
                        fathom.run(&arguments, Ends::Timed, &scratch.path().join("out.json"))?;
                    if sample.ios != count as f64 {
                        bail!("{}: {} I/Os instead of {count}", case.name, sample.ios);
                    }
                    measured.ours.push(sample.process_ns * sample.ios / 1e9);
                }
                if interrupted.load(Ordering::Relaxed) {
                    bail!("interrupted");
                }
            }
        }
        let line = line(case, count, &measured);
        eprint!("{line}");
        text.push_str(&line);
        rounds.push_str(&of_rounds(case, &measured));
    }
    text.push_str("\nCPU-seconds of the rounds, floor / fathom:\n\n");
    text.push_str(&rounds);
    text.push_str("\nMachine:\n\n");
    facts.iter().for_each(|fact| text.push_str(&format!("- {fact}\n")));
    publish(root, options.output.as_deref(), &text, "bench-s3.md")
}

fn heading(version: &str, options: &Options) -> String {
    format!(
        "# What objects cost the client\n\nfathom is `{version}`. Medians of {} rounds, turn by turn; \
         CPU time is the kernel's account of the whole process from start to exit, {} GiB a run with \
         large objects (5 MiB, 8 in flight), {} 000 requests with small ones. The floor sends and \
         receives the same bytes over as many connections with nothing but system calls, and one \
         pass of SHA-256 where content is signed, of AES-256-GCM where it is encrypted. A ratio is the median of the rounds' own.\n\n\
         | case | fathom | floor | ratio | demanded | |\n|---|--:|--:|--:|---|---|\n",
        options.rounds, options.gib, options.thousands
    )
}

/// CPU-seconds of one run of the floor.
fn floor(program: &Path, case: &Case, port: u16, count: u64) -> Result<f64> {
    let mut command = Command::new(program);
    let numbers = [u64::from(port), case.size, count, u64::from(case.depth)];
    command.arg(case.floor).args(numbers.map(|number| number.to_string()));
    let mut child = command.spawn().with_context(|| program.display().to_string())?;
    let ResUse { status, rusage } = child.wait4().context("waiting for the floor")?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok((rusage.utime + rusage.stime).as_secs_f64())
}

fn line(case: &Case, count: u64, measured: &Measured) -> String {
    let rounds = measured.ours.iter().zip(&measured.floor);
    let ratio = middle(rounds.map(|(ours, floor)| ours / floor).collect());
    let [ours, floor] = [&measured.ours, &measured.floor].map(|all| middle(all.clone()));
    let gib = (case.size * count) as f64 / GIB;
    let (ours, floor, unit, demand, held) = match case.demand {
        Demand::Bytes { ratio: most, seconds } => {
            let per_gib = seconds.map_or(String::new(), |most| format!(", ≤ {most} s/GiB"));
            let demand = format!("≤ {most:.1} × floor{per_gib}");
            let held = ratio <= most && seconds.is_none_or(|most| ours / gib <= most);
            (format!("{:.3}", ours / gib), format!("{:.3}", floor / gib), "s/GiB", demand, held)
        }
        Demand::Requests(least) => {
            let [ours, floor] = [ours, floor].map(|seconds| count as f64 / seconds);
            let demand = format!("≥ {least} per CPU-second");
            (format!("{ours:.0}"), format!("{floor:.0}"), "per CPU-second", demand, ours >= least)
        }
    };
    let verdict = if held { "held" } else { "**missed**" };
    let name = case.name;
    format!("| {name} | {ours} {unit} | {floor} {unit} | {ratio:.2} | {demand} | {verdict} |\n")
}

fn of_rounds(case: &Case, measured: &Measured) -> String {
    let all = |seconds: &[f64]| {
        seconds.iter().map(|seconds| format!("{seconds:.2}")).collect::<Vec<_>>().join(", ")
    };
    let mut line = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(line, "- {}: {} / {}", case.name, all(&measured.floor), all(&measured.ours));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_demands_on_bytes_have_to_hold() {
        let said = |ours: f64, floor: f64| {
            line(&CASES[0], 1024, &Measured { ours: vec![ours; 3], floor: vec![floor; 3] })
        };
        // 5 GiB.
        assert!(said(3.0, 2.5).contains("| 0.600 s/GiB | 0.500 s/GiB | 1.20 |"));
        assert!(said(3.0, 2.5).ends_with("| held |\n"));
        assert!(said(3.0, 2.0).contains("missed"), "over the floor");
        assert!(said(4.0, 3.5).contains("missed"), "over the seconds");
    }

    #[test]
    fn small_objects_are_counted_by_the_second() {
        let said =
            |ours: f64| line(&CASES[3], 46_000, &Measured { ours: vec![ours], floor: vec![1.0] });
        assert!(said(2.0).contains("| 23000 per CPU-second | 46000 per CPU-second | 2.00 |"));
        assert!(said(2.0).ends_with("| held |\n") && said(2.1).contains("missed"));
    }
}
