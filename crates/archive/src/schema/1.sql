-- Runs made by one call, as repeats, cells of a sweep, steps of a test.
CREATE TABLE sets (
    id TEXT NOT NULL PRIMARY KEY,
    -- What made them: 'repeat', 'test', 'sweep', 'app' …
    kind TEXT NOT NULL,
    -- Seed of random choices in judging them; text, as it may be larger than an INTEGER.
    seed TEXT NOT NULL,
    -- The directory of a sweep; empty for others.
    name TEXT NOT NULL,
    fathom TEXT NOT NULL
);
CREATE INDEX sets_by_name ON sets (kind, name);

-- A row a run. Texts of several values (two jobs, three devices) are joined with ', ' here and stand
-- one by one in facts.
CREATE TABLE runs (
    -- The order in which they came.
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(8)))),
    set_id TEXT REFERENCES sets (id),
    -- Its place in the set, as in the record's `cell`; coordinates is a JSON array.
    cell TEXT,
    round INTEGER,
    coordinates TEXT,
    kind TEXT NOT NULL,
    -- Milliseconds since 1970 UTC.
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL,
    -- How far local time was ahead of UTC, in seconds.
    utc_offset INTEGER NOT NULL,
    host TEXT NOT NULL,
    kernel TEXT NOT NULL,
    fathom TEXT NOT NULL,
    job TEXT NOT NULL,
    rw TEXT NOT NULL,
    engine TEXT NOT NULL,
    bs TEXT NOT NULL,
    iodepth INTEGER NOT NULL,
    target TEXT NOT NULL,
    device TEXT NOT NULL,
    model TEXT NOT NULL,
    filesystem TEXT NOT NULL,
    command TEXT NOT NULL,
    -- I/O errors.
    errors INTEGER NOT NULL,
    -- The signal that ended it early.
    interrupted_by INTEGER,
    -- Bytes of the record's JSON.
    record_bytes INTEGER NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    -- From here on NULL until it is judged: figures over all jobs and directions, latencies in
    -- nanoseconds.
    iops REAL,
    bandwidth REAL,
    mean_ns REAL,
    p50_ns REAL,
    p99_ns REAL,
    p99_9_ns REAL,
    max_ns REAL,
    -- 'device (high)', or what its jobs have, each once.
    verdict TEXT,
    -- Findings by severity.
    found_errors INTEGER,
    found_warnings INTEGER,
    found_notes INTEGER,
    -- Version of fathom whose rules judged it.
    judged_by TEXT
);
CREATE INDEX runs_by_time ON runs (started_ms, number);
CREATE INDEX runs_by_set ON runs (set_id);
CREATE INDEX runs_by_host ON runs (host);
CREATE INDEX runs_by_kind ON runs (kind);
CREATE INDEX runs_by_iops ON runs (iops);
CREATE INDEX runs_by_bandwidth ON runs (bandwidth);
CREATE INDEX runs_by_p99 ON runs (p99_ns);

-- The record of a run: its JSON, compressed as gzip does.
CREATE TABLE records (
    run INTEGER PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
    json BLOB NOT NULL
);

-- What can be searched for, a value a row: job, rw, engine, bs, target, device, model, filesystem; and
-- once it is judged verdict, confidence, finding.
CREATE TABLE facts (
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run, name, value)
) WITHOUT ROWID;

-- Figures by the names of 'fathom plot --metric': 'iops', 'read.p99', 'sync.mean'; rates in I/Os or
-- bytes a second, latencies in nanoseconds.
CREATE TABLE figures (
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (run, name)
) WITHOUT ROWID;

CREATE TABLE tags (
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (run, tag)
) WITHOUT ROWID;
CREATE INDEX tags_by_tag ON tags (tag);
