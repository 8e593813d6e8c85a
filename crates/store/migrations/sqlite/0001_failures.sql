-- Failure history. The rules are in store-api; times are milliseconds since 1970 in UTC.

-- What was recorded, in the order that counts.
CREATE TABLE runs (
  number     INTEGER PRIMARY KEY AUTOINCREMENT,
  root       TEXT NOT NULL,
  tool       TEXT NOT NULL,
  scope      TEXT NOT NULL,
  revision   TEXT,
  dirty      INTEGER NOT NULL,
  branch     TEXT,
  at         INTEGER NOT NULL,
  transcript TEXT,
  -- The answer as JSON, of the last runs that have a transcript.
  verdicts   TEXT
) STRICT;
CREATE UNIQUE INDEX runs_once ON runs (root, transcript, tool, scope) WHERE transcript IS NOT NULL;
CREATE INDEX runs_answered ON runs (root, number) WHERE verdicts IS NOT NULL;
CREATE INDEX runs_by_age ON runs (at);

-- The last clean pass of each test.
CREATE TABLE tests (
  root     TEXT NOT NULL,
  id       TEXT NOT NULL,
  revision TEXT NOT NULL,
  branch   TEXT,
  at       INTEGER NOT NULL,
  PRIMARY KEY (root, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tests_by_age ON tests (at);

-- Whatever failed once, as it was last reported.
CREATE TABLE failures (
  entry      INTEGER PRIMARY KEY AUTOINCREMENT,
  root       TEXT NOT NULL,
  id         TEXT NOT NULL,
  -- The report as JSON.
  report     TEXT NOT NULL,
  -- The run that it last failed in.
  failed_run INTEGER NOT NULL,
  UNIQUE (root, id)
) STRICT;
CREATE INDEX failures_by_run ON failures (root, failed_run, entry);

-- What is remembered of a failure on a branch; '' when no branch was checked out.
CREATE TABLE lines (
  entry  INTEGER NOT NULL REFERENCES failures (entry) ON DELETE CASCADE,
  branch TEXT NOT NULL,
  state  TEXT NOT NULL,
  -- The tool and scope whose complete runs tell of it without naming it.
  tool   TEXT,
  scope  TEXT,
  -- The latest time at which it was seen.
  latest INTEGER NOT NULL,
  -- The rest as JSON.
  memory TEXT NOT NULL,
  PRIMARY KEY (entry, branch)
) STRICT, WITHOUT ROWID;
CREATE INDEX lines_awaited ON lines (tool, scope, branch) WHERE tool IS NOT NULL;
CREATE INDEX lines_by_age ON lines (latest);

-- "GWST": the file is a store of ours.
PRAGMA application_id = 1196905300;
PRAGMA user_version = 1;
