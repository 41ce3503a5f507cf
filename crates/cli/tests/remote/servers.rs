//! Jobs on servers: what a client sends and prints, and which errors it survives.

use crate::common::served::{LONG, Served, client, job_file};
use crate::common::{FIO, Running, free_port, is_served, run, scratch, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

const TWO_JOBS: &str = "[global]\nsize=64k\nbs=4k\n[a]\nrw=randread\n[b]\nrw=write\nstonewall\n";

/// What ours and the oracle's client print of `two.fio` with these options.
fn two_jobs_of_both(options: &[&str]) -> [String; 2] {
    let directory = scratch();
    job_file(directory.path(), "two.fio", TWO_JOBS);
    let port = free_port();
    let option = format!("--server=127.0.0.1,{port}");
    let oracle = Running::start(Command::new(FIO).args([&option]).current_dir(directory.path()));
    wait_until("the oracle's server", || is_served("tcp", port));
    let theirs = run(Command::new("timeout")
        .args(["120", FIO, &format!("--client=127.0.0.1,{port}"), "two.fio"])
        .args(options)
        .current_dir(directory.path()))
    .expect(0);
    oracle.signal(Signal::KILL);
    let served = Served::start(directory.path(), &[]);
    let server = served.client();
    let arguments = [&[server.as_str(), "two.fio"], options].concat();
    let ours = client("fio", directory.path(), &arguments).expect(0);
    [ours.out, theirs.out]
}

#[test]
fn a_run_on_a_server_prints_what_fios_client_prints() {
    let [ours, theirs] = two_jobs_of_both(&[]);
    assert_eq!(shape(&ours), shape(&theirs));
}

#[test]
fn terse_lines_of_a_client_have_disks_on_lines_of_their_own_as_fios() {
    for version in ["2", "3", "4", "5"] {
        let version = format!("--terse-version={version}");
        let lines = two_jobs_of_both(&["--minimal", &version]).map(|text| fields(&text));
        assert_eq!(lines[0], lines[1], "{version}");
    }
}

/// The name and the number of fields of each terse line: of jobs, of the sum, of disks.
fn fields(text: &str) -> Vec<(String, usize)> {
    // A status line of the oracle's may stand before the version in the first field.
    let fields = text.lines().map(|line| line.split(';').collect::<Vec<_>>());
    let fields = fields.filter(|fields| fields.len() > 1);
    let name = |fields: &[&str]| fields[1 + usize::from(fields[1].starts_with("fio-"))].to_owned();
    fields.map(|fields| (name(&fields), fields.len())).collect()
}

/// Lines of a report without everything that differs from run to run.
fn shape(text: &str) -> Vec<String> {
    let varies = ["clat", "lat (", "bw (", "iops", "|", "cpu", "slat"];
    // A slow run has a status line, which is overwritten.
    let shown = text.lines().map(|line| line.rsplit('\r').next().unwrap_or(line));
    let lines = shown.filter(|line| {
        let line = line.trim_start();
        // Percentiles of all clients: fio loses them. It has no warnings.
        !line.contains("fio: warning: ")
            && !varies.iter().any(|start| line.starts_with(start))
            && !line.contains("Laying out")
    });
    let bare = |line: &str| {
        let words = line.split_whitespace().map(|word| match word.find(['=', ':']) {
            Some(at) => word[..=at].to_owned(),
            None if word.starts_with(|c: char| c.is_ascii_digit()) => "N".into(),
            None => word.to_owned(),
        });
        words.take(2).collect::<Vec<_>>().join(" ")
    };
    lines.map(bare).collect()
}

#[test]
fn json_has_each_job_with_its_host_and_all_of_them_as_one() {
    let directory = scratch();
    job_file(directory.path(), "two.fio", TWO_JOBS);
    let one = Served::start(directory.path(), &[]);
    let socket = directory.path().join("s").display().to_string();
    let other = Served::at(&format!("sock:{socket}"), directory.path(), &[]);
    let arguments = ["--output-format=json", &one.client(), "two.fio", &other.client(), "two.fio"];
    let ran = client("fio", directory.path(), &arguments).expect(0);
    let document = ran.json();
    assert!(document.get("jobs").is_none());
    let stats = document["client_stats"].as_array().unwrap();
    let seen: Vec<(&str, &str)> = stats
        .iter()
        .map(|s| (s["jobname"].as_str().unwrap(), s["hostname"].as_str().unwrap()))
        .collect();
    // In the order in which they were named.
    let expected = [
        ("a", "127.0.0.1"),
        ("b", "127.0.0.1"),
        ("a", socket.as_str()),
        ("b", socket.as_str()),
        ("All clients", socket.as_str()),
    ];
    assert_eq!(seen, expected);
    let bytes = |s: &Value, d: &str| s[d]["io_bytes"].as_u64().unwrap();
    let (all, each) = stats.split_last().unwrap();
    for direction in ["read", "write"] {
        let sum: u64 = each.iter().map(|job| bytes(job, direction)).sum();
        assert_eq!(bytes(all, direction), sum);
        assert_eq!(sum, 2 * 65536, "{direction}");
    }
    let port: u64 = one.address.split_once(',').unwrap().1.parse().unwrap();
    assert_eq!(stats[0]["port"].as_u64(), Some(port));
    let globals = document["global options"].as_array().unwrap();
    assert_eq!(globals.len(), 2, "one for each server whose job file has some");
    assert_eq!(
        (&globals[0]["hostname"], &globals[0]["size"]),
        (&"127.0.0.1".into(), &"64k".into())
    );
    assert_eq!(globals[1]["hostname"], socket.as_str());
    assert!(stats[0].get("eta").is_none());
    let disks = document["disk_util"].as_array().unwrap();
    assert!(disks.iter().all(|disk| disk["hostname"].is_string() && disk["port"].is_u64()));
}

#[test]
fn a_server_is_called_as_the_user_named_it() {
    let directory = scratch();
    let served = Served::start(directory.path(), &[]);
    let port = served.address.split_once(',').unwrap().1;
    let job = ["--output-format=json", "--name=a", "--size=16k", "--rw=write"];
    for (named, shown) in [
        (format!(",{port}"), ""),
        (format!("localhost,{port}"), "localhost"),
        (format!("ip:127.0.0.1,{port}"), "127.0.0.1"),
    ] {
        let to = format!("--client={named}");
        let line = [&[to.as_str()], &job[..]].concat();
        let document = client("fio", directory.path(), &line).expect(0).json();
        assert_eq!(document["client_stats"][0]["hostname"], shown, "{named}");
    }
}

#[test]
fn global_options_are_an_object_of_one_client_and_a_list_of_several() {
    let directory = scratch();
    job_file(directory.path(), "two.fio", TWO_JOBS);
    job_file(directory.path(), "none.fio", "[a]\nrw=write\nsize=16k\ntime_based\nruntime=1\n");
    let (one, other) = (Served::start(directory.path(), &[]), Served::start(directory.path(), &[]));
    let globals = |files: &[&str]| {
        let servers = [one.client(), other.client()];
        let each = servers.iter().map(String::as_str).zip(files.iter().copied());
        let line: Vec<&str> = each.flat_map(|(server, file)| [server, file]).collect();
        let line = [&["--output-format=json"], &line[..]].concat();
        client("fio", directory.path(), &line).expect(0).json()
    };
    let single = globals(&["two.fio"]);
    assert_eq!(single["global options"]["size"], "64k");
    let several = globals(&["none.fio", "none.fio"]);
    assert_eq!(several["global options"], serde_json::json!([]));
    // A flag without a value keeps its place.
    assert_eq!(several["client_stats"][0]["job options"]["time_based"], "");
}

#[test]
fn the_status_line_of_a_client_ends_at_all() {
    let directory = scratch();
    let served = Served::start(directory.path(), &[]);
    let to = served.client();
    let job = ["--name=a", "--ioengine=null", "--size=1g", "--time_based", "--runtime=2500ms"];
    let line = [&["--eta=always", to.as_str()], &job[..]].concat();
    let ran = client("fio", directory.path(), &line).expect(0);
    let mut lines = ran.out.split(['\r', '\n']).filter(|line| line.contains("Jobs: "));
    let last = lines.next_back().unwrap_or_else(|| panic!("no status line: {}", ran.out));
    assert!(last.contains("Jobs: 0 (f=0)") && last.contains("[100.0%]"), "{last}");
}

#[test]
fn warnings_of_servers_are_where_they_would_be_locally() {
    let directory = scratch();
    let served = Served::start(directory.path(), &[]);
    // time_based without runtime is warned of.
    let job = ["--name=a", "--size=16k", "--rw=write", "--time_based"];
    let to = served.client();
    let ask = |more: &[&str]| {
        client("fio", directory.path(), &[&[to.as_str()], &job[..], more].concat()).expect(0)
    };
    let text = ask(&[]);
    assert!(text.out.contains("time_based does nothing") && text.err.is_empty(), "{text:?}");
    for more in [&["--output-format=json"][..], &["--output=out"]] {
        let ran = ask(more);
        assert_eq!(ran.err, "", "{more:?}");
    }
}

#[test]
fn the_keys_of_the_json_are_those_of_fios_client() {
    let directory = scratch();
    job_file(directory.path(), "two.fio", &format!("{TWO_JOBS}[c]\ndescription=x\nrw=read\n"));
    let port = free_port();
    let option = format!("--server=127.0.0.1,{port}");
    let _oracle = Running::start(Command::new(FIO).args([&option]).current_dir(directory.path()));
    wait_until("the oracle's server", || is_served("tcp", port));
    let theirs = run(Command::new("timeout")
        .args(["120", FIO, &format!("--client=127.0.0.1,{port}"), "two.fio"])
        .arg("--output-format=json")
        .current_dir(directory.path()))
    .expect(0)
    .json();
    let served = Served::start(directory.path(), &[]);
    let arguments = [&served.client(), "two.fio", "--output-format=json", "--compat=3.33"];
    let ours = client("fio", directory.path(), &arguments).expect(0).json();
    let keys = |value: &Value| {
        let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        keys.retain(|key| key != "fathom" && key != "timestamp_ms");
        keys
    };
    assert_eq!(keys(&ours), keys(&theirs));
    let jobs = |document: &Value| document["client_stats"].as_array().unwrap().clone();
    let (ours, theirs) = (jobs(&ours), jobs(&theirs));
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours["jobname"], theirs["jobname"]);
        assert_eq!(ours["hostname"], theirs["hostname"]);
        assert_eq!(keys(ours), keys(theirs), "{}", ours["jobname"]);
    }
}

