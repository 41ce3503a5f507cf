//! Did the data compress better than real data?

use super::prelude::*;
use record::DeviceKind;

/// Compressed size over size below which content is no longer like data that resists.
const RATIO_MAX: f64 = 0.9;

/// Filesystems that compress by default.
const COMPRESSING: [&str; 2] = ["zfs", "erofs"];

pub(super) const CHECK: Check = Check {
    id: "compressible-data",
    question: "Did the data compress better than real data?",
    evidence: "the job's content options (zero_buffers, buffer_pattern, buffer_compress_percentage, dedupe_percentage), 64 blocks of the data it reads, and layers of the stack that compress",
    threshold: "warning when a layer of the stack compresses and the content shrinks below 90 % or repeats; note when such content is written to a plain disk",
    reason: "a layer that compresses moves fewer bytes than it receives; some disks compress internally, where the host cannot see it",
    cause: "the job's options make its content zero or repeating",
    remedy: || {
        let content =
            ["zero_buffers", "buffer_pattern", "buffer_compress_percentage", "dedupe_percentage"];
        drop(content).and(set("refill_buffers", 1))
    },
    proof: Proof::real(
        "checks/data.rs::zeros_on_a_layer_that_compresses_are_found",
        "checks/data.rs::random_content_on_a_layer_that_compresses_is_clean",
    ),
    function: CheckFunction::Data(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    written(case, part).or_else(|| read(case, part))
}

/// What compresses below a part: "zram0", "btrfs with compress=zstd".
pub(super) fn compressor(case: &Case, part: &Part) -> Option<String> {
    let zram = |name: &&&str| case.device(name).is_some_and(|d| d.kind == DeviceKind::Zram);
    let vdo = |name: &&&str| {
        case.device(name).is_some_and(|device| {
            matches!(&device.kind, DeviceKind::DeviceMapper { subsystem, .. } if subsystem == "VDO")
        })
    };
    if let Some(name) = part.devices.iter().find(|name| zram(name) || vdo(name)) {
        return Some((*name).to_owned());
    }
    case.filesystems_of(part).into_iter().find_map(|filesystem| {
        if COMPRESSING.contains(&filesystem.kind.as_str()) {
            return Some(filesystem.kind.clone());
        }
        let option = filesystem.options.iter().find(|option| option.starts_with("compress"))?;
        Some(format!("{} with {option}", filesystem.kind))
    })
}

/// The option that makes written content compressible or repetitive.
pub(super) fn compressible_content(part: &Part) -> Option<Sentence> {
    let set = |name: &str| part.setting(name).map(|value| Sentence::default().setting(name, value));
    let above = |name: &str| {
        let value = part.setting(name)?;
        (value.parse::<f64>().ok()? > 10.0).then(|| Sentence::default().setting(name, value))
    };
    set("zero_buffers")
        .or_else(|| set("buffer_pattern"))
        .or_else(|| above("buffer_compress_percentage"))
        .or_else(|| above("dedupe_percentage"))
}

fn written(case: &Case, part: &Part) -> Option<Finding> {
    let option = compressible_content(part).filter(|_| part.ios(Direction::Write) > 0)?;
    if part.devices.is_empty() {
        return None;
    }
    Some(match compressor(case, part) {
        Some(what) => {
            let text = option.text(format!(" writes content that {what} compresses"));
            let cause = format!("{what} stores fewer bytes than it receives");
            CHECK.finding_for(part, Severity::Warning, text).cause(cause)
        }
        None => {
            let text = option.text(" makes the content compressible: a disk that compresses internally stores fewer bytes");
            CHECK.finding_for(part, Severity::Note, text)
        }
    })
}

fn read(case: &Case, part: &Part) -> Option<Finding> {
    let what = compressor(case, part).filter(|_| part.ios(Direction::Read) > 0)?;
    let content = |file: &str| case.record.evidence.files.get(file)?.content.as_ref();
    let (file, content) = part.files().find_map(|file| Some((file, content(file)?)))?;
    let blocks = f64::from(content.blocks.max(1));
    let repeated = f64::from(content.repeated + content.zero) / blocks;
    if content.compressed >= RATIO_MAX && repeated < 1.0 - RATIO_MAX {
        return None;
    }
    let text = format!(
        "the data in {file} compresses to {} of its size and {} of its blocks are zero or repeated, so {what} moves fewer bytes",
        percent(content.compressed),
        percent(repeated)
    );
    let figures = [Figure::new("compressed size over size", content.compressed, "ratio")];
    let cause = "the data that was written earlier is zero or repeats";
    let remedy = set("rw", "write")
        .and(set("refill_buffers", 1))
        .ending("to write random content before reading it");
    Some(
        CHECK
            .finding_for(part, Severity::Warning, text)
            .figures(figures)
            .cause(cause)
            .remedy(remedy),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FILE, findings, job, record, the_finding};
    use super::*;
    use record::Content;

    #[test]
    fn what_compresses_makes_the_difference() {
        let mut record = record(vec![job("fill", Direction::Write, 10)]);
        record.jobs[0].workload.settings.insert("zero_buffers".into(), "1".into());
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Note);
        record.facts.devices.get_mut("sda").unwrap().kind = DeviceKind::Zram;
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Warning);
    }

    #[test]
    fn content_that_resists_is_fine_everywhere() {
        let mut record = record(vec![job("scan", Direction::Read, 10)]);
        record.facts.devices.get_mut("sda").unwrap().kind = DeviceKind::Zram;
        let file = record.evidence.files.get_mut(FILE).unwrap();
        file.content = Some(Content { blocks: 64, zero: 0, repeated: 0, compressed: 1.004 });
        assert!(findings(&record, CHECK.id).is_empty());
        let file = record.evidence.files.get_mut(FILE).unwrap();
        file.content = Some(Content { blocks: 64, zero: 10, repeated: 20, compressed: 0.6 });
        assert!(the_finding(&record, CHECK.id).text.contains("60 %"));
    }
}
