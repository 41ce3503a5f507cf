//! `--profile`: workloads of other tools, made of jobs. What they do is observed from fio 3.33.

use crate::apply;
use crate::error::Origin;
use crate::expand::Keywords;
use crate::file::{Section, Setting};
use std::collections::BTreeMap;

/// An option of a profile.
pub struct ProfileOption {
    /// Its name.
    pub name: &'static str,
    /// Its value when it is not given; empty: none.
    pub default: &'static str,
    /// Whether its value is a number.
    pub number: bool,
    /// One line.
    pub doc: &'static str,
}

/// A workload.
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a line.
    pub doc: &'static str,
    /// Its options.
    pub options: &'static [ProfileOption],
    make: fn(&Given, Keywords) -> Result<Vec<Section>, String>,
}

/// Every profile.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "tiobench",
        doc: "sequential and random writes and reads by threads, like tiotest",
        options: &[
            number(
                "size",
                "",
                "Size of each file in MiB; without it, 4 KiB for each MiB of memory",
            ),
            number("block", "4096", "Block size in bytes"),
            number("numruns", "1", "How many times each part runs"),
            text("dir", "./", "Where its files go"),
            number("threads", "1", "Threads of each part"),
        ],
        make: tiobench,
    },
    Profile {
        name: "act",
        doc: "reads and large writes at fixed rates, like Aerospike's certification tool",
        options: &[
            text("device-names", "", "Devices to work on, split by ':' or ','"),
            number("load", "1", "How many times the basic rates"),
            text("test-duration", "24h", "How long it runs"),
            number("threads-per-queue", "8", "Reading threads of each device"),
            number("read-req-num-512-blocks", "3", "512-byte blocks of a read"),
            number("large-block-op-kbytes", "128", "Size of a write in KiB"),
            number("prep", "0", "Write zeros, then random data, all over the devices instead"),
        ],
        make: act,
    },
];

const fn number(name: &'static str, default: &'static str, doc: &'static str) -> ProfileOption {
    ProfileOption { name, default, number: true, doc }
}

const fn text(name: &'static str, default: &'static str, doc: &'static str) -> ProfileOption {
    ProfileOption { name, default, number: false, doc }
}

/// Reads a second and thread queue of ACT at its basic load.
const ACT_READS: u64 = 2000;

/// Large writes a second of ACT at its basic load.
const ACT_WRITES: u64 = 12;

/// Options of a profile as given.
#[derive(Default)]
pub(crate) struct Given(BTreeMap<&'static str, String>);

impl Given {
    /// Takes an option.
    ///
    /// # Errors
    /// It is no number where it must be one.
    pub(crate) fn take(
        &mut self,
        option: &'static ProfileOption,
        value: &str,
    ) -> Result<(), String> {
        if option.number && value.parse::<u32>().is_err() {
            return Err(format!("'{value}' is not a whole number"));
        }
        self.0.insert(option.name, value.into());
        Ok(())
    }

    fn get<'a>(&'a self, profile: &Profile, name: &str) -> &'a str {
        let default = profile.options.iter().find(|option| option.name == name);
        self.0.get(name).map_or(default.map_or("", |option| option.default), String::as_str)
    }

    fn number(&self, profile: &Profile, name: &str) -> u64 {
        self.get(profile, name).parse().unwrap_or(0)
    }
}

/// The profile of this name.
pub(crate) fn find(name: &str) -> Result<&'static Profile, String> {
    PROFILES.iter().find(|profile| profile.name == name).ok_or_else(|| {
        let names: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
        format!("there is no profile '{name}'; there are {}", names.join(" and "))
    })
}

impl Profile {
    /// Its sections: the first sets defaults, each other is a job.
    ///
    /// # Errors
    /// What its options lack.
    pub(crate) fn sections(
        &self,
        given: &Given,
        keywords: Keywords,
    ) -> Result<Vec<Section>, String> {
        (self.make)(given, keywords)
    }

    /// Its options, a line each, as `--cmdhelp` lists options.
    pub fn help(&self) -> String {
        self.options.iter().map(|o| format!("{:<24}: {}\n", o.name, o.doc)).collect()
    }
}

fn section(name: &str, settings: &[(&str, String)]) -> Section {
    let setting = |(name, value): &(&str, String)| Setting {
        name: (*name).into(),
        value: Some(value.clone()),
        origin: Origin::command_line(),
    };
    let mut section = apply::command_line_section(name);
    section.settings = settings.iter().map(setting).collect();
    section
}

