-- Indexes for a million runs: filters compare texts whatever the case of their letters.
CREATE INDEX facts_by_value ON facts (name, lower(value), run);
DROP INDEX runs_by_host;
CREATE INDEX runs_by_host ON runs (lower(host), started_ms);
DROP INDEX runs_by_kind;
CREATE INDEX runs_by_kind ON runs (lower(kind), started_ms);
CREATE INDEX tags_by_lower_case ON tags (lower(tag), run);
