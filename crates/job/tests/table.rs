//! The options table against fio's own list, and against itself.

use job::Job;
use job::options::{self, Kind, OptionDef, Status, Value};
use job::value::{self, Units};
use proptest::prelude::*;
use std::collections::HashSet;

const UNITS: Units = Units { kb_base: 1024 };

/// One line of fio's list.
struct Row {
    engine: Option<String>,
    name: String,
    alias: String,
    default: String,
    range: String,
}

/// fio's own list of its options, core and engine.
fn listed() -> Vec<Row> {
    let mut rows = Vec::new();
    for line in include_str!("fixtures/fio-options.txt").lines() {
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let field = |at: usize| fields.get(at).copied().unwrap_or_default().to_string();
        rows.push(match fields.len() {
            5 => Row {
                engine: Some(field(0)),
                name: field(1),
                alias: field(2),
                default: field(4),
                range: String::new(),
            },
            _ => Row {
                engine: None,
                name: field(0),
                alias: field(1),
                default: field(3),
                range: field(4),
            },
        });
    }
    assert!(rows.len() > 300, "the list is cut short: {} rows", rows.len());
    rows
}

fn defined(row: &Row, name: &str) -> Option<&'static OptionDef> {
    match &row.engine {
        Some(engine) => options::find_engine(engine, name),
        None => options::find(name),
    }
}

#[test]
fn every_option_of_fio_is_in_the_table() {
    for row in listed() {
        assert!(defined(&row, &row.name).is_some(), "{:?} {}", row.engine, row.name);
        if !row.alias.is_empty() {
            assert!(defined(&row, &row.alias).is_some(), "{:?} {}", row.engine, row.alias);
        }
    }
}

#[test]
fn options_that_only_older_or_newer_versions_list_are_there_too() {
    for name in [
        "allrandrepeat",
        "bs_is_seq_rand",
        "softrandommap",
        "iomem_align",
        "mem_align",
        "verify_async_cpus",
        "log_max_value",
        "log_unix_epoch",
        "disable_bw",
    ] {
        assert!(options::find(name).is_some(), "{name}");
    }
}

#[test]
fn ranges_are_those_of_fio() {
    for row in listed().iter().filter(|row| row.range.contains("max=")) {
        let def = defined(row, &row.name).unwrap();
        let (min, max) = row.range.split_once(", max=").unwrap();
        let min: f64 = min.trim_start_matches("min=").parse().unwrap();
        let max: Option<f64> = max.parse().ok();
        match def.kind {
            Kind::Int { min: ours, max: top, .. } => {
                assert_eq!(ours as f64, min, "{}", def.name);
                assert_eq!((top != i64::MAX).then_some(top as f64), max, "{}", def.name);
            }
            Kind::Floats { min: ours, max: top } => {
                assert_eq!((ours, Some(top)), (min, max), "{}", def.name);
            }
            Kind::Bool | Kind::Flag => assert_eq!((min, max), (0.0, Some(1.0)), "{}", def.name),
            // A time: its minimum is 0 as it is.
            Kind::Time { .. } | Kind::Times { .. } => assert_eq!(min, 0.0, "{}", def.name),
            other => panic!("{}: a range for {other:?}", def.name),
        }
    }
}

#[test]
fn defaults_are_those_of_fio() {
    // Where fio states none in its list: switches are off, and these are what it does.
    let stated_by_us = ["write_hint", "cpus_allowed_policy", "nonvectored"];
    for row in listed() {
        let def = defined(&row, &row.name).unwrap();
        let theirs = row.default.as_str();
        if theirs.is_empty() || theirs == "no default" {
            let switch = matches!(def.kind, Kind::Bool | Kind::Flag) && def.default == "0";
            let zero = matches!(
                def.kind,
                Kind::Int { .. } | Kind::Time { .. } | Kind::Times { .. } | Kind::Choice
            ) && ["0", ""].contains(&def.default);
            let fits = switch || zero || def.default.is_empty();
            assert!(fits || stated_by_us.contains(&def.name), "{}: {}", def.name, def.default);
            continue;
        }
        let parse = |text: &str| {
            value::parse(def, Some(text), UNITS).unwrap_or_else(|e| panic!("{}: {e}", def.name))
        };
        assert_eq!(parse(def.default), parse(theirs), "{}", def.name);
    }
}