#[test]
fn a_single_job_is_not_summed_up() {
    let directory = scratch();
    job_file(directory.path(), "one.fio", "[a]\nsize=16k\nrw=write\n");
    let served = Served::start(directory.path(), &[]);
    let ran = client("fio", directory.path(), &[&served.client(), "one.fio"]).expect(0);
    assert!(!ran.out.contains("All clients"), "{}", ran.out);
    assert!(ran.out.starts_with("hostname="), "{}", ran.out);
}

#[test]
fn a_file_of_hosts_names_servers_that_all_get_the_same() {
    let directory = scratch();
    let one = Served::start(directory.path(), &[]);
    let two = Served::start(directory.path(), &[]);
    job_file(directory.path(), "hosts", &format!("# two\n{}\n\n{}\n", one.address, two.address));
    job_file(directory.path(), "one.fio", "[a]\nsize=16k\nrw=read\n");
    let arguments = ["--output-format=json", "--client=hosts", "one.fio"];
    let stats = client("fio", directory.path(), &arguments).expect(0).json();
    let ports: Vec<u64> = stats["client_stats"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|job| job["jobname"] == "a")
        .map(|job| job["port"].as_u64().unwrap())
        .collect();
    let port = |served: &Served| served.address.split_once(',').unwrap().1.parse::<u64>().unwrap();
    assert_eq!(ports, [port(&one), port(&two)]);
}

