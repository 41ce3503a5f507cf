//! Parts that the JSON documents of suites share.

use crate::json::fathom::{finding, verdict};
use crate::json::tree::{Json, array, object, texts};
use judge::Finding;
use record::SavedTo;
use std::path::Path;
use suite::{Estimated, Failure, LimitGroup};

/// The whole document: the keys common to all kinds, then the rest.
pub(super) fn document(kind: &str, seed: Option<u64>, saved: &SavedTo, rest: Json) -> String {
    let mut out = object! { "kind" => kind, "fathom_version" => env!("CARGO_PKG_VERSION") };
    seed.iter().for_each(|seed| out.push("seed", *seed));
    out.push("record", path(saved.record.as_deref()));
    out.push("archived_as", saved.archived_as.clone());
    out.push("why", saved.intent.clone());
    out.extend(rest);
    out.to_text()
}

/// A path as text.
pub(super) fn path(path: Option<&Path>) -> Option<String> {
    path.map(|path| path.to_string_lossy().into_owned())
}

pub(super) fn findings(all: &[Finding]) -> Json {
    array(all, finding)
}

/// A figure with its interval, or null for the interval.
pub(crate) fn estimated(estimated: &Estimated) -> Json {
    object! {
        "value" => estimated.value,
        "low" => estimated.interval.map(|(low, _)| low),
        "high" => estimated.interval.map(|(_, high)| high).filter(|high| high.is_finite()),
    }
}

pub(crate) fn limited(limited: &LimitGroup) -> Json {
    object! { "cells" => texts(&limited.cells), "verdict" => verdict(&limited.verdict) }
}

pub(super) fn failure(failure: &Failure) -> Json {
    object! { "cell" => &failure.cell, "text" => &failure.text }
}