#[test]
fn names_and_aliases_are_unique() {
    let mut core = HashSet::new();
    let mut of_engine = HashSet::new();
    for def in options::all() {
        for name in def.names() {
            assert!(!name.is_empty());
            if def.engines.is_empty() {
                assert!(core.insert(name), "{name} twice");
            }
            for engine in def.engines {
                assert!(of_engine.insert((*engine, name)), "{engine} {name} twice");
            }
        }
    }
}

#[test]
fn engine_options_stand_behind_core_options() {
    let behind: Vec<_> = options::all().skip_while(|def| def.engines.is_empty()).collect();
    assert!(behind.len() > 50);
    assert!(behind.iter().all(|def| !def.engines.is_empty()));
}

#[test]
fn every_row_is_documented() {
    for def in options::all() {
        assert!(!def.doc.is_empty(), "{}", def.name);
        assert!(!def.doc.ends_with('.'), "{}: one line, no full stop", def.name);
        assert!(def.doc.len() <= 76, "{}: too long for help", def.name);
        assert!(def.long.is_empty() || def.long.ends_with('.'), "{}", def.name);
        assert!(!def.long.is_empty(), "{} has no long doc", def.name);
        for choice in def.values {
            assert!(!choice.doc.is_empty(), "{}={}", def.name, choice.name);
        }
        assert_eq!(
            matches!(def.kind, Kind::Choice | Kind::ChoiceWith),
            !def.values.is_empty(),
            "{}",
            def.name
        );
    }
}

#[test]
fn every_other_name_of_a_value_leads_to_one() {
    for def in options::all() {
        for choice in def.values.iter().filter(|choice| !choice.same_as.is_empty()) {
            let target = def.values.iter().find(|other| other.name == choice.same_as);
            assert!(target.is_some_and(|target| target.same_as.is_empty()), "{}", def.name);
        }
    }
}

#[test]
fn every_default_is_accepted() {
    for def in options::all().filter(|def| !def.default.is_empty()) {
        let mut job = Job::default();
        if let Err(error) = options::apply(&mut job, def, Some(def.default), UNITS) {
            panic!("{}={}: {error}", def.name, def.default);
        }
    }
}

/// A value that is not the default, for rows whose kind does not say one.
fn sample(def: &OptionDef) -> Option<&'static str> {
    Some(match (def.name, def.kind) {
        ("rw", _) => "randread:8",
        ("bssplit", _) => "4k/50:8k/50",
        ("filesize", _) => "1m-2m",
        ("mem", _) => "mmap",
        ("ignore_error", _) => "EIO",
        ("sync_file_range", _) => "write:8",
        ("buffer_pattern", _) => "0xdeadbeef",
        ("cpus_allowed" | "numa_cpu_nodes" | "log_compression_cpus" | "plids", _) => "0,2-3",
        ("pi_chk", _) => "GUARD,REFTAG",
        ("log_entries" | "log_compression", _) => "2048",
        ("log_hist_coarseness", _) => "5",
        ("cgroup_weight", _) => "500",
        ("cmdprio_class" | "cmdprio", _) => "2,3",
        ("cmdprio_bssplit", _) => "64k/25/1/0",
        ("numa_mem_policy", _) => "bind:0",
        ("file_service_type", _) => "random:4",
        ("randseed", _) => "42",
        ("random_distribution", _) => "zipf:1.1",
        ("randrepeat" | "scramble_buffers" | "invalidate" | "create_serialize", _) => "0",
        ("nonvectored", _) => "1",
        ("percentile_list", _) => "50:99",
        ("object_mix", _) => "1/2/3/4",
        ("replay_align", _) => "4k",
        ("replay_skip", _) => "read,sync",
        ("verify_interval" | "verify_offset", _) => "512",
        ("verify_pattern", _) => "0xab%o",
        ("verify_async_cpus", _) => "0,1",
        (_, Kind::Bool | Kind::Flag) => match def.default {
            "1" => "0",
            _ => "1",
        },
        (_, Kind::Int { lists: true, .. }) => "7,8,9",
        (_, Kind::Int { max: 1, .. }) => "1",
        (_, Kind::Int { max: 3, .. }) => "3",
        (_, Kind::Int { .. }) => "7",
        ("steadystate", _) => "bw:5%",
        ("latency_percentile", _) => "99",
        (_, Kind::Time { .. } | Kind::Times { .. }) => "77ms",
        (_, Kind::Ranges) => "1k-4k",
        (_, Kind::Size { .. }) => "64m",
        (_, Kind::Text) => "some-text",
        (_, Kind::Choice | Kind::ChoiceWith) => {
            def.values
                .iter()
                .find(|choice| {
                    choice.works && choice.same_as.is_empty() && choice.name != def.default
                })?
                .name
        }
        ("zone_reset_threshold" | "zone_reset_frequency" | "spr_op", _) => "0.5",
        (_, Kind::Floats { .. }) => "1:2",
    })
}

