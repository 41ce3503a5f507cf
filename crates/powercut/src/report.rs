//! The report of a check, as text, JSON and HTML.

use crate::check::{Checked, ClassResult, Loss, Outcome, StreamResult};
use crate::class::Class;
use crate::layer;
use crate::promises::Damage;
use crate::sector::SECTOR;
use crate::session::Session;
use crate::statistics::{Rate, trials_needed};
use maud::html;
use record::human::counted;
use report::style::Style;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The most losses that the text describes one by one.
const SHOWN: usize = 10;

/// A check, with the earlier ones of the same target.
pub struct Report<'a> {
    /// The session that was checked.
    pub session: &'a Session,
    /// Each stream.
    pub streams: &'a [StreamResult],
    /// Their sum.
    pub checked: &'a Checked,
    /// The last check of each session of this target, this one included.
    pub history: &'a [Checked],
    /// Lines of the promises that are damaged.
    pub damage: &'a [Damage],
    /// What the reader has to know besides.
    pub notes: &'a [String],
}

/// The rates of a class over all cuts.
struct ClassRates {
    class: Class,
    promises: Rate,
    cuts: Rate,
}

impl Report<'_> {
    /// Whether an acknowledged write is gone.
    pub fn is_broken(&self) -> bool {
        self.checked.broken() > 0
    }

    fn losses(&self) -> impl Iterator<Item = &Loss> {
        self.streams.iter().flat_map(|stream| &stream.losses)
    }

    fn rates(&self) -> Vec<ClassRates> {
        let rate = |class: Class| {
            let cuts = self.history.iter().filter(|checked| checked.is_cut);
            let found =
                cuts.flat_map(|checked| checked.classes.iter().filter(|c| c.class == class));
            let found: Vec<&ClassResult> = found.filter(|c| c.checked() > 0).collect();
            let sum = |count: fn(&ClassResult) -> u64| found.iter().map(|c| count(c)).sum();
            let promises = Rate::new(sum(ClassResult::broken), sum(ClassResult::checked));
            let bad = found.iter().filter(|c| c.broken() > 0).count();
            ClassRates { class, promises, cuts: Rate::new(bad as u64, found.len() as u64) }
        };
        let rates = self.checked.classes.iter().map(|class| rate(class.class));
        rates.filter(|rates| rates.cuts.trials > 0).collect()
    }

    /// The answer in one sentence.
    pub fn verdict(&self) -> String {
        let judged = self.checked.classes.iter().filter(|class| class.class.promises());
        let checked: u64 = judged.clone().map(ClassResult::checked).sum();
        let broken = self.checked.broken();
        match (checked, broken) {
            (0, _) => "No promise was checked: nothing was acknowledged before the cut.".into(),
            (_, 0) => format!("All {} were kept.", promises(checked)),
            _ => {
                let made = judged.filter(|c| c.broken() > 0).map(|c| c.class.name());
                let made: Vec<&str> = made.collect();
                format!(
                    "{broken} of {} were broken: {}.",
                    promises(checked),
                    record::human::list(&made)
                )
            }
        }
    }

    /// As text.
    pub fn text(&self, style: &Style) -> String {
        let target = &self.session.target;
        let run = self.session.run;
        let mut out = format!("{}\n", style.bold(&format!("{} on {}", target.path, target.host)));
        let _ = writeln!(out, "run {run:016x}, seed {}\n", self.session.seed);
        out += &style.paragraph(&self.verdict(), 0);
        out += &table(&self.checked.classes);
        self.losses_text(&mut out, style);
        let rates = self.rates();
        if !rates.is_empty() {
            out += &style.heading("What all cuts of this target show");
            out.extend(rates.iter().map(|rates| style.paragraph(&rates.text(), 2)));
        }
        let layers = layer::likely(self.checked, &self.session.target);
        if !layers.is_empty() {
            out += &style.heading("Likely layer");
            out.extend(layers.iter().map(|layer| style.paragraph(layer, 2)));
        }
        let notes = self.all_notes();
        if !notes.is_empty() {
            out += &style.heading("Notes");
            out.extend(notes.iter().map(|note| style.paragraph(note, 2)));
        }
        out
    }

    fn losses_text(&self, out: &mut String, style: &Style) {
        let count = self.losses().count();
        if count == 0 {
            return;
        }
        *out += &style.heading("Writes that are not as acknowledged");
        out.extend(self.losses().take(SHOWN).map(|loss| style.paragraph(&sentence(loss), 2)));
        if count > SHOWN {
            *out += &style.paragraph(&format!("{} more are in --json.", count - SHOWN), 2);
        }
    }

    fn all_notes(&self) -> Vec<String> {
        let mut notes = self.notes.to_vec();
        for Damage { line, what } in self.damage.iter().take(3) {
            notes.push(format!(
                "The promises are damaged in line {line}: {what}. It is not trusted; without its \
                 promises, losses can be missed."
            ));
        }
        if self.damage.len() > 3 {
            notes.push(format!("{} more lines are damaged.", self.damage.len() - 3));
        }
        if self.checked.classes.iter().any(|c| !c.class.promises() && c.broken() > 0) {
            notes.push(
                "sync-file-range promises nothing: it writes to the device and flushes no cache. Its \
                 losses are not counted as broken promises."
                    .into(),
            );
        }
        let surplus: u64 = self.streams.iter().map(|stream| stream.surplus).sum();
        if surplus > 0 {
            let surplus = counted(surplus as usize, "write");
            notes.push(format!("{surplus} survived without having been acknowledged."));
        }
        notes
    }

    /// As JSON.
    pub fn json(&self) -> String {
        let rates = self.rates().into_iter().map(
            |rates| json!({"class": rates.class, "promises": rates.promises, "cuts": rates.cuts}),
        );
        let value = json!({
            "run": format!("{:016x}", self.session.run),
            "seed": self.session.seed,
            "target": self.session.target,
            "broken": self.checked.broken(),
            "verdict": self.verdict(),
            "classes": self.checked.classes,
            "losses": self.losses().collect::<Vec<_>>(),
            "all_cuts": rates.collect::<Vec<Value>>(),
            "likely_layers": layer::likely(self.checked, &self.session.target),
            "damaged_lines": self.damage,
            "notes": self.all_notes(),
        });
        format!("{value:#}\n")
    }

    /// As an HTML page.
    pub fn html(&self) -> String {
        let target = &self.session.target;
        let title = format!("Power cut of {} on {}", target.path, target.host);
        let class = if self.is_broken() { "bad" } else { "good" };
        let layers = layer::likely(self.checked, target);
        let columns = ["class"].into_iter().chain(TITLES.split_whitespace());
        let body = html! {
            article class="fathom-report" {
                h1 { (title) }
                p class="when" { "run " (format!("{:016x}", self.session.run)) ", seed " (self.session.seed) }
                p class=(class) { strong { (self.verdict()) } }
                h2 { "Promises" }
                table {
                    thead { tr { @for column in columns { th scope="col" { (column) } } } }
                    tbody { @for c in &self.checked.classes { tr {
                        th scope="row" { (c.class.name()) }
                        @for n in [c.made, c.replaced, c.kept, c.lost, c.old, c.torn, c.misplaced, c.reordered] {
                            td { (n) }
                        }
                    } } }
                }
                (list("Writes that are not as acknowledged", self.losses().take(1000).map(sentence)))
                (list("What all cuts of this target show", self.rates().iter().map(ClassRates::text)))
                (list("Likely layer", layers.into_iter()))
                (list("Notes", self.all_notes().into_iter()))
            }
        };
        report::html::page(&title, &body)
    }
}

