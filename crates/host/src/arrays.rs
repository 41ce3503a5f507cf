//! Arrays of md, from /proc/mdstat.

use crate::Host;
use record::{ArrayMember, ArraySample, ArraySync};
use std::collections::BTreeMap;

/// The unit of /proc/mdstat.
const KIB: u64 = 1024;

impl Host {
    /// All md arrays by kernel name.
    pub(crate) fn arrays(&self) -> BTreeMap<String, ArraySample> {
        self.text("/proc/mdstat").map(|text| parse(&text)).unwrap_or_default()
    }
}

/// Each array is a line "NAME : STATE LEVEL MEMBERS…" followed by indented lines (the kernel's
/// md_seq_show).
fn parse(text: &str) -> BTreeMap<String, ArraySample> {
    let mut arrays: BTreeMap<String, ArraySample> = BTreeMap::new();
    let mut current = None;
    for line in text.lines() {
        if let Some((name, rest)) = line.split_once(" : ").filter(|_| !line.starts_with(' ')) {
            current = name.starts_with("md").then(|| name.to_owned());
            if let Some(name) = &current {
                arrays.insert(name.clone(), first_line(rest));
            }
        } else if let Some(array) = current.as_ref().and_then(|name| arrays.get_mut(name)) {
            further_line(line, array);
        }
    }
    arrays
}

/// "active (auto-read-only) raid1 sdb1[1](F) sda1[0]"; an inactive array has no level.
fn first_line(text: &str) -> ArraySample {
    let mut array = ArraySample::default();
    let mut words = text.split_whitespace();
    let active = words.next() == Some("active");
    for word in words.filter(|word| !word.starts_with('(')) {
        match member(word) {
            Some(member) => array.members.push(member),
            None if active && array.level.is_empty() => array.level = word.to_owned(),
            None => {}
        }
    }
    array
}

/// "sdb1[1](W)(F)".
fn member(word: &str) -> Option<ArrayMember> {
    let (name, rest) = word.split_once('[')?;
    let (number, marks) = rest.split_once(']')?;
    let marks = marks.chars().filter(char::is_ascii_uppercase).collect();
    Some(ArrayMember { name: name.to_owned(), number: number.parse().ok()?, marks })
}

fn further_line(line: &str, array: &mut ArraySample) {
    if let Some((wanted, working)) = line.split_whitespace().find_map(counts) {
        (array.wanted, array.working) = (wanted, working);
    }
    if let Some(sync) = sync(line) {
        array.sync = Some(sync);
    }
}

/// "[3/2]": number of members, and of working members.
fn counts(word: &str) -> Option<(u32, u32)> {
    let (wanted, working) = word.strip_prefix('[')?.strip_suffix(']')?.split_once('/')?;
    Some((wanted.parse().ok()?, working.parse().ok()?))
}

/// "[=>…] recovery =  8.5% (1787364/20955136) finish=1.4min speed=223420K/sec", or
/// "resync=DELAYED".
fn sync(line: &str) -> Option<ArraySync> {
    let bar = line.trim_start().starts_with("[=") || line.trim_start().starts_with("[>");
    let line = line.rsplit("..]").next().filter(|_| bar).unwrap_or(line).trim();
    let line = line.rsplit("] ").next().unwrap_or(line);
    let (action, state) = line.split_once('=')?;
    let action = action.trim();
    if !["resync", "recovery", "check", "reshape"].contains(&action) {
        return None;
    }
    let mut sync = ArraySync { action: action.to_owned(), ..ArraySync::default() };
    for word in state.split_whitespace() {
        match word {
            "DELAYED" | "PENDING" | "REMOTE" => sync.waits = Some(word.to_ascii_lowercase()),
            _ => progress(word, &mut sync),
        }
    }
    Some(sync)
}

