//! Distributions over blocks and over files.

use super::units;
use crate::model::{
    Distribution, FileService, FileServiceOrder, Job, SequentialOrder, Size, ZoneShare,
};
use crate::options::Value;
use crate::value::{Units, size_number, spread};
use record::PerDirection;

/// Most zones of a distribution, as in fio.
const MOST_ZONES: usize = 256;
/// The parameter of a distribution if only its name is given, as in fio.
const THETA: f64 = 1.1;
const POWER: f64 = 0.2;
const DEVIATION: f64 = 0.0;

/// `random_distribution`: up to three distributions by direction, separated by commas. One without
/// a name has the name of the one before; the commas of a sequence separate its blocks.
pub(in crate::options) fn random(job: &mut Job, v: &Value) -> Result<(), String> {
    let units = units(job);
    let (first, rest) = named(v.text());
    if first == "sequence" {
        job.pattern.distribution = PerDirection::all(sequence(rest)?);
        return Ok(());
    }
    let parts: Vec<&str> = v.text().split(',').map(str::trim).collect();
    if parts.len() > 3 {
        return Err("expected at most three distributions (reads, writes, trims)".into());
    }
    let mut name = first;
    let mut given = [None, None, None];
    for (slot, part) in given.iter_mut().zip(&parts).filter(|(_, part)| !part.is_empty()) {
        let (own, rest) = named(part);
        name = if own.is_empty() { name } else { own };
        *slot = Some(parse_one(name, rest, units)?);
    }
    let [read, write, trim] = spread(given, parts.len() as u8 - 1);
    let given = PerDirection { read, write, trim };
    let before = std::mem::take(&mut job.pattern.distribution);
    job.pattern.distribution =
        PerDirection::from_fn(|d| given[d].clone().unwrap_or_else(|| before[d].clone()));
    Ok(())
}

/// The name and the text after its colon. The name is empty if there is none.
fn named(part: &str) -> (&str, &str) {
    let starts = part.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
    match part.split_once(':') {
        _ if !starts => ("", part),
        Some((name, rest)) => (name.trim(), rest.trim()),
        None => (part.trim(), ""),
    }
}

fn parse_one(name: &str, rest: &str, units: Units) -> Result<Distribution, String> {
    match name {
        "random" => Ok(Distribution::Uniform),
        "zipf" | "pareto" | "normal" | "gauss" => shaped(name, rest),
        "zoned" => zoned(rest, zone_percent),
        "zoned_abs" => zoned(rest, |size| size_number(size, units).map(Size::Bytes)),
        "sequence" => sequence(rest),
        _ => {
            Err(format!("expected random, zipf, pareto, normal, zoned or zoned_abs, got '{name}'"))
        }
    }
}

/// `parameter[:center]` of a distribution with a formula.
fn shaped(name: &str, rest: &str) -> Result<Distribution, String> {
    let mut numbers = rest.split(':').map(str::trim).filter(|number| !number.is_empty());
    let parameter = numbers.next().map(number).transpose()?;
    let center = numbers.next().map(number).transpose()?;
    if let Some(more) = numbers.next() {
        return Err(format!("'{name}' takes a number and a center, got '{more}' as well"));
    }
    if let Some(center) = center.filter(|center| !(0.0..=1.0).contains(center)) {
        return Err(format!("the center must lie between 0 and 1, got {center}"));
    }
    match name {
        "zipf" => match parameter.unwrap_or(THETA) {
            1.0 => Err("theta must differ from 1, as fio has it; 0.99 and 1.01 are close".into()),
            theta if theta < 0.0 => Err(format!("theta must be at least 0, got {theta}")),
            theta => Ok(Distribution::Zipf { theta, center }),
        },
        "pareto" => match parameter.unwrap_or(POWER) {
            power if power > 0.0 && power < 1.0 => Ok(Distribution::Pareto { power, center }),
            power => Err(format!("the power must lie between 0 and 1, both excluded, got {power}")),
        },
        _ => match parameter.unwrap_or(DEVIATION) {
            deviation if (0.0..100.0).contains(&deviation) => {
                Ok(Distribution::Normal { deviation, center })
            }
            deviation => {
                Err(format!("the deviation must be at least 0 and below 100, got {deviation}"))
            }
        },
    }
}

fn number(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number.filter(|n| n.is_finite()).ok_or_else(|| format!("expected a number, got '{text}'"))
}

fn zone_percent(text: &str) -> Result<Size, String> {
    let percent: Option<u32> = text.trim_end_matches('%').parse().ok();
    let percent = percent.filter(|percent| *percent <= 100);
    percent
        .map(|percent| Size::Percent(percent.into()))
        .ok_or_else(|| format!("expected 0 to 100 per cent of the target, got '{text}'"))
}

