//! Did the network lose packets?

use super::prelude::*;
use record::{InterfaceUse, NetworkUse};

/// Share of segments or calls that are sent again, from which it is a note and a warning.
const NOTE: f64 = 0.001;
const WARNING: f64 = 0.01;
/// Fewest that are sent again: a few are in any connection.
const AGAIN_MIN: u64 = 20;

pub(super) const CHECK: Check = Check {
    id: "lossy-network",
    question: "Did the network lose packets?",
    evidence: "TCP segments that this host sent again (/proc/net/snmp), NFS calls that it sent again (/proc/self/mountstats), packets that its interfaces dropped (/proc/net/dev); only of runs whose data is on other machines",
    threshold: "note from 0.1 % of the segments or calls sent again and 20 of them, warning from 1 %",
    reason: "a segment that is lost is sent again after some milliseconds to seconds: it is the tail of the latency, and the rate of its connection falls",
    cause: "a link, switch or host on the way is overloaded or faulty, or buffers are too small for so many connections at once",
    remedy: || {
        "look at the counters of the interfaces and switches on the way, and run again".into()
    },
    proof: Proof::recorded("segments_and_calls_sent_again_are_told", "a_few_are_not_told"),
    function: CheckFunction::Run(check),
};

fn check(case: &Case) -> Vec<Finding> {
    case.record.evidence.network.iter().filter_map(check_network).collect()
}

fn check_network(network: &NetworkUse) -> Option<Finding> {
    let calls = || network.nfs.iter();
    let kinds = [
        ("TCP segments", network.segments_again, network.segments),
        ("NFS calls", calls().map(|nfs| nfs.again).sum(), calls().map(|nfs| nfs.calls).sum()),
    ];
    let share = |repeated: u64, sent: u64| repeated as f64 / sent.max(1) as f64;
    let many = kinds
        .into_iter()
        .filter(|(_, again, of)| *again >= AGAIN_MIN && share(*again, *of) >= NOTE);
    let (what, again, of) = many.max_by(|a, b| share(a.1, a.2).total_cmp(&share(b.1, b.2)))?;
    let severity = if share(again, of) < WARNING { Severity::Note } else { Severity::Warning };
    let lossy = |interface: &InterfaceUse| {
        format!("{} lost {}", interface.name, counted(interface.lost as usize, "packet"))
    };
    let lost: Vec<String> =
        network.interfaces.iter().filter(|interface| interface.lost > 0).map(lossy).collect();
    let lost = if lost.is_empty() { String::new() } else { format!("; {}", list(&lost)) };
    let text = format!(
        "this host sent {} of {} {what} again ({}){lost}",
        count(again as f64),
        count(of as f64),
        percent(share(again, of))
    );
    let figures = vec![Figure::new("sent again", share(again, of) * 100.0, "percent")];
    Some(CHECK.finding(severity, Vec::new(), text).figures(figures))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, job, record, the_finding};
    use super::*;
    use record::{Direction, NfsUse};

    #[test]
    fn segments_and_calls_sent_again_are_told() {
        let mut record = record(vec![job("job", Direction::Read, 10)]);
        let eth0 = InterfaceUse { name: "eth0".into(), lost: 7, ..InterfaceUse::default() };
        record.evidence.network = Some(NetworkUse {
            segments: 100_000,
            segments_again: 500,
            interfaces: vec![eth0],
            ..NetworkUse::default()
        });
        let found = the_finding(&record, CHECK.id);
        assert_eq!(found.severity, Severity::Note);
        assert!(
            found.text.ends_with("TCP segments again (0.5 %); eth0 lost 7 packets"),
            "{}",
            found.text
        );
        let nfs = NfsUse { calls: 1000, again: 50, ..NfsUse::default() };
        record.evidence.network.as_mut().unwrap().nfs.push(nfs);
        let found = the_finding(&record, CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.text.contains("50 of 1 k NFS calls again (5 %)"), "{}", found.text);
    }

    #[test]
    fn a_few_are_not_told() {
        let mut record = record(vec![job("job", Direction::Read, 10)]);
        let few = NetworkUse { segments: 100, segments_again: 19, ..NetworkUse::default() };
        record.evidence.network = Some(few);
        assert!(findings(&record, CHECK.id).is_empty());
        let rare = NetworkUse { segments: 1_000_000, segments_again: 900, ..NetworkUse::default() };
        record.evidence.network = Some(rare);
        assert!(findings(&record, CHECK.id).is_empty());
    }
}
