//! The network engines on the loopback interface: between jobs of ours, with the oracle at the other
//! end, and with what goes wrong.

use crate::common::{
    FATHOM, FIO, Ran, Running, as_fio, fathom, free_port, is_served, recorded, run, scratch,
    wait_until,
};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// I/Os and bytes of the direction a job has, from its JSON, and its error.
fn done(ran: &Ran, direction: &str) -> [i64; 3] {
    let job = &ran.json()["jobs"][0];
    let figures = [&job["error"], &job[direction]["total_ios"], &job[direction]["io_bytes"]];
    figures.map(|figure| figure.as_i64().unwrap_or_else(|| panic!("{figure} of {job}")))
}

/// Two jobs of one run, with the options of both and of each.
fn both_ends(directory: &Path, common: &str, first: &str, second: &str) -> record::RunRecord {
    let words = |text: &str| text.split_whitespace().map(|w| format!("--{w}")).collect::<Vec<_>>();
    let mut arguments = words(common);
    arguments.extend(words("name=first"));
    arguments.extend(words(first));
    arguments.extend(words("name=second"));
    arguments.extend(words(second));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    recorded(directory, 0, &arguments)
}

#[test]
fn every_block_of_a_stream_arrives() {
    let directory = scratch();
    let path = directory.path().join("socket");
    let unix = format!("protocol=unix filename={}", path.display());
    let net = "ioengine=net bs=4k size=1m";
    let splice = "ioengine=netsplice bs=64k size=16m";
    for (engine, ios) in [(net, 256), (splice, 256)] {
        let port = free_port();
        let tcp = format!("{engine} port={port}");
        let cases = [
            (tcp.clone(), "listen rw=read", "rw=write hostname=127.0.0.1"),
            (tcp.clone(), "rw=read hostname=localhost", "listen rw=write"),
            (format!("{tcp} pingpong nodelay=1"), "listen rw=read", "rw=write hostname=127.0.0.1"),
            (format!("{tcp} protocol=tcpv6"), "listen rw=read", "rw=write hostname=::1"),
            (
                format!("{tcp} window_size=64k mss=1000"),
                "listen rw=read",
                "rw=write hostname=127.0.0.1",
            ),
            (format!("{engine} {unix}"), "rw=read", "rw=write"),
            (format!("{engine} {unix} pingpong"), "rw=write", "rw=read"),
        ];
        for (common, first, second) in cases {
            let record = both_ends(directory.path(), &common, first, second);
            for job in &record.jobs {
                let [read, write] = [&job.results.read, &job.results.write];
                assert_eq!(read.ios + write.ios, ios, "{common} {first} {second}");
                assert_eq!(read.short_ios + write.short_ios, 0, "{common} {first} {second}");
                assert_eq!(job.error, 0);
            }
            assert!(!path.exists(), "a socket's path goes with its listener");
        }
    }
}

#[test]
fn clones_take_a_port_each() {
    let directory = scratch();
    let port = free_port();
    let common = format!("ioengine=net bs=4k size=64k port={port} numjobs=2");
    let record =
        both_ends(directory.path(), &common, "listen rw=read", "rw=write hostname=127.0.0.1");
    assert_eq!(record.jobs.len(), 4);
    assert!(record.jobs.iter().all(|job| job.ios() == 16 && job.error == 0));
}

#[test]
fn messages_that_are_answered_all_arrive() {
    let directory = scratch();
    for (protocol, host) in [("udp", "127.0.0.1"), ("udpv6", "::1")] {
        let common = format!(
            "ioengine=net bs=512 size=64k port={} protocol={protocol} pingpong",
            free_port()
        );
        let writer = format!("rw=write hostname={host}");
        let record = both_ends(directory.path(), &common, "rw=read", &writer);
        assert!(record.jobs.iter().all(|job| job.ios() == 128 && job.error == 0), "{protocol}");
    }
}

#[test]
fn lost_messages_are_told() {
    let directory = scratch();
    let port = free_port();
    let port_option = format!("--port={port}");
    let job =
        ["--ioengine=net", "--protocol=udp", "--bs=64", "--size=1k", "--name=r", &port_option];
    let reader =
        Running::fathom("fio", directory.path(), &[&job[..], &["--output-format=json"]].concat());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    wait_until("the reader's port", || is_served("udp", port));
    let send = |message: &[u8]| socket.send_to(message, ("127.0.0.1", port)).unwrap();
    send(b"link\x00\x00\x00\x98");
    for number in [0_u64, 1, 2, 5, 6, 9] {
        let numbers = [&b"ceUnuqse"[..], &number.to_le_bytes(), &64_u64.to_le_bytes()].concat();
        send(&[vec![0; 40], numbers].concat());
    }
    send(b"knil\x89\x00\x00\x00");
    let ran = reader.end().expect(0);
    assert_eq!(done(&ran, "read"), [0, 6, 384]);
    assert!(ran.out.contains("4 of 10 messages were lost"), "{}", ran.out);
}

