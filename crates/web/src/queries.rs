//! What pages and the API ask of the archive.

use crate::failure::Failure;
use crate::site::Site;
use archive::{Archive, ArchiveError, Filter, FilterError, Now, Row, RunId, RunOrSet, SetId};
use axum::http::StatusCode;
use record::RunRecord;
use serde::Deserialize;

/// Runs on a page, usually.
pub const PAGE: u64 = 50;
/// Runs that are listed at once, at most.
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

/// Which runs are asked for.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct RunsQuery {
    /// Words of [`Filter::parse`].
    #[serde(default)]
    pub filter: String,
    /// What [`Filter`] calls `sort`.
    #[serde(default)]
    pub sort: String,
    /// How many at most.
    pub limit: Option<u64>,
    /// How many are left out before.
    #[serde(default)]
    pub offset: u64,
}

/// Runs, and how many there are.
pub struct RunPage {
    /// Those asked for.
    pub rows: Vec<Row>,
    /// All that the filter lets through.
    pub total: u64,
    /// How many were asked for at most.
    pub limit: u64,
}

impl RunsQuery {
    /// As a filter.
    fn parsed(&self) -> Result<Filter, Failure> {
        let limit = self.limit.unwrap_or(PAGE);
        if !(1..=PAGE_MAX).contains(&limit) {
            return Err(Failure::bad_request(format!("limit: expected 1 to {PAGE_MAX}")));
        }
        // SQLite counts no further.
        if i64::try_from(self.offset).is_err() {
            return Err(Failure::bad_request("offset: there are not so many runs"));
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

/// The runs that words ask for.
///
/// # Errors
/// The word that says nothing.
pub fn filter(words: &str) -> Result<Filter, Failure> {
    Ok(Filter::parse(words, Now::local())?)
}

/// A run by its name: `latest` is the last run, whatever it was made together with.
pub fn find(archive: &Archive, name: &str) -> Result<RunId, Failure> {
    Ok(archive.find(name)?)
}

/// Does `work` with the archive and the run of that name in it: what all pages and addresses about one
/// run begin with.
///
/// # Errors
/// There is no such run, or the archive cannot be had; those of the work.
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
    let record = record_from(json)?;
    if let Some(id) = archive.find_same(&record)? {
        return Ok((id, true));
    }
    let id = archive.add(&record, &archive::Lineage::alone("run"))?;
    let judged = judge::judge(&record);
    archive.save_summary(&id, &archive::Summary::new(&record, &judged))?;
    Ok((id, false))
}

fn record_from(json: &[u8]) -> Result<RunRecord, Failure> {
    /// What tells a record from other JSON.
    #[derive(Deserialize)]
    struct Heading {
        schema: u32,
        fathom_version: String,
    }
    let wrong = |error: serde_json::Error| {
        Failure::bad_request(format!("this is no record of fathom: {error}"))
    };
    let heading: Heading = serde_json::from_slice(json).map_err(wrong)?;
    if heading.schema > record::SCHEMA_VERSION {
        return Err(Failure::bad_request(format!(
            "this record has schema {}, made by fathom {}; this fathom reads those up to {}",
            heading.schema,
            heading.fathom_version,
            record::SCHEMA_VERSION
        )));
    }
    serde_json::from_slice(json).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_bounded() {
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

    #[test]
    fn what_is_no_record_is_told() {
        for json in ["", "{}", "[]", "null", "{\"schema\":1}"] {
            assert!(record_from(json.as_bytes()).unwrap_err().text.contains("no record"), "{json}");
        }
        let newer = r#"{"schema":999,"fathom_version":"9.9"}"#;
        assert!(record_from(newer.as_bytes()).unwrap_err().text.contains("9.9"));
        let json = serde_json::to_vec(&RunRecord::default()).unwrap();
        assert_eq!(record_from(&json).unwrap(), RunRecord::default());
    }
}