#[test]
fn every_option_that_works_changes_the_job() {
    let mut checked = 0;
    for def in options::all().filter(|def| def.status == Status::Works) {
        let value = sample(def).unwrap_or_else(|| panic!("{} has nothing to set", def.name));
        let mut job = Job::default();
        options::apply(&mut job, def, Some(value), UNITS).unwrap();
        // What already is the default may differ from a job that was told nothing only by `Some`.
        assert_ne!(job, Job::default(), "{}={value} changes nothing", def.name);
        checked += 1;
    }
    assert!(checked > 120, "only {checked} options work");
}

#[test]
fn a_value_that_is_read_back_means_the_same_again() {
    let mut checked = 0;
    for def in options::all().filter(|def| def.status == Status::Works && !def.secret) {
        let (Some(get), Some(value)) = (def.access.get, sample(def)) else { continue };
        let mut job = Job::default();
        options::apply(&mut job, def, Some(value), UNITS).unwrap();
        assert_eq!(get(&Job::default()), None, "{}: a default is read back", def.name);
        let Some(shown) = get(&job) else {
            panic!("{}={value} is not read back", def.name);
        };
        let mut again = Job::default();
        options::apply(&mut again, def, Some(&shown), UNITS).unwrap();
        assert_eq!(again, job, "{}={value} is read back as {shown}", def.name);
        checked += 1;
    }
    assert!(checked > 100, "only {checked} options are read back");
}

#[test]
fn options_that_do_not_work_are_refused_by_name() {
    for def in options::all() {
        if !matches!(def.status, Status::NotYet | Status::Needs(_)) {
            continue;
        }
        let value = match def.kind {
            Kind::Choice | Kind::ChoiceWith => {
                let other = def
                    .values
                    .iter()
                    .find(|choice| choice.name != def.default && choice.same_as != def.default);
                match other {
                    Some(choice) => choice.name,
                    None => continue,
                }
            }
            Kind::Int { max, .. } if max < 99 => "1",
            Kind::Bool | Kind::Flag if def.default == "1" => "0",
            Kind::Bool | Kind::Flag => "1",
            _ => "99",
        };
        let mut job = Job::default();
        options::apply(&mut job, def, Some(value), UNITS).unwrap();
        let unmet = std::mem::take(&mut job.unmet).pop().expect(def.name);
        assert_eq!(unmet.option, def.name);
        assert!(unmet.found.contains("does not work here"), "{unmet:?}");
        if let Status::Needs(what) = def.status {
            assert!(unmet.found.contains(what), "{unmet:?}");
        }
        assert_eq!(job, Job::default(), "{} changed the job it refused", def.name);
    }
}

#[test]
fn giving_a_default_of_what_does_not_work_is_no_error() {
    for (name, value) in
        [("verify", "0"), ("zonemode", "none"), ("log_max_value", "0"), ("do_verify", "1")]
    {
        let def = options::find(name).unwrap();
        assert_eq!(
            options::apply(&mut Job::default(), def, Some(value), UNITS),
            Ok(Vec::new()),
            "{name}={value}"
        );
    }
}

#[test]
fn values_that_do_not_work_are_refused_by_name() {
    for (name, value) in [("ioengine", "libhdfs"), ("ioengine", "external:/tmp/engine.so")] {
        let def = options::find(name).unwrap();
        let mut job = Job::default();
        options::apply(&mut job, def, Some(value), UNITS).unwrap();
        let [unmet] = &job.unmet[..] else { panic!("{name}={value}: {:?}", job.unmet) };
        assert!(unmet.found.contains("does not work here"), "{name}={value}: {unmet:?}");
        assert_eq!(unmet.option, name);
    }
}