/// Runs `program` again and again until it finds somebody to connect to.
fn until_connected(program: &str, arguments: &[String], directory: &Path) -> Ran {
    let patience = Instant::now() + Duration::from_secs(120);
    loop {
        let mut command = Command::new("timeout");
        command.arg("120").arg(program);
        if program == FATHOM {
            command.arg("fio");
        }
        let ran = run(command.args(arguments).current_dir(directory));
        let refused = [111, 2].contains(&ran.json()["jobs"][0]["error"].as_i64().unwrap());
        if !refused || Instant::now() > patience {
            return ran;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn command(program: &str, directory: &Path, arguments: &[String]) -> Running {
    let mut command = Command::new("timeout");
    command.arg("120").arg(program);
    if program == FATHOM {
        command.arg("fio");
    }
    Running::start(command.args(arguments).current_dir(directory))
}

/// JSON behind the lines that the oracle puts before it.
fn report(mut ran: Ran) -> Ran {
    ran.out = ran.out.find("{\n").map_or(String::new(), |at| ran.out[at..].to_owned());
    ran
}

#[test]
fn the_oracle_may_be_at_the_other_end() {
    let directory = scratch();
    let words = |text: String| {
        let all = format!("output-format=json name=t bs=4k size=256k {text}");
        all.split_whitespace().map(|w| format!("--{w}")).collect::<Vec<_>>()
    };
    // The oracle takes parts of blocks, and counts each as an I/O; answered blocks come whole.
    for (waits, connects, rw) in [
        (FIO, FATHOM, ("read", "write")),
        (FATHOM, FIO, ("read", "write")),
        (FIO, FATHOM, ("write", "read")),
        (FATHOM, FIO, ("write", "read")),
    ] {
        let port = free_port();
        let net = format!("ioengine=net port={port} pingpong=1");
        let listener =
            command(waits, directory.path(), &words(format!("{net} listen rw={}", rw.0)));
        let arguments = words(format!("{net} hostname=127.0.0.1 rw={}", rw.1));
        let other = until_connected(connects, &arguments, directory.path());
        let listener = report(listener.end());
        assert_eq!(done(&listener, rw.0), [0, 64, 262_144], "{waits} {rw:?}");
        assert_eq!(done(&other, rw.1), [0, 64, 262_144], "{connects} {rw:?}");
    }
}

#[test]
fn the_oracle_sends_messages_we_read_and_reads_ours() {
    let directory = scratch();
    let words = |text: String| {
        let all = format!("output-format=json name=t bs=512 size=16k {text}");
        all.split_whitespace().map(|w| format!("--{w}")).collect::<Vec<_>>()
    };
    for (reads, writes) in [(FIO, FATHOM), (FATHOM, FIO)] {
        let port = free_port();
        let net = format!("ioengine=net protocol=udp port={port} pingpong=1");
        let reader = command(reads, directory.path(), &words(format!("{net} rw=read")));
        wait_until("the reader's port", || is_served("udp", port));
        let writer = words(format!("{net} rw=write hostname=127.0.0.1"));
        let writer = command(writes, directory.path(), &writer).end();
        let reader = report(reader.end());
        assert_eq!(done(&reader, "read"), [0, 32, 16_384], "{reads} reads");
        assert_eq!(done(&report(writer), "write"), [0, 32, 16_384], "{writes} writes");
    }
}

#[test]
fn what_is_sent_is_what_the_job_says() {
    let directory = scratch();
    for engine in ["net", "netsplice"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let reader = std::thread::spawn(move || {
            let mut data = Vec::new();
            listener.accept().unwrap().0.read_to_end(&mut data).unwrap();
            data
        });
        let job = [
            "--name=t".to_owned(),
            format!("--ioengine={engine}"),
            format!("--port={port}"),
            "--hostname=127.0.0.1".into(),
            "--rw=write".into(),
            "--size=300k".into(),
            "--bs=100k".into(),
            "--buffer_pattern=\"fathom\"".into(),
        ];
        let job: Vec<&str> = job.iter().map(String::as_str).collect();
        fathom(directory.path(), &job).expect(0);
        let data = reader.join().unwrap();
        assert_eq!(data.len(), 300 << 10, "{engine}");
        let block: Vec<u8> = b"fathom".iter().copied().cycle().take(100 << 10).collect();
        assert!(data.chunks(100 << 10).all(|sent| sent == block), "{engine}");
    }
}

#[test]
fn one_who_ends_early_ends_the_other() {
    let directory = scratch();
    let port = free_port();
    let common = format!("ioengine=net bs=4k port={port}");
    let (first, second) = ("listen rw=read size=2m", "rw=write size=1m hostname=127.0.0.1");
    let record = both_ends(directory.path(), &common, first, second);
    assert_eq!(record.jobs[0].results.read.ios, 256);
    assert!(record.messages.iter().any(|m| m.text.contains("the other side ended before")));
    let common = format!("ioengine=net bs=4k size=1m time_based port={}", free_port());
    let (first, second) = ("listen rw=read runtime=2", "rw=write runtime=1 hostname=127.0.0.1");
    let record = both_ends(directory.path(), &common, first, second);
    assert!(record.jobs.iter().all(|job| job.error == 0 && job.elapsed.0 < 60_000_000_000));
}

#[test]
fn a_stalled_stream_is_latency_and_can_be_left() {
    let directory = scratch();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!("--port={}", listener.local_addr().unwrap().port());
    let base = ["--ioengine=net", "--bs=4k", "--hostname=127.0.0.1", "--name=t", &port];
    let sender = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(&[1; 2048]).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        stream.write_all(&[1; 6144]).unwrap();
        (stream, listener)
    });
    let options = ["--rw=read", "--size=8k"];
    let record = recorded(directory.path(), 0, &[&base[..], &options].concat());
    let clat = record.jobs[0].results.read.latency.clat.as_ref().unwrap();
    assert_eq!((clat.count(), record.jobs[0].results.read.short_ios), (2, 0));
    assert!(clat.max() >= 250_000_000, "the wait belongs to the block: {}", clat.max());
    let (_silent, listener) = sender.join().unwrap();
    let options = ["--rw=read", "--size=8k", "--runtime=1"];
    let held = std::thread::spawn(move || listener.accept().unwrap());
    let ran = fathom(directory.path(), &[&base[..], &options].concat()).expect(1);
    assert!(ran.err.contains("it did no I/O"), "{}", ran.err);
    drop(held.join().unwrap());
}

#[test]
fn a_listener_that_nobody_calls_can_be_ended() {
    let directory = scratch();
    let port = free_port();
    let option = format!("--port={port}");
    let base = ["--ioengine=net", "--listen", "--rw=read", "--size=1m", "--name=t", &option];
    let waiting = Running::fathom("run", directory.path(), &base);
    wait_until("the listener", || is_served("tcp", port));
    waiting.signal(Signal::INT);
    assert_eq!(waiting.end().code, 130);
    let ran = fathom(directory.path(), &[&base[..], &["--runtime=1"]].concat()).expect(1);
    assert!(ran.err.contains("cannot accept a connection on 'tcp:*:"), "{}", ran.err);
}

#[test]
fn what_cannot_be_reached_is_named() {
    let directory = scratch();
    let taken = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let free = free_port();
    let base = "--ioengine=net --size=1m --bs=4k --name=t";
    let cases = [
        (format!("{base} --port={port} --listen --rw=read"), "cannot listen on", "in use"),
        (format!("{base} --port={free} --rw=read --hostname=127.0.0.1"), "connect to", "refused"),
        (format!("{base} --port={free} --rw=read --hostname=x.invalid"), "cannot find", "lookup"),
        (
            format!("{base} --protocol=unix --filename=none --rw=write"),
            "cannot connect to 'unix:none'",
            "No such file",
        ),
    ];
    for (job, what, why) in cases {
        let ran = fathom(directory.path(), &job.split(' ').collect::<Vec<_>>()).expect(1);
        assert!(ran.err.contains(what) && ran.err.contains(why), "{job}: {}", ran.err);
    }
    std::fs::write(directory.path().join("file"), "kept").unwrap();
    let job = format!("{base} --protocol=unix --filename=file --rw=read");
    fathom(directory.path(), &job.split(' ').collect::<Vec<_>>()).expect(1);
    assert_eq!(std::fs::read(directory.path().join("file")).unwrap(), b"kept");
    drop(TcpStream::connect(("127.0.0.1", port)).unwrap());
}

#[test]
fn contradictions_are_refused() {
    let directory = scratch();
    let base = "--ioengine=net --name=t --bs=4k";
    let cases = [
        ("--size=1m --rw=write --hostname=127.0.0.1", "port"),
        ("--size=1m --rw=write --port=9", "hostname"),
        ("--size=1m --rw=write --port=9 --listen --hostname=127.0.0.1", "hostname"),
        ("--size=1m --rw=rw --port=9 --hostname=127.0.0.1", "rw"),
        ("--size=1m --rw=randread --port=9 --hostname=127.0.0.1", "rw"),
        ("--size=1m --rw=trim --port=9 --hostname=127.0.0.1", "rw"),
        ("--rw=write --port=9 --hostname=127.0.0.1", "size"),
        ("--size=1m --rw=write --protocol=unix", "filename"),
        ("--size=1m --rw=write --protocol=unix --filename=x --port=9", "port"),
        ("--size=1m --rw=read --protocol=udp --port=9 --hostname=127.0.0.1", "hostname"),
        ("--size=1m --rw=read --protocol=udp --port=9 --listen", "listen"),
        (
            "--size=1m --rw=write --protocol=udpv6 --port=9 --hostname=ff1e::7 --interface=::1",
            "interface",
        ),
        ("--size=1m --rw=write --protocol=udp --port=9 --hostname=127.0.0.1 --bs=128k", "bs"),
        ("--size=1m --rw=read --protocol=udp --port=9 --ioengine=netsplice", "protocol"),
        ("--size=1m --rw=read --listen --port=65535 --numjobs=2", "port"),
        ("--size=1m --rw=read --listen --port=0", "port"),
        ("--size=1m --rw=read --listen --port=9 --protocol=smoke", "protocol"),
        ("--size=1m --rw=read --listen --port=9 --fsync=1", "fsync"),
    ];
    for (job, option) in cases {
        let job = format!("{base} {job}");
        let ran = fathom(directory.path(), &job.split(' ').collect::<Vec<_>>()).expect(2);
        assert!(ran.err.contains(option), "{job}: {}", ran.err);
    }
}

#[test]
fn nothing_is_said_of_storage() {
    let directory = scratch();
    let common = format!("ioengine=net bs=4k size=16m port={}", free_port());
    let (first, second) = ("listen rw=read", "rw=write hostname=127.0.0.1");
    let record = both_ends(directory.path(), &common, first, second);
    let judged = judge::judge(&record);
    assert!(judged.verdicts.is_empty(), "{:?}", judged.verdicts);
    let storage = ["served-from-cache", "smaller-than-memory", "not-durable", "client-bound"];
    assert!(judged.findings.iter().all(|f| !storage.contains(&f.check)), "{:?}", judged.findings);
    let ran = as_fio(directory.path(), &["--enghelp=net"]).expect(0);
    assert!(ran.out.contains("pingpong"), "{}", ran.out);
}

#[test]
fn a_group_of_receivers_gets_what_either_program_sends() {
    let groups = [("udp", "239.255.11.7", "interface=127.0.0.1"), ("udpv6", "ff1e::7", "ttl=1")];
    for (protocol, group, more) in groups {
        let directory = scratch();
        let common = format!(
            "ioengine=net protocol={protocol} hostname={group} {more} port={} bs=1k size=64k",
            free_port()
        );
        let record =
            both_ends(directory.path(), &common, "rw=read", "rw=write startdelay=1 rate_iops=500");
        assert_eq!(record.jobs[0].results.read.bytes.0, 64 << 10, "{group}");
    }
    // The oracle knows groups of IPv4 only.
    let ours: &[&str] = &[FATHOM, "fio"];
    for [reader, writer] in [[ours, &[FIO]], [&[FIO], ours]] {
        let (directory, port) = (scratch(), free_port().to_string());
        let common = ["--ioengine=net", "--protocol=udp", "--hostname=239.255.11.8", "--bs=1k"];
        let more = ["--interface=127.0.0.1", "--size=64k", "--output-format=json", "--name=t"];
        let start = |program: &[&str], rest: &[&str]| {
            let port = format!("--port={port}");
            let line = [&["20"], program, &common, &more, &[port.as_str()], rest].concat();
            Running::start(Command::new("timeout").args(line).current_dir(directory.path()))
        };
        let reads = start(reader, &["--rw=read"]);
        wait_until("the receiver", || UdpSocket::bind(format!("239.255.11.8:{port}")).is_err());
        let writes = start(writer, &["--rw=write", "--rate_iops=500"]);
        assert_eq!(writes.end().code, 0, "{writer:?}");
        let ran = reads.end().expect(0);
        assert_eq!(done(&ran, "read"), [0, 64, 64 << 10], "{reader:?} {writer:?}");
    }
}

#[test]
fn vsock_reaches_this_machine_or_says_what_it_takes() {
    let directory = scratch();
    let common = ["--ioengine=net", "--protocol=vsock", "--port=9977", "--size=64k", "--bs=4k"];
    let reader = ["--name=r", "--rw=read", "--listen", "--runtime=5"];
    let writer = ["--name=w", "--rw=write", "--hostname=1"];
    let ran = fathom(directory.path(), &[&common[..], &reader, &writer].concat());
    if ran.code == 0 {
        assert!(ran.out.contains("total=16,0,0,0"), "{}", ran.out);
    } else {
        let lacks = ran.err.contains("takes the kernel's module vsock_loopback")
            || ran.err.contains("the kernel of this machine has no vsock");
        assert!(lacks, "{}", ran.err);
    }
    let line = [&common[..], &["--name=w", "--rw=write", "--hostname=x"]].concat();
    let ran = fathom(directory.path(), &line).expect(1);
    assert!(ran.err.contains("expected a VSOCK CID"), "{}", ran.err);
}

/// A network namespace that a pair of virtual interfaces connects with this one.
struct OtherHost(String);

/// Addresses of both ends; they are for benchmarks of networks (RFC 2544).
const HERE: &str = "198.18.77.1";
const THERE: &str = "198.18.77.2";

impl OtherHost {
    fn new() -> OtherHost {
        let host = OtherHost(format!("fathom{}", std::process::id()));
        let name = &host.0;
        let (here, there) = host.interfaces();
        host.ip(&format!("netns add {name}"));
        host.ip(&format!("link add {here} type veth peer name {there} netns {name}"));
        host.ip(&format!("addr add {HERE}/30 dev {here}"));
        host.ip(&format!("link set {here} up"));
        host.ip(&format!("-n {name} addr add {THERE}/30 dev {there}"));
        host.ip(&format!("-n {name} link set {there} up"));
        host
    }

    fn interfaces(&self) -> (String, String) {
        let number = std::process::id();
        (format!("fh{number}"), format!("ft{number}"))
    }

    fn ip(&self, words: &str) {
        let done = Command::new("ip").args(words.split_whitespace()).output().unwrap();
        assert!(done.status.success(), "ip {words}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

impl Drop for OtherHost {
    fn drop(&mut self) {
        // Its interfaces, and thus those of this end, end with it.
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

#[test]
fn what_the_network_moved_is_in_the_record() {
    let (host, directory, port) = (OtherHost::new(), scratch(), free_port());
    let port = format!("--port={port}");
    let common = ["--ioengine=net", "--bs=64k", "--size=64m", &port, "--no-archive"];
    let mut receiver = Command::new("ip");
    receiver.args(["netns", "exec", &host.0, FATHOM, "run", "--name=r", "--rw=read", "--listen"]);
    let receiver = Running::start(receiver.args(common).current_dir(directory.path()));
    wait_until("the receiver listens", || {
        let sockets = Command::new("ip").args(["netns", "exec", &host.0, "ss", "-Hltn"]).output();
        !sockets.unwrap().stdout.is_empty()
    });
    let to = format!("--hostname={THERE}");
    let sender = [&["--name=w", "--rw=write", &to][..], &common].concat();
    let record = recorded(directory.path(), 0, &sender);
    receiver.end().expect(0);
    let network = record.evidence.network.unwrap();
    let (here, _) = host.interfaces();
    let own = network.interfaces.iter().find(|it| it.name == here).unwrap();
    // The run ends with its last call; what the socket's buffer then holds is sent later.
    assert!((48 << 20..80 << 20).contains(&own.sent.0), "{own:?}");
    assert!(own.speed.is_some() && network.segments > 0 && network.window.0 > 0, "{network:?}");
    let local =
        recorded(directory.path(), 0, &["--name=f", "--filename=f", "--rw=read", "--size=1m"]);
    assert_eq!(local.evidence.network, None, "a run on local files has no network");
}