/// What each class kept and lost.
fn table(classes: &[ClassResult]) -> String {
    let mut out = format!("\n{:<17}{TITLES}\n", "class");
    for class in classes {
        let _ = writeln!(
            out,
            "{:<17}{:>8}{:>10}{:>7}{:>6}{:>6}{:>6}{:>10}{:>10}",
            class.class.name(),
            class.made,
            class.replaced,
            class.kept,
            class.lost,
            class.old,
            class.torn,
            class.misplaced,
            class.reordered
        );
    }
    out
}

/// An archived report, as text: what [`Report::json`] made, without the single losses.
pub fn archived(report: &Value, style: &Style) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |key: &str| report[key].as_array().into_iter().flatten().map(text);
    let target = &report["target"];
    let title = format!("{} on {}", text(&target["path"]), text(&target["host"]));
    let mut out = format!("{}\n", style.bold(&title));
    let _ = writeln!(out, "run {}, seed {}\n", text(&report["run"]), report["seed"]);
    out += &style.paragraph(&text(&report["verdict"]), 0);
    let classes: Result<Vec<ClassResult>, _> = serde_json::from_value(report["classes"].clone());
    out += &table(&classes.unwrap_or_default());
    for (heading, key) in [("Likely layer", "likely_layers"), ("Notes", "notes")] {
        let items: Vec<String> = list(key).map(|item| style.paragraph(&item, 2)).collect();
        if !items.is_empty() {
            out += &(style.heading(heading) + &items.concat());
        }
    }
    out
}

