//! `fathom runs export`, `fathom runs import` and `fathom runs copy`.

use super::access::{filter, location, open, refused};
use crate::archived;
use crate::output::{describe, write_stderr};
use ::archive::{Archive, Choice, Copied, Lineage, RunId, SetId, SetInfo, Summary};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use formats::export::{Named, Table};
use record::human::counted;
use record::{RecordSet, RunRecord};
use runner::Refusal;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `fathom runs export`.
#[derive(Args)]
pub struct Export {
    /// Names of runs or sets, or files with records.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<PathBuf>,
    /// File to write, ending in .json, .csv or .parquet.
    #[arg(short, long, value_name = "FILE", value_parser = output)]
    output: (PathBuf, Form),
    /// Rows of a table; JSON holds complete records.
    #[arg(long, value_enum, default_value = "intervals")]
    what: What,
}

/// The format of a file, by the ending of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Json,
    Csv,
    Parquet,
}

/// The rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Each interval of each worker and direction.
    Intervals,
    /// Each percentile of each job's latencies.
    Percentiles,
}

fn output(text: &str) -> Result<(PathBuf, Form), String> {
    let path = PathBuf::from(text);
    let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
    match end.as_deref() {
        Some("json") => Ok((path, Form::Json)),
        Some("csv") => Ok((path, Form::Csv)),
        Some("parquet") => Ok((path, Form::Parquet)),
        _ => Err("expected a name that ends in .json, .csv or .parquet".into()),
    }
}

/// Arguments of `fathom runs copy`.
#[derive(Args)]
pub struct Copy {
    /// Copy only runs that match all of these words.
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,
    /// Archive to copy to: a file, or postgres://USER@HOST/DATABASE.
    #[arg(long, value_name = "ARCHIVE")]
    to: PathBuf,
}

/// Copies runs to another archive, the oldest first.
///
/// # Errors
/// When one of the archives cannot be used.
pub fn copy(arguments: &Copy, choice: &Choice) -> Result<()> {
    let source = open(choice)?;
    let ids = source.ids(&filter(&arguments.filter)?).map_err(refused)?;
    let place = Choice::At(arguments.to.clone());
    let mut target = Archive::open(&location(&place)?).map_err(refused)?;
    target.messages().iter().for_each(|message| write_stderr(&format!("fathom: {message}\n")));
    let oldest_first: Vec<RunId> = ids.into_iter().rev().collect();
    let Copied { copied, skipped } = target.copy_from(&source, &oldest_first).map_err(refused)?;
    let known = match skipped {
        0 => String::new(),
        skipped => format!(", {} there already", counted(skipped as usize, "run")),
    };
    let to = target.path().display();
    write_stderr(&format!("{to}: {} copied{known}\n", counted(copied as usize, "run")));
    Ok(())
}

/// Writes the runs of all names to one file.
///
/// # Errors
/// When a name matches no run, or the file cannot be written.
pub fn export(arguments: &Export, choice: &Choice) -> Result<()> {
    let mut sets = Vec::new();
    for name in &arguments.names {
        sets.push((name, archived::load_from(name, choice)?));
    }
    let (path, form) = &arguments.output;
    let runs: usize = sets.iter().map(|(_, set)| set.runs.len()).sum();
    let plural = if runs == 1 { "" } else { "s" };
    match form {
        Form::Json => save(path, sets.into_iter().map(|(_, set)| set).collect())?,
        Form::Csv | Form::Parquet => {
            let mut named: Vec<(String, &RunRecord)> = Vec::new();
            for (name, set) in &sets {
                let names = names(name, set, choice);
                named.extend(names.into_iter().zip(&set.runs));
            }
            let named: Vec<Named> =
                named.iter().map(|(name, record)| Named { name, record }).collect();
            let table = match arguments.what {
                What::Intervals => formats::export::intervals(&named),
                What::Percentiles => formats::export::percentiles(&named),
            };
            write(path, &table, *form)?;
            write_stderr(&format!(
                "{}: {} rows of {runs} run{plural}\n",
                path.display(),
                table.rows()
            ));
            return Ok(());
        }
    }
    write_stderr(&format!("{}: {runs} run{plural}\n", path.display()));
    Ok(())
}

/// Writes one run as a record, one set as a set, and several as one set with all runs.
fn save(path: &Path, mut sets: Vec<RecordSet>) -> Result<()> {
    let saved = match (&mut sets[..], path) {
        ([one], path) if one.kind == "run" && one.runs.len() == 1 => {
            formats::save(&one.runs[0], path)
        }
        ([one], path) => formats::save_set(one, path),
        (_, path) => {
            let mut all = runner::empty_set(EXPORTED, 0);
            all.runs = sets.into_iter().flat_map(|set| set.runs).collect();
            formats::save_set(&all, path)
        }
    };
    saved.map_err(anyhow::Error::from)
}

/// The kind of a set of exported runs.
const EXPORTED: &str = "export";

