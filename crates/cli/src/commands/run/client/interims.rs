//! What servers have measured so far, while they go on.

use super::Servers;
use super::member::Member;
use anyhow::Result;
use record::RunRecord;
use report::clients::{ClientReport, Clients};

impl Servers<'_> {
    /// Takes what a server has measured so far. As text it is shown at once, as fio shows the
    /// results of servers; in one document with the others, once all that run have said theirs.
    pub(super) fn so_far(&mut self, index: usize, record: RunRecord) -> Result<()> {
        let dress = self.request.dress(self.output);
        let Some(member) = self.members.get_mut(index) else { return Ok(()) };
        let report = member.so_far(record);
        if self.text {
            self.output.write(&report::clients::server_so_far(&report, &dress))?;
        }
        member.so_far = Some(report);
        if self.members.iter().any(|member| member.so_far.is_none() && !member.stage.is_over()) {
            return Ok(());
        }
        let last = |member: &mut Member| member.so_far.take().or_else(|| member.report.clone());
        let reports: Vec<ClientReport> = self.members.iter_mut().filter_map(last).collect();
        let of_all = |format: &report::Format| *format != report::Format::Normal;
        let formats: Vec<_> = self.request.formats().into_iter().filter(of_all).collect();
        match formats.is_empty() {
            true => Ok(()),
            false => self.output.write(&Clients::new(reports).render(&formats, &dress)),
        }
    }
}