fn tiobench(given: &Given, keywords: Keywords) -> Result<Vec<Section>, String> {
    let profile = find("tiobench")?;
    let get = |name: &str| given.get(profile, name).to_owned();
    let size = match given.number(profile, "size") {
        0 => keywords.memory_mib << 12,
        mebibytes => mebibytes << 20,
    };
    let on = || "1".to_owned();
    let global = section(
        "global",
        &[
            ("buffered", "0".into()),
            ("size", size.to_string()),
            ("bs", get("block")),
            ("loops", get("numruns")),
            ("directory", get("dir")),
            ("numjobs", get("threads")),
            ("runtime", "600".into()),
            ("group_reporting", on()),
            ("thread", on()),
            ("overwrite", on()),
            ("filename", ".fio.tio.1:.fio.tio.2:.fio.tio.3:.fio.tio.4".into()),
            ("ioengine", "sync".into()),
        ],
    );
    let part = |name: &str, rw: &str, more: &[(&str, String)]| {
        section(name, &[&[("rw", rw.to_owned())], more].concat())
    };
    let (after, sync) = (("stonewall", on()), ("end_fsync", on()));
    Ok(vec![
        global,
        part("seqwrite", "write", std::slice::from_ref(&sync)),
        part("randwrite", "randwrite", &[after.clone(), sync]),
        part("seqread", "read", std::slice::from_ref(&after)),
        part("randread", "randread", std::slice::from_ref(&after)),
    ])
}

fn act(given: &Given, _: Keywords) -> Result<Vec<Section>, String> {
    let profile = find("act")?;
    let devices: Vec<&str> =
        given.get(profile, "device-names").split([':', ',']).filter(|d| !d.is_empty()).collect();
    if devices.is_empty() {
        return Err("--profile=act needs --device-names=DEVICE[:DEVICE…]".into());
    }
    let preparing = given.number(profile, "prep") > 0;
    let on = || "1".to_owned();
    let mut common =
        vec![("direct", on()), ("ioengine", "sync".into()), ("random_generator", "lfsr".into())];
    common.extend([("group_reporting", on()), ("thread", on())]);
    if !preparing {
        let duration = given.get(profile, "test-duration").to_owned();
        common.extend([("runtime", duration), ("time_based", on())]);
    }
    let mut sections = vec![section("global", &common)];
    match preparing {
        true => sections.extend(act_preparation(&devices)),
        false => sections.extend(devices.iter().flat_map(|d| act_load(given, profile, d))),
    }
    Ok(sections)
}

/// Devices written all over: with zeros side by side, then all of them with data at random.
fn act_preparation(devices: &[&str]) -> Vec<Section> {
    let pass = |name: &str, device: &str, settings: &[(&str, String)]| {
        let filename = [("filename", device.to_owned())];
        section(&format!("act-prep-{name}-{device}"), &[&filename[..], settings].concat())
    };
    let zeroes = [("bs", "1M".into()), ("rw", "write".into()), ("zero_buffers", "1".into())];
    let salt = [
        ("bs", "4k".into()),
        ("rw", "randwrite".into()),
        ("ioengine", "libaio".into()),
        ("iodepth", "64".into()),
    ];
    let after = ("stonewall", "1".to_owned());
    let first = devices.iter().map(|device| pass("zeroes", device, &zeroes));
    let second = devices.iter().enumerate().map(|(index, device)| match index {
        0 => pass("salt", device, &[&salt[..], std::slice::from_ref(&after)].concat()),
        _ => pass("salt", device, &salt),
    });
    first.chain(second).collect()
}

/// The reads and writes of a device.
fn act_load(given: &Given, profile: &Profile, device: &str) -> Vec<Section> {
    let number = |name: &str| given.number(profile, name);
    let threads = number("threads-per-queue").max(1);
    let rate = |all: u64, threads: u64| (all * number("load").max(1)).div_ceil(threads).to_string();
    let reads = [
        ("filename", device.to_owned()),
        ("rw", "randread".into()),
        ("numjobs", threads.to_string()),
        ("rate_iops", rate(ACT_READS, threads)),
        ("bs", (number("read-req-num-512-blocks") * 512).to_string()),
    ];
    let writes = [
        ("filename", device.to_owned()),
        ("rw", "randwrite".into()),
        ("rate_iops", rate(ACT_WRITES, 1)),
        ("bs", (number("large-block-op-kbytes") << 10).to_string()),
    ];
    vec![
        section(&format!("act-read-{device}"), &reads),
        section(&format!("act-write-{device}"), &writes),
    ]
}