/// "(1787364/20955136)" and "speed=223420K/sec".
fn progress(word: &str, sync: &mut ArraySync) {
    let inner = word.strip_prefix('(').and_then(|word| word.strip_suffix(')'));
    if let Some((done, total)) = inner.and_then(|inner| inner.split_once('/')) {
        sync.done_bytes = done.parse::<u64>().unwrap_or(0).saturating_mul(KIB);
        sync.total_bytes = total.parse::<u64>().unwrap_or(0).saturating_mul(KIB);
    }
    if let Some(speed) = word.strip_prefix("speed=").and_then(|word| word.strip_suffix("K/sec")) {
        sync.bytes_per_second = speed.parse::<u64>().unwrap_or(0).saturating_mul(KIB);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEVERAL: &str = "\
Personalities : [raid1] [raid6] [raid5] [raid4] [raid0]
md5 : active raid5 sdd1[3] sdc1[1] sdb1[0](F)
      41910272 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/2] [_UU]
      [=>...................]  recovery =  8.5% (1787364/20955136) finish=1.4min speed=223420K/sec
      bitmap: 0/1 pages [0KB], 65536KB chunk

md1 : active (auto-read-only) raid1 nvme1n1p2[1](W) nvme0n1p2[0]
      8384512 blocks super 1.2 [2/2] [UU]
      \tresync=PENDING

md0 : active raid0 sdf[1] sde[0]
      2093056 blocks super 1.2 512k chunks

md127 : inactive sdg[1](S)
      1046528 blocks super 1.2

unused devices: <none>
";

    #[test]
    fn progress_and_speed_of_a_recovery_are_reported() {
        let arrays = parse(SEVERAL);
        assert_eq!(arrays.keys().collect::<Vec<_>>(), ["md0", "md1", "md127", "md5"]);
        let md5 = &arrays["md5"];
        assert_eq!((md5.level.as_str(), md5.wanted, md5.working), ("raid5", 3, 2));
        let members: Vec<_> =
            md5.members.iter().map(|m| (m.name.as_str(), m.number, m.marks.as_str())).collect();
        assert_eq!(members, [("sdd1", 3, ""), ("sdc1", 1, ""), ("sdb1", 0, "F")]);
        let sync = md5.sync.as_ref().unwrap();
        assert_eq!((sync.action.as_str(), &sync.waits), ("recovery", &None));
        assert_eq!((sync.done_bytes, sync.total_bytes), (1_787_364 << 10, 20_955_136 << 10));
        assert_eq!(sync.bytes_per_second, 223_420 << 10);
        // The kernel itself says 1.4 minutes.
        assert_eq!(sync.seconds_left().map(|s| (s / 6.0).round()), Some(14.0));
        assert_eq!(sync.fraction().map(|f| (f * 1000.0).round()), Some(85.0));
    }

    #[test]
    fn pending_complete_and_inactive_arrays_are_distinguished() {
        let arrays = parse(SEVERAL);
        let md1 = &arrays["md1"];
        assert_eq!((md1.level.as_str(), md1.members[0].marks.as_str()), ("raid1", "W"));
        let sync = md1.sync.as_ref().unwrap();
        assert_eq!((sync.action.as_str(), sync.waits.as_deref()), ("resync", Some("pending")));
        assert_eq!((sync.fraction(), sync.seconds_left()), (None, None));
        assert_eq!((arrays["md0"].wanted, &arrays["md0"].sync), (0, &None));
        assert_eq!(arrays["md127"].level, "");
        assert_eq!(arrays["md127"].members[0].marks, "S");
    }

    #[test]
    fn every_shape_of_progress_is_read() {
        let of = |line: &str| {
            parse(&format!("md0 : active raid1 sdb[1] sda[0]\n      {line}\n"))["md0"].sync.clone()
        };
        for (line, action, percent) in [
            (
                "[>....................]  resync =  0.0% (0/8384512) finish=0.0min speed=0K/sec",
                "resync",
                0.0,
            ),
            (
                "[==>..................]  check = 12.5% (1048064/8384512) finish=1.2min speed=96069K/sec",
                "check",
                12.5,
            ),
            (
                "[====================>]  reshape =100.0% (8384512/8384512) finish=0.0min speed=1K/sec",
                "reshape",
                100.0,
            ),
            (
                "[==================>..]  recovery = 90.0% (9/10) finish=0.0min speed=5K/sec",
                "recovery",
                90.0,
            ),
        ] {
            let sync = of(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(sync.action, action);
            let found = sync.fraction().unwrap() * 100.0;
            assert!((found - percent).abs() < 0.01, "{line}: {found}");
        }
        assert_eq!(of("resync=DELAYED").unwrap().waits.as_deref(), Some("delayed"));
        assert_eq!(of("recovery=REMOTE").unwrap().waits.as_deref(), Some("remote"));
        assert_eq!(
            of("[>...]  resync = 0.0% (0/10) finish=0min speed=0K/sec").unwrap().seconds_left(),
            None
        );
        for other in ["bitmap: 0/1 pages [0KB], 65536KB chunk", "[2/2] [UU]", "nonsense=1", ""] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn a_broken_text_is_no_disaster() {
        for text in
            ["md0 : ", "md0 : active", "md0 : active raid1 x[ y[1 z[a]", " : ", "[/]", "md : [1/"]
        {
            let _ = parse(text);
        }
        assert!(parse("").is_empty());
        assert!(parse("unused devices: <none>\n").is_empty());
    }
}