#[test]
fn files_below_a_directory_are_named_after_the_server() {
    let directory = scratch();
    let served = Served::start(directory.path(), &[]);
    let below = format!("--directory={}", directory.path().display());
    let base = [served.client(), "--size=16k".into(), "--rw=write".into(), below];
    let with = |more: &[&str]| {
        let base = base.iter().map(String::as_str);
        let arguments: Vec<&str> = base.chain(more.iter().copied()).collect();
        client("run", directory.path(), &arguments).expect(0);
    };
    with(&["--name=made"]);
    with(&["--name=x", "--filename=given"]);
    with(&["--name=plain", "--unique_filename=0"]);
    with(&["--name=form", "--filename_format=$clientuid-$jobname"]);
    for name in ["127.0.0.1.made.0.0", "127.0.0.1.given", "plain.0.0", "127.0.0.1.127.0.0.1-form"] {
        assert!(directory.path().join(name).exists(), "{name}");
    }
}

#[test]
fn a_job_file_of_the_servers_is_read_there() {
    let (directory, elsewhere) = (scratch(), scratch());
    job_file(directory.path(), "there.fio", "[there]\nsize=16k\nrw=write\n");
    let served = Served::start(directory.path(), &[]);
    let arguments = [&served.client(), "--remote-config=there.fio"];
    let ran = client("fio", elsewhere.path(), &arguments).expect(0);
    assert!(ran.out.contains("there: (groupid=0"), "{}", ran.out);
    let alone = client("fio", elsewhere.path(), &["--remote-config=there.fio"]).expect(1);
    assert!(alone.err.contains("needs --client=HOST before it"), "{}", alone.err);
}

