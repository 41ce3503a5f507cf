-- The tables of 1.sql and 2.sql for PostgreSQL. Texts are in the order of their bytes, as in SQLite.
CREATE SCHEMA fathom;
SET LOCAL search_path TO fathom;
CREATE TABLE schema_version (version BIGINT NOT NULL);
INSERT INTO schema_version VALUES (1);

-- Runs made by one call, as repeats, cells of a sweep, steps of a test.
CREATE TABLE sets (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- What made them: 'repeat', 'test', 'sweep', 'app' …
    kind TEXT COLLATE "C" NOT NULL,
    -- Seed of random choices in judging them; text, as it may be larger than a BIGINT.
    seed TEXT COLLATE "C" NOT NULL,
    -- The directory of a sweep; empty for others.
    name TEXT COLLATE "C" NOT NULL,
    fathom TEXT COLLATE "C" NOT NULL
);
CREATE INDEX sets_by_name ON sets (kind, name);

-- A row a run. Texts of several values (two jobs, three devices) are joined with ', ' here and stand
-- one by one in facts.
CREATE TABLE runs (
    -- The order in which they came.
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    set_id TEXT COLLATE "C" REFERENCES sets (id),
    -- Its place in the set, as in the record's `cell`; coordinates is a JSON array.
    cell TEXT COLLATE "C",
    round BIGINT,
    coordinates TEXT COLLATE "C",
    kind TEXT COLLATE "C" NOT NULL,
    -- Milliseconds since 1970 UTC.
    started_ms BIGINT NOT NULL,
    ended_ms BIGINT NOT NULL,
    -- How far local time was ahead of UTC, in seconds.
    utc_offset BIGINT NOT NULL,
    host TEXT COLLATE "C" NOT NULL,
    kernel TEXT COLLATE "C" NOT NULL,
    fathom TEXT COLLATE "C" NOT NULL,
    job TEXT COLLATE "C" NOT NULL,
    rw TEXT COLLATE "C" NOT NULL,
    engine TEXT COLLATE "C" NOT NULL,
    bs TEXT COLLATE "C" NOT NULL,
    iodepth BIGINT NOT NULL,
    target TEXT COLLATE "C" NOT NULL,
    device TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    filesystem TEXT COLLATE "C" NOT NULL,
    command TEXT COLLATE "C" NOT NULL,
    -- I/O errors.
    errors BIGINT NOT NULL,
    -- The signal that ended it early.
    interrupted_by BIGINT,
    -- Bytes of the record's JSON.
    record_bytes BIGINT NOT NULL,
    note TEXT COLLATE "C" NOT NULL DEFAULT '',
    -- From here on NULL until it is judged: figures over all jobs and directions, latencies in
    -- nanoseconds.
    iops DOUBLE PRECISION,
    bandwidth DOUBLE PRECISION,
    mean_ns DOUBLE PRECISION,
    p50_ns DOUBLE PRECISION,
    p99_ns DOUBLE PRECISION,
    p99_9_ns DOUBLE PRECISION,
    max_ns DOUBLE PRECISION,
    -- 'device (high)', or what its jobs have, each once.
    verdict TEXT COLLATE "C",
    -- Findings by severity.
    found_errors BIGINT,
    found_warnings BIGINT,
    found_notes BIGINT,
    -- Version of fathom whose rules judged it.
    judged_by TEXT COLLATE "C"
);
CREATE INDEX runs_by_time ON runs (started_ms, number);
CREATE INDEX runs_by_set ON runs (set_id);
CREATE INDEX runs_by_host ON runs (lower(host), started_ms);
CREATE INDEX runs_by_kind ON runs (lower(kind), started_ms);
CREATE INDEX runs_by_iops ON runs (iops);
CREATE INDEX runs_by_iops_from_the_largest ON runs (iops DESC NULLS LAST);
CREATE INDEX runs_by_bandwidth ON runs (bandwidth);
CREATE INDEX runs_by_bandwidth_from_the_largest ON runs (bandwidth DESC NULLS LAST);
CREATE INDEX runs_by_p99 ON runs (p99_ns);
CREATE INDEX runs_by_p99_from_the_largest ON runs (p99_ns DESC NULLS LAST);

-- The record of a run: its JSON, compressed as gzip does.
CREATE TABLE records (
    run BIGINT PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
    json BYTEA NOT NULL
);

-- What can be searched for, a value a row: job, rw, engine, bs, target, device, model, filesystem; and
-- once it is judged verdict, confidence, finding.
CREATE TABLE facts (
    run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run, name, value)
);

CREATE INDEX facts_by_value ON facts (name, lower(value), run);

-- Figures by the names of 'fathom plot --metric': 'iops', 'read.p99', 'sync.mean'; rates in I/Os or
-- bytes a second, latencies in nanoseconds.
CREATE TABLE figures (
    run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (run, name)
);

CREATE TABLE tags (
    run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    tag TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run, tag)
);
CREATE INDEX tags_by_tag ON tags (tag);
CREATE INDEX tags_by_lower_case ON tags (lower(tag), run);