/// `access/size` entries separated by colons. Entries without a value share the rest evenly.
fn zoned(
    rest: &str,
    size_of: impl Fn(&str) -> Result<Size, String>,
) -> Result<Distribution, String> {
    const EXPECTED: &str = "expected shares such as 60/10:40/90";
    let entries: Vec<(&str, &str)> = rest
        .split(':')
        .filter(|entry| !entry.trim().is_empty())
        .map(|entry| entry.split_once('/').unwrap_or((entry, "")))
        .collect();
    if entries.is_empty() {
        return Err(EXPECTED.into());
    }
    if entries.len() > MOST_ZONES {
        return Err(format!("takes at most {MOST_ZONES} zones, got {}", entries.len()));
    }
    let mut zones = Vec::with_capacity(entries.len());
    let mut blank = Vec::new();
    for (access, size) in entries {
        let access: u32 = access
            .trim()
            .parse()
            .ok()
            .filter(|access| *access <= 100)
            .ok_or_else(|| format!("{EXPECTED}, got '{access}' as a share of the I/O"))?;
        if size.trim().is_empty() {
            blank.push(zones.len());
        }
        let size = if size.trim().is_empty() { Size::Percent(0.0) } else { size_of(size.trim())? };
        zones.push(ZoneShare { access, size });
    }
    let sum: u32 = zones.iter().map(|zone| zone.access).sum();
    if sum != 100 {
        return Err(format!("the shares of the I/O add up to {sum} per cent instead of 100"));
    }
    fill_blanks(&mut zones, &blank)?;
    Ok(Distribution::Zoned(zones))
}

/// Gives sizes to the zones that have none, and checks that percentages fit the target.
fn fill_blanks(zones: &mut [ZoneShare], blank: &[usize]) -> Result<(), String> {
    let percent = |zone: &ZoneShare| match zone.size {
        Size::Percent(percent) => percent,
        Size::Bytes(_) | Size::Zones(_) => 0.0,
    };
    if !blank.is_empty() && zones.iter().any(|zone| matches!(zone.size, Size::Bytes(_))) {
        return Err("every zone needs a size in bytes, such as 60/20g:40/100g".into());
    }
    let sum: f64 = zones.iter().map(percent).sum();
    if sum > 100.0 {
        return Err(format!("the zones make {sum} per cent of the target, more than 100"));
    }
    for index in blank {
        zones[*index].size = Size::Percent((100.0 - sum) / blank.len() as f64);
    }
    Ok(())
}

/// Block numbers split by colons or commas.
fn sequence(rest: &str) -> Result<Distribution, String> {
    let blocks = rest.split([':', ',']).map(|block| {
        let block = block.trim();
        block.parse().map_err(|_| format!("expected block numbers such as 0:2:1, got '{block}'"))
    });
    Ok(Distribution::Sequence(blocks.collect::<Result<_, _>>()?))
}

/// `sequential_order`.
pub(in crate::options) fn sequential_order(job: &mut Job, v: &Value) -> Result<(), String> {
    job.pattern.order = match v.text().split_once(':') {
        None if v.text() == "ascending" => SequentialOrder::Ascending,
        None if v.text() == "descending" => SequentialOrder::Descending,
        Some(("interleaved", blocks)) => match super::plain_count(blocks, "blocks")? {
            0 => return Err("expected 1 block or more behind interleaved".into()),
            blocks => SequentialOrder::Interleaved(blocks),
        },
        _ => return Err("expected ascending, descending or, with a number, interleaved:17".into()),
    };
    Ok(())
}