#[test]
fn an_engine_that_works_replaces_one_that_does_not() {
    let mut job = Job::default();
    let give = |job: &mut Job, engine, name, value| {
        let def = options::find(name).or_else(|| options::find_engine(engine, name)).unwrap();
        options::apply(job, def, Some(value), UNITS).unwrap();
    };
    give(&mut job, "", "ioengine", "libhdfs");
    give(&mut job, "libhdfs", "hdfsdirectory", "/d");
    assert_eq!(job.unmet.len(), 2);
    give(&mut job, "", "ioengine", "sync");
    assert!(job.unmet.is_empty(), "{:?}", job.unmet);
}

#[test]
fn an_unknown_engine_gets_the_nearest_name() {
    let def = options::find("ioengine").unwrap();
    let error = options::apply(&mut Job::default(), def, Some("libaoi"), UNITS).unwrap_err();
    assert!(error.contains("did you mean 'libaio'?"), "{error}");
}

#[test]
fn warnings_come_with_what_is_not_done_and_only_then() {
    let apply = |def: &OptionDef, value| {
        options::apply(&mut Job::default(), def, Some(value), UNITS).unwrap()
    };
    assert!(apply(options::find("thread").unwrap(), "1").is_empty());
    assert_eq!(apply(options::find("threads").unwrap(), "1").len(), 1);
    assert!(apply(options::find("softrandommap").unwrap(), "1").is_empty());
}

#[test]
fn bounds_are_kept() {
    for def in options::all().filter(|def| def.status == Status::Works) {
        let Kind::Int { min, max, .. } = def.kind else { continue };
        let below = (min - 1).to_string();
        assert!(value::parse(def, Some(&below), UNITS).is_err(), "{}={below}", def.name);
        if max < i64::MAX {
            let above = (max + 1).to_string();
            let error = value::parse(def, Some(&above), UNITS).unwrap_err();
            assert!(error.contains(&max.to_string()), "{}: {error}", def.name);
        }
    }
}

#[test]
fn typing_mistakes_find_the_name_that_was_meant() {
    assert_eq!(options::nearest("iodeph"), Some("iodepth"));
    assert_eq!(options::nearest("block_size"), Some("blocksize"));
    assert_eq!(options::nearest("numjob"), Some("numjobs"));
    assert_eq!(options::nearest("qqqqqqqqqq"), None);
    assert_eq!(options::nearest(""), None);
}

/// Text that is likely to come near a valid value.
fn near_value() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,24}",
        "[-0-9a-fxkKmMgiBbsu%z(),:/+*^.\" ']{0,24}",
        "[(]{0,200}[0-9]{0,3}[)]{0,200}",
        "[0-9]{1,45}[kmgtpbsdhuz%]{0,3}",
    ]
}

proptest! {
    #[test]
    fn no_text_makes_a_row_panic(text in near_value(), base in prop_oneof![Just(1000), Just(1024)]) {
        let units = Units { kb_base: base };
        for def in options::all() {
            let parsed = value::parse(def, Some(&text), units);
            let mut job = Job::default();
            let applied = options::apply(&mut job, def, Some(&text), units);
            if parsed.is_err() {
                prop_assert!(applied.is_err(), "{} took {text:?}", def.name);
            }
        }
    }

    #[test]
    fn values_behind_an_option_name_never_panic(name in "[a-z_]{0,20}") {
        if let Some(near) = options::nearest(&name) {
            prop_assert!(options::all().any(|def| def.names().any(|n| n == near)));
        }
    }
}

#[test]
fn an_option_alone_is_a_flag_or_an_error() {
    for def in options::all() {
        let alone = value::parse(def, None, UNITS);
        match def.kind {
            Kind::Flag => assert_eq!(alone, Ok(Value::Bool(true)), "{}", def.name),
            _ if def.alone => assert_eq!(alone, Ok(Value::Text(String::new())), "{}", def.name),
            _ => assert!(alone.unwrap_err().contains("needs a value"), "{}", def.name),
        }
    }
}