/// The columns of the table, behind the class.
const TITLES: &str = "    made  replaced   kept  lost   old  torn misplaced reordered";

fn list(title: &str, items: impl Iterator<Item = String>) -> maud::Markup {
    let items: Vec<String> = items.collect();
    html! {
        @if !items.is_empty() {
            h2 { (title) }
            ul { @for item in &items { li { (item) } } }
        }
    }
}

impl ClassRates {
    fn text(&self) -> String {
        let ClassRates { class, promises, cuts } = self;
        let class = class.name();
        format!(
            "{class}: {} of {} broken in {}. The true rate is {} of the promises, and {} of the cuts, \
             at 95 %.",
            promises.failures,
            self::promises(promises.trials),
            counted(cuts.trials as usize, "cut"),
            promises.text(),
            cuts.text()
        )
    }
}

fn promises(count: u64) -> String {
    counted(count as usize, "promise")
}

/// What became of one write.
fn sentence(loss: &Loss) -> String {
    let place = match loss.class.is_of_files() {
        true => format!("file {} of thread {}", loss.slot, loss.stream),
        false => format!("offset {} of thread {}", loss.offset, loss.stream),
    };
    let class = loss.class.name();
    let mut text = format!(
        "{class}, {place}: write {} (generation {}, {} bytes) ",
        loss.number,
        loss.generation,
        usize::from(loss.sectors) * SECTOR
    );
    text += &match (loss.outcome, loss.found_generation, loss.found_offset) {
        (Outcome::Misplaced, _, Some(offset)) => {
            format!("is not there; data for offset {offset} is")
        }
        (Outcome::OldGeneration, Some(found), _) => {
            format!("is not there; generation {found} is")
        }
        (Outcome::Torn, ..) => format!("is torn: sectors {} are wrong", ranges(&loss.bad)),
        _ => "is lost: nothing of this run is there".into(),
    };
    let spoiled = &loss.spoiled;
    for (count, what) in [
        (spoiled.damaged, "with a wrong checksum"),
        (spoiled.unreadable, "that cannot be read"),
        (spoiled.missing, "behind the end"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {} {what}", counted(count.into(), "sector"));
        }
    }
    if loss.reordered {
        text += "; a write that was issued after its acknowledgement survived";
    }
    text + "."
}

fn ranges(bad: &[(u16, u16)]) -> String {
    let one = |(first, last): &(u16, u16)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    record::human::list_up_to(&bad.iter().map(one).collect::<Vec<_>>(), 6)
}

/// What a campaign of so many cuts can show, to be said before it.
pub fn outlook_of(cuts: u64) -> String {
    let bound = Rate::new(0, cuts);
    let cuts = counted(cuts as usize, "cut");
    format!(
        "{cuts} without a loss show that {} of the cuts lose data, at 95 %. A device that fails in a larger \
         share of them is found with a probability of 95 % or more.",
        bound.text()
    )
}

