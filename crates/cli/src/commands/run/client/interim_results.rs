//! Interim results of servers.

use super::Servers;
use super::server_link::ServerLink;
use anyhow::Result;
use record::{Format, RunRecord};
use report::clients::{ClientReport, Clients};
use report::{RenderOptions, Subject};

impl Servers<'_> {
    /// Shows interim results of a server. Text is printed at once, as fio does; a document is printed
    /// when all running servers have sent their results.
    pub(super) fn so_far(&mut self, index: usize, record: RunRecord) -> Result<()> {
        let options = RenderOptions { so_far: true, ..self.request.render_options(self.output) };
        let Some(server) = self.servers.get_mut(index) else { return Ok(()) };
        let report = server.so_far(record);
        if self.text {
            self.output.write(&report::normal::server(&report, &options))?;
        }
        server.so_far = Some(report);
        if self.servers.iter().any(|server| server.so_far.is_none() && !server.stage.is_over()) {
            return Ok(());
        }
        let last = |server: &mut ServerLink| server.so_far.take().or_else(|| server.report.clone());
        let reports: Vec<ClientReport> = self.servers.iter_mut().filter_map(last).collect();
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
