//! The table of `--layers`: a line for each job, or all processes, and each disk and direction.

use super::Palette;
use super::layout::{cut, visible};
use crate::layers::LayersNow;
use ratatui::text::Line;
use record::human;

/// Columns of the layers: their names' width and a blank or more.
const WIDTHS: [usize; 4] = [9, 7, 11, 9];

/// The header and a line for each of the first `rows` paths.
pub(crate) fn lines(
    paths: &[LayersNow],
    rows: usize,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    if rows == 0 {
        return Vec::new();
    }
    let names = LayersNow::NAMES.into_iter().zip(WIDTHS);
    let names: String = names.map(|(name, width)| format!("{name:>width$}")).collect();
    let is_of_jobs = paths.iter().any(|path| !path.sums.job.is_empty());
    let whose = if is_of_jobs { "job" } else { "all I/Os" };
    let head = format!("  {whose:<14} {:<6} {:<10} {:>8}{names}", "", "disk", "mean");
    let mut lines = vec![palette.dim(cut(&head, width)).into()];
    lines.extend(paths.iter().take(rows).map(|path| cut(&line(path), width).into()));
    lines
}

fn line(path: &LayersNow) -> String {
    let (job, disk) = (visible(&path.sums.job), visible(&path.sums.device));
    let name = format!("  {:<14} {:<6} {:<10}", cut(&job, 14), path.operation(), cut(&disk, 10));
    let Some(means) = path.mean_ns else { return format!("{name} {:>8}", "-") };
    let total: f64 = means.iter().sum();
    let share = |(time, width): (f64, usize)| {
        let percent = if total > 0.0 { time * 100.0 / total } else { 0.0 };
        format!("{:>width$}", format!("{percent:.0} %"))
    };
    let shares: String = means.into_iter().zip(WIDTHS).map(share).collect();
    format!("{name} {:>8}{shares}", human::time(total))
}
