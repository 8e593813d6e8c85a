-- The working day: what a team shares. Times are milliseconds since 1970 in UTC; the names of tables and columns are PostgreSQL's too.

CREATE TABLE sessions (
  number         INTEGER PRIMARY KEY AUTOINCREMENT,
  id             TEXT NOT NULL UNIQUE,
  agent          TEXT NOT NULL,
  venture        TEXT NOT NULL,
  repo           TEXT NOT NULL,
  -- '' is a track of its own.
  track          TEXT NOT NULL,
  status         TEXT NOT NULL,
  client         TEXT,
  client_version TEXT,
  machine        TEXT,
  branch         TEXT,
  commit_id      TEXT,
  issue          INTEGER,
  started        INTEGER NOT NULL,
  heartbeat      INTEGER NOT NULL,
  ended          INTEGER,
  reason         TEXT,
  version        INTEGER NOT NULL,
  principal      TEXT NOT NULL
) STRICT;
-- Of each key one is active.
CREATE UNIQUE INDEX sessions_active ON sessions (agent, venture, repo, track) WHERE status = 'active';
CREATE INDEX sessions_alive ON sessions (heartbeat, number) WHERE status = 'active';

CREATE TABLE handoffs (
  number  INTEGER PRIMARY KEY AUTOINCREMENT,
  id      TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL REFERENCES sessions (id),
  venture TEXT NOT NULL,
  repo    TEXT NOT NULL,
  track   TEXT NOT NULL,
  agent   TEXT NOT NULL,
  machine TEXT,
  summary TEXT NOT NULL,
  status  TEXT NOT NULL,
  issue   INTEGER,
  -- Anchor and payload as JSON.
  anchor  TEXT,
  payload TEXT,
  at      INTEGER NOT NULL
) STRICT;
CREATE INDEX handoffs_by_age ON handoffs (at, number);
CREATE INDEX handoffs_by_place ON handoffs (venture, repo, at, number);
CREATE INDEX handoffs_by_session ON handoffs (session);

CREATE TABLE checkpoints (
  number  INTEGER PRIMARY KEY AUTOINCREMENT,
  id      TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL REFERENCES sessions (id),
  -- Which one of the session, from 1.
  ordinal INTEGER NOT NULL,
  summary TEXT NOT NULL,
  anchor  TEXT,
  payload TEXT,
  at      INTEGER NOT NULL,
  UNIQUE (session, ordinal)
) STRICT;

CREATE TABLE notes (
  number     INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  -- Grows with every change of any note: what was changed last has the greatest, whatever clocks say.
  place      INTEGER NOT NULL UNIQUE,
  venture    TEXT,
  title      TEXT NOT NULL,
  -- Sorted, as JSON.
  tags       TEXT NOT NULL,
  version    INTEGER NOT NULL,
  archived   INTEGER NOT NULL,
  created    INTEGER NOT NULL,
  updated    INTEGER NOT NULL,
  principal  TEXT NOT NULL,
  characters INTEGER NOT NULL,
  -- Last: lists read what is before it.
  content    TEXT NOT NULL
) STRICT;
CREATE INDEX notes_by_place ON notes (archived, place);
CREATE INDEX notes_by_venture ON notes (archived, venture, place);

-- Tags as terms: without case.
CREATE TABLE note_tags (
  note INTEGER NOT NULL REFERENCES notes (number) ON DELETE CASCADE,
  tag  TEXT NOT NULL,
  PRIMARY KEY (tag, note)
) STRICT, WITHOUT ROWID;
CREATE INDEX note_tags_by_note ON note_tags (note);

-- Terms of a note (crate words) under its place; nothing is analysed here.
CREATE VIRTUAL TABLE note_words USING fts5 (
  scope, title, tags, body,
  content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_'"
);

CREATE TABLE documents (
  scope   TEXT NOT NULL,
  name    TEXT NOT NULL,
  title   TEXT NOT NULL,
  version INTEGER NOT NULL,
  origin  TEXT NOT NULL,
  sha256  TEXT NOT NULL,
  updated INTEGER NOT NULL,
  -- As JSON.
  sources TEXT NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (scope, name)
) STRICT;

CREATE TABLE machines (
  id         TEXT NOT NULL PRIMARY KEY,
  name       TEXT NOT NULL,
  os         TEXT NOT NULL,
  arch       TEXT NOT NULL,
  version    TEXT NOT NULL,
  build      TEXT NOT NULL,
  registered INTEGER NOT NULL,
  seen       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX machines_by_age ON machines (seen);

-- Answers to writes that may be sent again.
CREATE TABLE idempotency (
  owner   TEXT NOT NULL,
  key     TEXT NOT NULL,
  -- What was done, and the digest of what it was asked with.
  request TEXT NOT NULL,
  answer  TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  PRIMARY KEY (owner, key)
) STRICT;
CREATE INDEX idempotency_by_age ON idempotency (expires);

PRAGMA user_version = 2;
