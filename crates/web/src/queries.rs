//! Queries of the archive that the pages and the API share.

use crate::failure::Failure;
use crate::site::Site;
use archive::{Archive, ArchiveError, Filter, FilterError, Now, Row, RunId, RunOrSet, SetId};
use axum::http::StatusCode;
use serde::Deserialize;

/// Runs on a page by default.
pub const PAGE: u64 = 50;
/// Most runs that are listed at once.
const PAGE_MAX: u64 = 1000;

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Failure {
        let status = match &error {
            ArchiveError::Unknown { .. } => StatusCode::NOT_FOUND,
            ArchiveError::Ambiguous { .. } | ArchiveError::Tag { .. } => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Failure { status, text: error.to_string() }
    }
}

impl From<FilterError> for Failure {
    fn from(error: FilterError) -> Failure {
        Failure::bad_request(error.to_string())
    }
}

/// The runs a request asks for.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct RunsQuery {
    /// Words of [`Filter::parse`].
    #[serde(default)]
    pub filter: String,
    /// A sort key of [`Filter`].
    #[serde(default)]
    pub sort: String,
    /// Most runs to list.
    pub limit: Option<u64>,
    /// Number of runs to skip.
    #[serde(default)]
    pub offset: u64,
}

/// A page of a list of runs.
pub struct RunPage {
    /// The runs on it.
    pub rows: Vec<Row>,
    /// The number of all runs that the filter selects.
    pub total: u64,
    /// Most runs on it.
    pub limit: u64,
}

impl RunsQuery {
    /// As a filter.
    fn parsed(&self) -> Result<Filter, Failure> {
        let limit = self.limit.unwrap_or(PAGE);
        if !(1..=PAGE_MAX).contains(&limit) {
            return Err(Failure::bad_request(format!("limit: expected 1 to {PAGE_MAX}")));
        }
        // The largest integer of SQLite.
        if i64::try_from(self.offset).is_err() {
            return Err(Failure::bad_request("offset: too large"));
        }
        let mut filter = filter(&self.filter)?;
        if !self.sort.is_empty() {
            let order = Filter::from_words(&[format!("sort={}", self.sort)], Now::local());
            filter.sort = order?.sort;
        }
        filter.limit = Some(filter.limit.map_or(limit, |own| own.clamp(1, limit)));
        filter.offset = self.offset;
        Ok(filter)
    }

    /// The runs.
    ///
    /// # Errors
    /// What is wrong with the filter; the archive cannot be read.
    pub fn list(&self, archive: &Archive) -> Result<RunPage, Failure> {
        let filter = self.parsed()?;
        let total = archive.count(&filter)?;
        let limit = filter.limit.unwrap_or(PAGE);
        Ok(RunPage { rows: archive.list(&filter)?, total, limit })
    }
}

/// A filter from its words.
///
/// # Errors
/// The word that is not a condition.
pub fn filter(words: &str) -> Result<Filter, Failure> {
    Ok(Filter::parse(words, Now::local())?)
}

/// A run by its name. `latest` is the latest run, also of a set.
pub fn find(archive: &Archive, name: &str) -> Result<RunId, Failure> {
    Ok(archive.find(name)?)
}

/// Runs `work` with the archive and the id of the run with this name.
///
/// # Errors
/// There is no such run, the archive cannot be opened, or the work fails.
pub async fn with_run<T: Send + 'static>(
    site: &Site,
    name: String,
    work: impl FnOnce(&Site, &mut Archive, RunId) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    site.archived(move |site, archive| {
        let id = find(archive, &name)?;
        work(site, archive, id)
    })
    .await
}

/// Every run of a set.
pub fn rows_of(archive: &Archive, set: &SetId) -> Result<Vec<Row>, Failure> {
    let filter = Filter::from_words(&[format!("set={set}"), "sort=time".into()], Now::local());
    let filter = filter.map_err(|error| Failure::internal(error.to_string()))?;
    Ok(archive.list(&filter)?)
}

/// A set by its name.
pub fn set(archive: &Archive, name: &str) -> Result<SetId, Failure> {
    match archive.resolve(name)? {
        RunOrSet::Set(id) => Ok(id),
        RunOrSet::Run(_) => {
            Err(Failure::not_found(format!("'{name}' is one run and no set of runs")))
        }
    }
}

/// Adds a record from its JSON; its id, and whether it was there already.
///
/// # Errors
/// It is no record of ours; the archive cannot be written.
pub fn add(archive: &mut Archive, json: &[u8]) -> Result<(RunId, bool), Failure> {
    let record = archive::read_record(json)
        .map_err(|why| Failure::bad_request(format!("this is not a record of fathom: {why}")))?;
    if let Some(id) = archive.find_same(&record)? {
        return Ok((id, true));
    }
    let id = archive.add(&record, &archive::Lineage::alone("run"))?;
    let judged = judge::judge(&record);
    archive.save_summary(&id, &archive::Summary::new(&record, &judged))?;
    Ok((id, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_and_offset_are_bounded() {
        let asked = |limit, offset| RunsQuery { limit, offset, ..RunsQuery::default() }.parsed();
        assert_eq!(asked(None, 0).unwrap().limit, Some(PAGE));
        assert!(asked(Some(0), 0).is_err() && asked(Some(100_000), 0).is_err());
        assert!(asked(None, u64::MAX).is_err());
        let both = RunsQuery {
            filter: "limit=7 sort=job".into(),
            sort: "-iops".into(),
            ..RunsQuery::default()
        };
        let filter = both.parsed().unwrap();
        assert_eq!((filter.limit, filter.sort.descending), (Some(7), true));
    }
}
