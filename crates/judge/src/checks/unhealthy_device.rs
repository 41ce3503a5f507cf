//! Is a device of the run failing or worn out?

use super::prelude::*;
use record::Health;

pub(super) const CHECK: Check = Check {
    id: "unhealthy-device",
    question: "Is a device of the run failing or worn out?",
    evidence: "SMART, the NVMe health log or SCSI log pages, before and after the run",
    threshold: "error when the disk had media errors during the run; warning when it predicts its failure, reports a warning, has used its endurance or has less spare than its threshold; note for media errors from before the run",
    reason: "a failing disk retries and remaps blocks, and a worn disk writes slowly: their figures are not those of the model",
    cause: "the disk reports it",
    remedy: || "back up its data and replace it; measure another disk of the model".into(),
    proof: Proof::recorded("each_sign_of_bad_health_is_told", "a_healthy_disk_is_silent"),
    function: CheckFunction::Run(check),
};

/// How grave, in words, and the figure.
type Sign = (Severity, String, Option<Figure>);

fn check(case: &Case) -> Vec<Finding> {
    let ours = |device: &&DeviceFacts| {
        case.parts.iter().any(|part| part.devices.contains(&device.name.as_str()))
    };
    let devices = case.record.facts.devices.values().filter(ours);
    let signs: Vec<Sign> = devices
        .flat_map(|device| {
            let after = case.record.evidence.health_after.get(&device.name);
            signs(&device.name, device.health.as_ref(), after)
        })
        .collect();
    let Some(severity) = signs.iter().map(|(severity, ..)| *severity).max() else {
        return Vec::new();
    };
    let texts: Vec<&str> = signs.iter().map(|(_, text, _)| text.as_str()).collect();
    let finding = CHECK.finding(severity, Vec::new(), list(&texts));
    let figures: Vec<Figure> = signs.into_iter().filter_map(|(.., figure)| figure).collect();
    vec![finding.figures(figures)]
}

fn signs(name: &str, before: Option<&Health>, after: Option<&Health>) -> Vec<Sign> {
    let Some(health) = after.or(before) else { return Vec::new() };
    let mut signs: Vec<Sign> = Vec::new();
    let mut add = |severity, text: String, figure| signs.push((severity, text, figure));
    if health.passed == Some(false) {
        add(Severity::Warning, format!("{name} predicts its failure"), None);
    }
    if !health.warnings.is_empty() {
        add(Severity::Warning, format!("{name} warns: {}", list(&health.warnings)), None);
    }
    if let (Some(spare), Some(least)) = (health.spare_percent, health.spare_threshold_percent)
        && spare < least
    {
        let text =
            format!("{name} has {spare} % of its spare left, below its threshold of {least} %");
        add(Severity::Warning, text, Some(percent("spare left", spare)));
    }
    if let Some(used) = health.used_percent.filter(|used| *used >= 100) {
        let text = format!("{name} has used {used} % of its endurance");
        add(Severity::Warning, text, Some(percent("endurance used", used)));
    }
    let grown = |count: fn(&Health) -> Option<u64>| {
        Some(count(after?)?.saturating_sub(count(before?)?)).filter(|more| *more > 0)
    };
    if let Some(more) = grown(|health| health.media_errors) {
        let text = format!("{name} had {more} media errors during the run");
        add(Severity::Error, text, Some(Figure::new("new media errors", more as f64, "count")));
    } else if let Some(errors) = health.media_errors.filter(|errors| *errors > 0) {
        let text = format!("{name} had {errors} media errors before the run");
        add(Severity::Note, text, Some(Figure::new("media errors", errors as f64, "count")));
    }
    signs
}

fn percent(name: &'static str, value: u32) -> Figure {
    Figure::new(name, f64::from(value), "percent")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, job, record, the_finding};
    use super::*;
    use record::{Direction, RunRecord};

    fn healthy() -> Health {
        Health {
            source: "nvme".into(),
            passed: Some(true),
            spare_percent: Some(100),
            spare_threshold_percent: Some(10),
            used_percent: Some(3),
            media_errors: Some(0),
            ..Health::default()
        }
    }

    fn run(before: Health, after: Health) -> RunRecord {
        let mut record = record(vec![job("read", Direction::Read, 5)]);
        record.facts.devices.get_mut("sda").unwrap().health = Some(before);
        record.evidence.health_after.insert("sda".into(), after);
        record
    }

    #[test]
    fn each_sign_of_bad_health_is_told() {
        let cases: [(Health, Severity, &str); 6] = [
            (
                Health { passed: Some(false), ..healthy() },
                Severity::Warning,
                "predicts its failure",
            ),
            (
                Health { warnings: vec!["read-only".into()], ..healthy() },
                Severity::Warning,
                "sda warns: read-only",
            ),
            (
                Health { spare_percent: Some(9), ..healthy() },
                Severity::Warning,
                "9 % of its spare left, below its threshold of 10 %",
            ),
            (Health { used_percent: Some(104), ..healthy() }, Severity::Warning, "used 104 %"),
            (
                Health { media_errors: Some(2), ..healthy() },
                Severity::Note,
                "2 media errors before",
            ),
            (
                Health { media_errors: Some(5), ..healthy() },
                Severity::Error,
                "3 media errors during",
            ),
        ];
        for (health, severity, text) in cases {
            let before =
                Health { media_errors: health.media_errors.map(|n| n.min(2)), ..healthy() };
            let found = the_finding(&run(before, health), CHECK.id);
            assert!(found.text.contains(text), "{}", found.text);
            assert_eq!(found.severity, severity, "{text}");
        }
    }

    #[test]
    fn a_healthy_disk_is_silent() {
        assert!(findings(&run(healthy(), healthy()), CHECK.id).is_empty());
    }
}