#[test]
fn what_the_server_refuses_is_told_with_its_name_and_nothing_runs_anywhere() {
    let directory = scratch();
    job_file(directory.path(), "bad.fio", "[a]\nrw=raed\n");
    job_file(directory.path(), "good.fio", "[good]\nsize=16k\nrw=write\n");
    let one = Served::start(directory.path(), &[]);
    let two = Served::start(directory.path(), &[]);
    let arguments = [&one.client(), "good.fio", &two.client(), "bad.fio"];
    let ran = client("run", directory.path(), &arguments).expect(2);
    assert!(ran.err.contains("> bad.fio:2: in [a]: rw: expected one of"), "{}", ran.err);
    assert!(!directory.path().join("good.0.0").exists());
}

#[test]
fn a_server_keeps_its_own_guards() {
    let directory = scratch();
    let guarded = Served::start(directory.path(), &["--readonly"]);
    let job = ["--name=a", "--size=16k", "--rw=write"];
    let with = |more: &[&str]| {
        let own = guarded.client();
        client("run", directory.path(), &[&[own.as_str()], &job[..], more].concat())
    };
    let ran = with(&[]).expect(3);
    assert!(ran.err.contains("readonly"), "{}", ran.err);
    assert!(!directory.path().join("a.0.0").exists());
    let ran = with(&["--allow-destroy=/dev/none"]).expect(2);
    assert!(ran.err.contains("only the server can allow this"), "{}", ran.err);
}

#[test]
fn a_port_in_use_and_a_server_that_is_not_there_are_told() {
    let directory = scratch();
    let served = Served::start(directory.path(), &[]);
    let again = format!("--server={}", served.address);
    let ran = client("run", directory.path(), &[&again]).expect(1);
    assert!(ran.err.contains("cannot listen on 127.0.0.1"), "{}", ran.err);
    assert!(ran.err.contains("in use"), "{}", ran.err);
    let nobody = format!("--client=127.0.0.1,{}", free_port());
    let ran = client("run", directory.path(), &[&nobody, "--name=a"]).expect(1);
    assert!(ran.err.contains("cannot connect: connection refused"), "{}", ran.err);
    let ran = client("run", directory.path(), &["--client=host,0", "--name=a"]).expect(2);
    assert!(ran.err.contains("an address is HOST"), "{}", ran.err);
}

