//! `fathom trend`: shows a figure of archived runs over time, its changes, and what else changed then.

use crate::commands::plot;
use crate::commands::runs::access::{filter, open, refused, terminal_style};
use crate::output::{Output, write_stderr};
use anyhow::Result;
use archive::{Choice, Trends};
use clap::Args;
use judge::Measure;
use runner::Refusal;
use std::path::PathBuf;

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom trend job=nightly --metric=read.p99
  fathom trend host=db1 -o trend.svg";

/// Arguments of `fathom trend`.
#[derive(Args)]
#[command(
    before_help = EXAMPLES,
    after_help = "FILTER words are those of fathom runs. Each job, workload and host has a trend of its \
                  own; interrupted runs and runs with errors are left out."
)]
pub struct Arguments {
    /// Use only runs that match all of these words.
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,
    /// Use only runs of this job; the same as the word job=NAME.
    #[arg(long, value_name = "NAME")]
    job: Option<String>,
    /// The figure, as `fathom compare --metrics` names it, also of one direction (read.p99), of
    /// synchronisations (sync.p99), or of requests to an object store (GET.p99) and to the first byte of
    /// their answers (ttfb.p99, GET.ttfb.p99).
    #[arg(long, value_name = "NAME", default_value = "iops", value_parser = Measure::parse)]
    metric: Measure,
    /// Draw the trend with the most runs to this file, ending in .svg or .png.
    #[arg(short, long, value_name = "FILE", value_parser = plot::output)]
    output: Option<PathBuf>,
    /// Print JSON: an array of trends.
    #[arg(long)]
    json: bool,
    /// Archive to use: a file, or postgres://USER@HOST/DATABASE [default: FATHOM_ARCHIVE, or the user's
    /// archive].
    #[arg(long, value_name = "ARCHIVE")]
    archive: Option<PathBuf>,
}

/// Shows the trends. 0: done; 1: the picture could not be written; 2: usage error, or no run has the figure.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let mut words = arguments.filter.clone();
    words.extend(arguments.job.iter().map(|job| format!("job={job}")));
    let choice = Choice::from_options(arguments.archive.as_deref(), false);
    let (archive, filter) = (open(&choice)?, filter(&words)?);
    let trends = archive.trends(&filter, &arguments.metric, usize::MAX);
    let Trends { trends, broken_runs, older_runs, .. } = trends.map_err(refused)?;
    if broken_runs > 0 {
        let plural = if broken_runs == 1 { "" } else { "s" };
        write_stderr(&format!(
            "fathom: {broken_runs} run{plural} with errors or interrupted left out\n"
        ));
    }
    if older_runs > 0 {
        write_stderr(&format!(
            "fathom: {older_runs} older runs that match were not looked at; FILTER words, such as \
             until=2026-06-01, select others\n"
        ));
    }
    let Some(longest) = trends.first() else {
        if archive.count(&filter).is_ok_and(|count| count == 0) {
            let text = "no run matches the filter; fathom runs lists all of them";
            return Err(Refusal::usage(text));
        }
        let text = format!(
            "no run that matches has a figure '{}'; those that an older fathom judged have newer \
             figures after `fathom runs rejudge --all`",
            arguments.metric.name()
        );
        return Err(Refusal::usage(text));
    };
    let mut output = Output::Stdout;
    if arguments.json {
        let all: Vec<_> = trends.iter().map(report::trend::json).collect();
        output.write(&(serde_json::to_string_pretty(&all)? + "\n"))?;
    } else {
        let style = terminal_style(&output);
        let style = report::style::Style { width: style.width.min(120), ..style };
        let texts: Vec<String> =
            trends.iter().map(|trend| report::trend::text(trend, &style)).collect();
        output.write(&texts.join("\n"))?;
    }
    if let Some(path) = &arguments.output {
        plot::write(&report::trend::picture(longest), path).map_err(anyhow::Error::msg)?;
        write_stderr(&format!(
            "{}: {} of {}\n",
            path.display(),
            longest.measure.name(),
            longest.workload
        ));
    }
    Ok(0)
}