/// `file_service_type`.
pub(in crate::options) fn file_service(job: &mut Job, v: &Value) -> Result<(), String> {
    let (name, suffix) = v.text().split_once(':').unwrap_or((v.text(), ""));
    let order = match name {
        "random" => FileServiceOrder::Random,
        "sequential" => FileServiceOrder::Sequential,
        "roundrobin" => FileServiceOrder::RoundRobin,
        _ => {
            let order = FileServiceOrder::Drawn(shaped(name, suffix)?);
            job.target.file_service = FileService { order, ios: None };
            return Ok(());
        }
    };
    let ios = match suffix.trim() {
        "" => None,
        suffix => Some(super::plain_count(suffix, "I/Os behind the colon")?).filter(|ios| *ios > 0),
    };
    job.target.file_service = FileService { order, ios };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str) -> Result<PerDirection<Distribution>, String> {
        let mut job = Job::default();
        random(&mut job, &Value::Text(text.into())).map(|()| job.pattern.distribution)
    }

    fn read(text: &str) -> Distribution {
        given(text).unwrap().read
    }

    fn zones(zones: &[(u32, f64)]) -> Distribution {
        let zone = |&(access, size): &(u32, f64)| ZoneShare { access, size: Size::Percent(size) };
        Distribution::Zoned(zones.iter().map(zone).collect())
    }

    #[test]
    fn names_alone_have_fio_s_parameters() {
        assert_eq!(read("random"), Distribution::Uniform);
        assert_eq!(read("zipf"), Distribution::Zipf { theta: 1.1, center: None });
        assert_eq!(read("pareto"), Distribution::Pareto { power: 0.2, center: None });
        assert_eq!(read("normal"), Distribution::Normal { deviation: 0.0, center: None });
    }

    #[test]
    fn parameters_and_centers_are_read() {
        let zipf = Distribution::Zipf { theta: 0.9, center: Some(0.25) };
        assert_eq!(read("zipf:0.9:0.25"), zipf);
        let normal = Distribution::Normal { deviation: 10.0, center: Some(1.0) };
        assert_eq!(read("normal:10:1"), normal);
        assert_eq!(read("sequence:3:0:2"), Distribution::Sequence(vec![3, 0, 2]));
        assert_eq!(read("sequence:3,0,2"), Distribution::Sequence(vec![3, 0, 2]));
    }

    #[test]
    fn zones_share_what_is_left_blank() {
        assert_eq!(read("zoned:60/10:30/20:8/30:2/40"), {
            zones(&[(60, 10.0), (30, 20.0), (8, 30.0), (2, 40.0)])
        });
        assert_eq!(read("zoned:50/20:25:25"), zones(&[(50, 20.0), (25, 40.0), (25, 40.0)]));
        assert_eq!(
            read("zoned_abs:60/20g:40/8k"),
            Distribution::Zoned(vec![
                ZoneShare { access: 60, size: Size::Bytes(record::Bytes(20 << 30)) },
                ZoneShare { access: 40, size: Size::Bytes(record::Bytes(8192)) },
            ])
        );
    }

    #[test]
    fn directions_have_distributions_of_their_own() {
        let both = given("zoned:100/10:0/90,0/50:100/50").unwrap();
        assert_eq!(both.read, zones(&[(100, 10.0), (0, 90.0)]));
        assert_eq!(both.write, zones(&[(0, 50.0), (100, 50.0)]));
        assert_eq!(both.trim, both.write);
        let both = given("zipf:1.1,random").unwrap();
        assert_eq!(both.read, Distribution::Zipf { theta: 1.1, center: None });
        assert_eq!(both.write, Distribution::Uniform);
    }

    #[test]
    fn orders_of_sequential_io_are_read() {
        let order = |text: &str| {
            let mut job = Job::default();
            let value = Value::Text(text.into());
            sequential_order(&mut job, &value).map(|()| job.pattern.order)
        };
        assert_eq!(order("ascending"), Ok(SequentialOrder::Ascending));
        assert_eq!(order("descending"), Ok(SequentialOrder::Descending));
        assert_eq!(order("interleaved:17"), Ok(SequentialOrder::Interleaved(17)));
        for wrong in ["interleaved", "interleaved:0", "interleaved:x", "descending:2", "backward"] {
            assert!(order(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_invalid_distribution_is_refused_with_a_reason() {
        for (text, reason) in [
            ("zipf:1", "differ from 1"),
            ("zipf:-1", "at least 0"),
            ("zipf:x", "expected a number"),
            ("zipf:nan", "expected a number"),
            ("zipf:1.2:2", "center"),
            ("zipf:1.2:0.5:1", "as well"),
            ("pareto:1", "between 0 and 1"),
            ("normal:100", "below 100"),
            ("zoned", "60/10"),
            ("zoned:50/50", "add up to 50"),
            ("zoned:60/10:50/20", "add up to 110"),
            ("zoned:60/10:30/80:10/80", "more than 100"),
            ("zoned:-1/10", "60/10"),
            ("zoned_abs:50/8k:50/", "needs a size"),
            ("zoned_abs:50/8k:50/x", "x"),
            ("sequence", "block numbers"),
            ("sequence:1:b", "'b'"),
            ("zipf,zipf,zipf,zipf", "three"),
            ("zipf:0.9,sipf:1.1", "'sipf'"),
        ] {
            let error = given(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        let many = vec!["0/0"; 257].join(":");
        assert!(given(&format!("zoned:{many}")).unwrap_err().contains("256"));
    }
}
