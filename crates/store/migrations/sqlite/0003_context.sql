-- What a server of contexts keeps beside the working day, and what a client keeps for one that it cannot reach.

-- The commit at which a session began; a later sign of life leaves it.
ALTER TABLE sessions ADD COLUMN started_commit TEXT;

-- Keys of the API: SHA-256 of the secret, never the secret.
CREATE TABLE api_keys (
  id      TEXT NOT NULL PRIMARY KEY,
  name    TEXT NOT NULL,
  admin   INTEGER NOT NULL,
  hash    TEXT NOT NULL,
  created INTEGER NOT NULL,
  used    INTEGER,
  revoked INTEGER
) STRICT;

-- Scripts and requirements of documents: texts that administrators keep, by kind and name.
CREATE TABLE texts (
  kind    TEXT NOT NULL,
  name    TEXT NOT NULL,
  version INTEGER NOT NULL,
  sha256  TEXT NOT NULL,
  updated INTEGER NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT;

CREATE TABLE request_log (
  number      INTEGER PRIMARY KEY AUTOINCREMENT,
  at          INTEGER NOT NULL,
  correlation TEXT NOT NULL,
  -- The key's id, where one was known.
  key         TEXT,
  method      TEXT NOT NULL,
  -- The route's template, never what was asked for.
  route       TEXT NOT NULL,
  status      INTEGER NOT NULL,
  millis      INTEGER NOT NULL
) STRICT;
CREATE INDEX request_log_by_age ON request_log (at);

-- Requests within a minute.
CREATE TABLE rate (
  owner  TEXT NOT NULL,
  minute INTEGER NOT NULL,
  count  INTEGER NOT NULL,
  PRIMARY KEY (owner, minute)
) STRICT;

-- Writes that found nobody: to be sent again in order.
CREATE TABLE outbox (
  number  INTEGER PRIMARY KEY AUTOINCREMENT,
  -- The idempotency key, and the digest of what was asked.
  key     TEXT NOT NULL UNIQUE,
  request TEXT NOT NULL,
  -- The address of the context that it is for: no other gets it.
  context TEXT NOT NULL,
  path    TEXT NOT NULL,
  body    TEXT NOT NULL,
  made    INTEGER NOT NULL,
  -- Why it was refused for good; null while it waits.
  why     TEXT
) STRICT;

-- Sessions that a server knows by another id than the one that they were given here while it could not be reached.
CREATE TABLE renamed (
  id      TEXT NOT NULL PRIMARY KEY,
  becomes TEXT NOT NULL
) STRICT;

-- The last good answers of a server, for when it cannot be reached.
CREATE TABLE mirror (
  question TEXT NOT NULL PRIMARY KEY,
  at       INTEGER NOT NULL,
  answer   TEXT NOT NULL
) STRICT;
CREATE INDEX mirror_by_age ON mirror (at);

-- Who does what only one may do at a time, and until when.
CREATE TABLE leases (
  name   TEXT NOT NULL PRIMARY KEY,
  holder TEXT NOT NULL,
  until  INTEGER NOT NULL
) STRICT;

PRAGMA user_version = 3;
