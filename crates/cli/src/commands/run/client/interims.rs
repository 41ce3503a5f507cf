//! What servers have measured so far, while they go on.

use super::Servers;
use super::member::Member;
use anyhow::Result;
use record::{Format, RunRecord};
use report::clients::{ClientReport, Clients};
use report::{RenderOptions, Subject};

impl Servers<'_> {
    /// Takes the results of a server so far. Text is printed at once, as fio prints the results of
    /// servers; a document is printed when all running servers have sent theirs.
    pub(super) fn so_far(&mut self, index: usize, record: RunRecord) -> Result<()> {
        let options = RenderOptions { so_far: true, ..self.request.render_options(self.output) };
        let Some(member) = self.members.get_mut(index) else { return Ok(()) };
        let report = member.so_far(record);
        if self.text {
            self.output.write(&report::normal::server(&report, &options))?;
        }
        member.so_far = Some(report);
        if self.members.iter().any(|member| member.so_far.is_none() && !member.stage.is_over()) {
            return Ok(());
        }
        let last = |member: &mut Member| member.so_far.take().or_else(|| member.report.clone());
        let reports: Vec<ClientReport> = self.members.iter_mut().filter_map(last).collect();
        let mut formats = self.request.formats().to_vec();
        formats.retain(|format| *format != Format::Normal);
        match formats.is_empty() {
            true => Ok(()),
            false => self.output.write(&report::render(
                Subject::Clients(&Clients::new(reports)),
                &formats,
                &options,
            )),
        }
    }
}