/// Everything received until the other side closes.
fn all_of(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_stranger_is_told_and_the_server_lives_on() {
    let directory = scratch();
    let mut served = Served::start(directory.path(), &[]);
    let at = served.address.replace(',', ":");
    let mut stranger = TcpStream::connect(&at).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    stranger.shutdown(std::net::Shutdown::Write).unwrap();
    let answer = all_of(&mut stranger);
    assert!(answer.contains("is not fathom's protocol"), "{answer}");
    served.server.says("err", "is not fathom's protocol");
    let fio = run(Command::new("timeout")
        .args(["120", FIO, &served.client(), "--name=a"])
        .current_dir(directory.path()));
    assert_ne!(fio.code, 0);
    let job = ["--name=a", "--size=16k", "--rw=write"];
    client("run", directory.path(), &[&[served.client().as_str()], &job[..]].concat()).expect(0);
}

#[test]
fn another_version_of_the_protocol_is_refused_with_both_numbers() {
    let directory = scratch();
    let served = Served::start(directory.path(), &[]);
    let mut stream = TcpStream::connect(served.address.replace(',', ":")).unwrap();
    let hello = br#"{"Hello":{"protocol":77,"version":"9.9"}}"#;
    let length = u32::try_from(hello.len()).unwrap().to_be_bytes();
    stream.write_all(&[b"FTHM", &length[..], hello].concat()).unwrap();
    let answer = all_of(&mut stream);
    assert!(answer.contains("Refused") && answer.contains("version 77"), "{answer}");
}

#[test]
fn a_server_that_dies_is_told_and_ends_the_client() {
    let directory = scratch();
    let served = Served::start(directory.path(), &[]);
    let asking = served.asked_for_long(directory.path());
    served.server.signal(Signal::KILL);
    let ran = asking.end();
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains(&served.address) && ran.err.contains("connection"), "{}", ran.err);
}

#[test]
fn an_interrupted_client_still_gets_its_results() {
    let directory = scratch();
    let served = Served::start(directory.path(), &[]);
    let asking = served.asked_for_long(directory.path());
    asking.signal(Signal::INT);
    let ran = asking.end();
    assert_eq!(ran.code, 130, "{}", ran.err);
    assert!(ran.out.contains("long: (groupid=0, jobs=1)"), "{}", ran.out);
}

#[test]
fn a_client_that_is_gone_ends_its_run_and_not_the_server() {
    let directory = scratch();
    let mut served = Served::start(directory.path(), &[]);
    let asking = served.asked_for_long(directory.path());
    asking.signal(Signal::KILL);
    served.server.says("err", "the client is gone");
    let job = ["--name=a", "--size=16k", "--rw=write"];
    client("run", directory.path(), &[&[served.client().as_str()], &job[..]].concat()).expect(0);
}

#[test]
fn an_interrupted_server_sends_what_it_has() {
    let directory = scratch();
    let served = Served::start(directory.path(), &[]);
    let asking = served.asked_for_long(directory.path());
    served.server.signal(Signal::INT);
    let ran = asking.end();
    assert_eq!(ran.code, 130, "{}", ran.err);
    assert!(ran.out.contains("long: (groupid=0, jobs=1)"), "{}", ran.out);
    assert!(ran.err.contains("the server was ended"), "{}", ran.err);
    assert_eq!(served.server.end().code, 128);
}

#[test]
fn a_server_beyond_this_machine_warns() {
    let directory = scratch();
    let served = Served::at(&format!("0.0.0.0,{}", free_port()), directory.path(), &[]);
    let said = served.server.said("err");
    assert!(said.contains("without a password"), "{said}");
    let quiet = Served::start(directory.path(), &[]);
    assert!(!quiet.server.said("err").contains("without a password"));
}

#[test]
fn a_server_in_the_background_is_found_by_its_file() {
    let directory = scratch();
    let port = free_port();
    let server = format!("--server=127.0.0.1,{port}");
    let arguments = [server.as_str(), "--daemonize=pid"];
    client("run", directory.path(), &arguments).expect(0);
    let file = directory.path().join("pid");
    let pid: i32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    let again = client("run", directory.path(), &arguments);
    let job = ["--name=a", "--size=16k", "--rw=write"];
    let to = format!("--client=127.0.0.1,{port}");
    let ran = client("run", directory.path(), &[&[to.as_str()], &job[..]].concat());
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    wait_until("its end", || !file.exists());
    assert!(again.expect(1).err.contains("is already a running server"));
    ran.expect(0);
}

#[test]
fn a_trigger_ends_the_run_and_runs_its_command() {
    let directory = scratch();
    let arguments = [&LONG[..], &["--trigger-timeout=500ms", "--trigger=touch pulled"]].concat();
    let ran = client("run", directory.path(), &arguments).expect(0);
    assert!(directory.path().join("pulled").exists());
    assert!(ran.out.contains("long: (groupid=0, jobs=1)"), "{}", ran.out);
}