/// Names of runs in tables: their ids, or the name of the file with their numbers.
fn names(name: &Path, set: &RecordSet, choice: &Choice) -> Vec<String> {
    let text = name.to_string_lossy();
    if fs::metadata(name).is_err()
        && let Ok(archive) = open(choice)
        && let Ok(ids) = archive.find_all(&text)
        && ids.len() == set.runs.len()
    {
        return ids.iter().map(|id| id.short().to_owned()).collect();
    }
    match set.runs.len() {
        1 => vec![text.into_owned()],
        count => (1..=count).map(|number| format!("{text} #{number}")).collect(),
    }
}

fn write(path: &Path, table: &Table, form: Form) -> Result<()> {
    let written = |path: &Path| {
        let mut file = File::create(path)?;
        match form {
            Form::Parquet => table.parquet(&file).map_err(std::io::Error::other)?,
            Form::Csv | Form::Json => file.write_all(table.csv().as_bytes())?,
        }
        Ok(file)
    };
    formats::write_atomically(path, written)
        .with_context(|| format!("{}: cannot write", path.display()))
}

/// Arguments of `fathom runs import`.
#[derive(Args)]
pub struct Import {
    /// Records or sets of fathom, directories of sweeps, or output of fio 3 in JSON or JSON+.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Add this tag to every run of the files; repeatable.
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
}

/// Imports the runs of all files, except files that cannot be read.
///
/// # Errors
/// When the archive cannot be used, or, after the import, that a file could not be read.
pub fn import(arguments: &Import, choice: &Choice) -> Result<()> {
    let mut archive = Archive::open(&location(choice)?).map_err(refused)?;
    archive.messages().iter().for_each(|remark| write_stderr(&format!("fathom: {remark}\n")));
    let mut unread = 0;
    for file in &arguments.files {
        let set = match formats::load_set(file) {
            Ok(set) => set,
            Err(error) => {
                write_stderr(&format!("fathom: error: {}\n", describe(&error.into())));
                unread += 1;
                continue;
            }
        };
        let (added, known) = add(&mut archive, &set, file)?;
        for id in added.iter().chain(&known) {
            for tag in &arguments.tag {
                archive.tag(id, tag).map_err(refused)?;
            }
        }
        write_stderr(&format!("{}: {}\n", file.display(), import_summary(&added, &known)));
        for note in set.runs.iter().filter(|run| run.origin.is_some()).flat_map(|r| &r.messages) {
            write_stderr(&format!("  {}\n", note.text));
        }
    }
    match unread {
        0 => Ok(()),
        count => {
            let text = format!("{count} of {} files not imported", arguments.files.len());
            Err(Refusal::usage(text))
        }
    }
}

/// The result of an import, such as "3 runs added (7f3a9c21 …), 1 run there already (03bc11d0)".
fn import_summary(added: &[RunId], known: &[RunId]) -> String {
    let ids = |ids: &[RunId]| match ids {
        [one] => one.short().to_owned(),
        [first, ..] => format!("{} …", first.short()),
        [] => String::new(),
    };
    let new = match added.len() {
        0 => "nothing new".to_owned(),
        count => format!("{} added ({})", counted(count, "run"), ids(added)),
    };
    match known.len() {
        0 => new,
        count => format!("{new}, {} there already ({})", counted(count, "run"), ids(known)),
    }
}

/// Adds the runs of a set that are not archived yet, to the archived set if some of its runs are. Returns
/// the added and the known runs.
fn add(archive: &mut Archive, set: &RecordSet, file: &Path) -> Result<(Vec<RunId>, Vec<RunId>)> {
    let mut known = Vec::new();
    let mut new = Vec::new();
    for run in &set.runs {
        match archive.find_same(run).map_err(refused)? {
            Some(id) => known.push(id),
            None => new.push(run),
        }
    }
    let lineage = lineage(archive, set, file, &known)?;
    let mut added = Vec::new();
    for run in new {
        let id = archive.add(run, &lineage).map_err(refused)?;
        let summary = Summary::new(run, &judge::judge(run));
        archive.save_summary(&id, &summary).map_err(refused)?;
        added.push(id);
    }
    Ok((added, known))
}

fn lineage(archive: &Archive, set: &RecordSet, file: &Path, known: &[RunId]) -> Result<Lineage> {
    let is_fio = set.runs.iter().any(|run| run.origin.is_some());
    if set.kind == "run" || set.kind == EXPORTED {
        return Ok(Lineage::alone(if is_fio { "fio" } else { "run" }));
    }
    let directory = file.is_dir().then(|| fs::canonicalize(file).ok()).flatten();
    let name = directory.map_or(String::new(), |path| path.to_string_lossy().into_owned());
    let of_known = match known.first() {
        Some(id) => archive.row(id).map_err(refused)?.set,
        None => None,
    };
    let id = of_known.unwrap_or_else(SetId::random);
    let together = SetInfo { id, seed: set.seed, name };
    Ok(Lineage { kind: set.kind.clone(), set: Some(together) })
}
