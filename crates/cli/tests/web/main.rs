//! The archive, reports and pages.

#[path = "../common/mod.rs"]
mod common;

mod archive;
mod archive_server;
mod metrics;
mod report;
mod report_browser;
mod runs;
mod serve;
mod serve_browser;