#[test]
fn a_trigger_whose_command_fails_is_told_after_the_results() {
    let directory = scratch();
    job_file(directory.path(), "go", "");
    let arguments = [&LONG[..], &["--trigger-file=go", "--trigger=exit 7"]].concat();
    let ran = client("run", directory.path(), &arguments).expect(1);
    assert!(ran.err.contains("--trigger='exit 7': the command ended with exit code 7"));
    assert!(ran.out.contains("long: (groupid=0, jobs=1)"), "{}", ran.out);
    assert!(!directory.path().join("go").exists());
    let ran = client("run", directory.path(), &["--name=a", "--trigger-remote=true"]).expect(2);
    assert!(ran.err.contains("--trigger-remote: needs --client"), "{}", ran.err);
}

#[test]
fn a_trigger_of_the_client_ends_the_runs_of_its_servers() {
    let directory = scratch();
    let served = Served::start(directory.path(), &[]);
    let own = served.client();
    let trigger =
        ["--trigger-timeout=500ms", "--trigger-remote=touch there", "--trigger=touch here"];
    let arguments = [&[own.as_str()], &LONG[..], &trigger].concat();
    let ran = client("run", directory.path(), &arguments).expect(0);
    assert!(ran.out.contains("long: (groupid=0, jobs=1)"), "{}", ran.out);
    assert!(directory.path().join("here").exists());
    wait_until("the server's command", || directory.path().join("there").exists());
}

#[test]
fn records_and_conditions_hold_for_servers_as_well() {
    let directory = scratch();
    let served = Served::start(directory.path(), &[]);
    let own = served.client();
    let with = |outcome: &str| {
        // The condition is undecided for such a short run.
        let job = ["--name=a", "--size=16k", "--rw=write", "--accept=iops>1"];
        let more = ["--record=r.json", outcome];
        client("run", directory.path(), &[&[own.as_str()], &job[..], &more].concat())
    };
    with("--undecided=pass").expect(0);
    let set = formats::load_set(&directory.path().join("r.json")).unwrap();
    assert_eq!((set.kind.as_str(), set.runs.len()), ("clients", 1));
    assert_eq!(set.runs[0].jobs[0].results.write.bytes.0, 16384);
    with("--undecided=fail").expect(4);
}

#[test]
fn logs_and_states_come_to_the_client() {
    let (directory, there) = (scratch(), scratch());
    let served = Served::start(there.path(), &[]);
    let own = served.client();
    let job = ["--name=a", "--size=64k", "--rw=write", "--write_lat_log=x"];
    let trigger = ["--verify=crc32c", "--time_based", "--runtime=60", "--trigger-timeout=500ms"];
    let arguments = [&[own.as_str()], &job[..], &trigger].concat();
    client("fio", directory.path(), &arguments).expect(0);
    let names = |directory: &Path| {
        let entries = std::fs::read_dir(directory).unwrap();
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    let (here, there) = (names(directory.path()), names(there.path()));
    for name in ["x_lat.1.log.127.0.0.1", "127.0.0.1-a-0-verify.state"] {
        assert!(here.contains(&name.to_owned()), "{name} in {here:?}; the server has {there:?}");
    }
    assert!(!there.iter().any(|name| name.contains(".log")), "{there:?}");
}

/// A log longer than a message.
#[test]
fn a_long_log_comes_whole() {
    let (directory, there) = (scratch(), scratch());
    let served = Served::start(there.path(), &[]);
    let job =
        ["--name=a", "--ioengine=null", "--size=1g", "--number_ios=150000", "--write_iops_log=x"];
    let own = served.client();
    let ran = client("fio", directory.path(), &[&[own.as_str()], &job[..]].concat()).expect(0);
    let log = std::fs::read_to_string(directory.path().join("x_iops.1.log.127.0.0.1")).unwrap();
    assert!(log.len() > 2 << 20, "{} bytes", log.len());
    assert_eq!(log.lines().count(), 150_000, "{}", ran.err);
    assert!(log.lines().all(|line| line.split(", ").count() == 5));
}
