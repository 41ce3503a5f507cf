//! Rights of roles in an archive on a server.

use crate::{Archive, ArchiveError};

/// Rights in an archive on a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Lists and loads runs.
    Reader,
    /// Also adds runs, labels and judges them; removes none.
    Writer,
}

impl Archive {
    /// Grants rights in the archive to a role of its server.
    ///
    /// # Errors
    /// When the archive is a file, the role is not known, or the user may not grant.
    pub fn grant(&self, rights: Role, role: &str) -> Result<(), ArchiveError> {
        if self.location.server().is_none() {
            return Err(ArchiveError::Unusable {
                path: self.path().to_owned(),
                reason:
                    "it is a file, which has no roles: its permissions are those of the file system"
                        .into(),
            });
        }
        let role = format!("\"{}\"", role.replace('"', "\"\""));
        let mut sql = format!(
            "GRANT USAGE ON SCHEMA fathom TO {role}; GRANT SELECT ON ALL TABLES IN SCHEMA fathom TO {role};"
        );
        if rights == Role::Writer {
            sql += &format!(
                "GRANT INSERT ON runs, records, facts, figures, tags, sets TO {role}; \
                 GRANT UPDATE ON runs TO {role}; GRANT DELETE ON facts, figures, tags TO {role};"
            );
        }
        self.write(|database| database.batch(&sql))
    }
}