/// What a number of cuts can show, to be said before them.
pub fn outlook() -> String {
    let after = |cuts| Rate::new(0, cuts).text();
    format!(
        "What cuts show: 10 without a loss mean that {} of the cuts lose data, at 95 %; 100 mean {}. A \
         device that fails in one cut of 1000 needs {} cuts to be found.",
        after(10),
        after(100),
        trials_needed(0.001)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Spoiled;
    use crate::session::tests::session;

    fn loss(outcome: Outcome) -> Loss {
        Loss {
            stream: 0,
            class: Class::Fsync,
            slot: 3,
            offset: 8192,
            number: 12,
            generation: 2,
            sectors: 8,
            outcome,
            bad: vec![(1, 1), (4, 7)],
            found_generation: Some(1),
            found_offset: None,
            spoiled: Spoiled::default(),
            reordered: true,
        }
    }

    fn stream(losses: Vec<Loss>) -> StreamResult {
        StreamResult {
            stream: 0,
            class: Class::Fsync,
            made: 30,
            replaced: 10,
            kept: 20 - losses.len() as u64,
            losses,
            surplus: 1,
        }
    }

    fn with_report<T>(losses: Vec<Loss>, of: impl Fn(&Report) -> T) -> T {
        let mut session = session(Class::Fsync, 1 << 20);
        session.target.path = "/data/<x>".into();
        session.target.host = "db1".into();
        let streams = [stream(losses)];
        let checked = Checked::new(session.run, &streams, true);
        let earlier = Checked::new(1, &[stream(Vec::new())], true);
        let idle = Checked::new(2, &[stream(Vec::new())], false);
        let damage = [Damage { line: 4, what: "its checksum is wrong".into() }];
        of(&Report {
            session: &session,
            streams: &streams,
            checked: &checked,
            history: &[earlier, idle, checked.clone()],
            damage: &damage,
            notes: &[],
        })
    }

    #[test]
    fn a_report_says_what_is_broken_how_often_and_where() {
        let text = with_report(vec![loss(Outcome::Torn)], |report| report.text(&Style::default()));
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "/data/<x> on db1",
            "1 of 20 promises were broken: fsync.",
            "fsync 30 10 19 0 0 1 0 1",
            "offset 8192 of thread 0: write 12 (generation 2, 4096 bytes) is torn: sectors 1 and 4-7 \
             are wrong; a write that was issued after its acknowledgement survived.",
            "fsync: 1 of 40 promises broken in 2 cuts.",
            "Likely layer Device or controller: writes are torn.",
            "damaged in line 4: its checksum is wrong",
            "1 write survived without having been acknowledged.",
        ] {
            assert!(joined.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn a_report_without_losses_has_the_bounds_that_its_cuts_allow() {
        let text = with_report(Vec::new(), |report| report.text(&Style::default()));
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains("All 20 promises were kept."), "{text}");
        assert!(
            joined.contains("fsync: 0 of 40 promises broken in 2 cuts. The true rate is below")
        );
        assert!(joined.contains("below 78 % of the cuts, at 95 %"), "{text}");
        assert!(!joined.contains("Likely layer"), "{text}");
    }

    #[test]
    fn json_and_html_say_the_same() {
        let json = with_report(vec![loss(Outcome::OldGeneration)], |report| report.json());
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&json["broken"], &json["classes"][0]["old"]), (&json!(1), &json!(1)));
        assert_eq!(json["losses"][0]["outcome"], "old-generation");
        assert_eq!(json["all_cuts"][0]["cuts"]["trials"], 2);
        let text = archived(&json, &Style::default());
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["/data/<x> on db1", "1 of 20 promises were broken", "fsync 30 10 19 0 1 0 0 1"]
        {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(text.contains("Likely layer Device") && text.contains("Notes"), "{text}");
        let html = with_report(vec![loss(Outcome::OldGeneration)], |report| report.html());
        assert!(html.contains("/data/&lt;x&gt;") && html.contains("generation 1 is"), "{html}");
    }

    #[test]
    fn the_outlook_says_what_cuts_can_show() {
        let text = outlook();
        assert!(text.contains("below 26 % of the cuts") && text.contains("2995 cuts"), "{text}");
        assert!(
            outlook_of(40).contains("40 cuts without a loss show that below 7.2 % of the cuts")
        );
    }
}
