//! Object stores.

use crate::truth::server::{Behaviour, Server};
use crate::truth::shape::spread;
use crate::truth::situation::Situation;
use crate::truth::stage::{Made, Stage};
use anyhow::Result;
use std::time::Duration;

pub const ALL: &[Situation] = &[
    Situation {
        name: "s3-slow-server",
        what: "an object store that takes 3 to 50 ms for each answer",
        limits: &["server"],
        must: &["server-on-this-host"],
        may: &["server-on-this-host", "repeated-objects", "unsigned-content"],
        make: |stage| {
            let delay = Duration::from_micros(spread(&mut stage.seeded, 3_000, 50_000));
            let behaviour = Behaviour { delay, bytes: 4096, ..Behaviour::default() };
            gets(stage, behaviour, &["--rw=read", "--bs=4k", "--size=400k"])
        },
    },
    Situation {
        name: "s3-throttled",
        what: "an object store that refuses every third request as too many",
        limits: &["throttle"],
        must: &["server-throttles", "server-on-this-host"],
        may: &["server-on-this-host", "repeated-objects", "errors"],
        make: |stage| {
            let behaviour = Behaviour { refuses_each: 3, bytes: 4096, ..Behaviour::default() };
            gets(stage, behaviour, &["--rw=read", "--bs=4k", "--size=40k"])
        },
    },
    Situation {
        name: "s3-client",
        what: "uploads whose content the client signs",
        limits: &["client", "CPU"],
        must: &["server-on-this-host"],
        may: &["server-on-this-host", "same-content", "client-bound", "cpu-bound"],
        make: |stage| {
            let bytes = 1 << 20;
            let behaviour = Behaviour { bytes, ..Behaviour::default() };
            let options = ["--rw=write", "--bs=1m", "--size=400m", "--http_s3_payload=signed"];
            gets(stage, behaviour, &options)
        },
    },
];

/// A run against a store on loopback.
fn gets(stage: &mut Stage, behaviour: Behaviour, options: &[&str]) -> Result<Made> {
    let server = Server::start(behaviour)?;
    let mut arguments: Vec<String> = [
        "--ioengine=http",
        "--http_mode=s3",
        "--http_s3_key=key",
        "--http_s3_keyid=id",
        "--filename=/bucket/object",
    ]
    .map(String::from)
    .to_vec();
    arguments.push(format!("--http_host={}", server.address));
    arguments.push(format!("--iodepth={}", stage.seeded.between(1, 8)));
    arguments.extend(options.iter().map(|option| (*option).to_owned()));
    Ok(Made { arguments, ..Made::default() }.holding(server))
}
