-- Indexes of libraries: made of files, and made anew when they are missing.
PRAGMA application_id = 1196903497;

CREATE TABLE generations (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  begun INTEGER NOT NULL
) STRICT;

CREATE TABLE libraries (
  place      TEXT NOT NULL,
  name       TEXT NOT NULL,
  generation INTEGER NOT NULL,
  epoch      INTEGER NOT NULL,
  format     INTEGER NOT NULL,
  vocabulary BLOB NOT NULL,
  columns    BLOB NOT NULL,
  notes      TEXT NOT NULL,
  PRIMARY KEY (place, name)
) STRICT;

-- The id is the generation's by 2^32 and the number in it.
CREATE TABLE terms (
  id        INTEGER PRIMARY KEY,
  postings  BLOB NOT NULL,
  positions BLOB NOT NULL
) STRICT;

CREATE TABLE spans (
  id    INTEGER PRIMARY KEY,
  terms BLOB NOT NULL
) STRICT;

-- Those of the generation that are not as they were.
CREATE TABLE dead (
  id    INTEGER PRIMARY KEY,
  terms BLOB NOT NULL
) STRICT;

CREATE TABLE documents (
  generation INTEGER NOT NULL,
  id         TEXT NOT NULL,
  main       TEXT NOT NULL,
  state      TEXT NOT NULL,
  stated     INTEGER NOT NULL,
  verified   INTEGER NOT NULL,
  wrong      INTEGER NOT NULL,
  facts      TEXT NOT NULL,
  PRIMARY KEY (generation, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX wrong_documents ON documents (generation, main) WHERE wrong > 0;

-- Documents that changed since the generation was made.
CREATE TABLE changed (
  generation INTEGER NOT NULL,
  id         TEXT NOT NULL,
  analysed   BLOB NOT NULL,
  PRIMARY KEY (generation, id)
) STRICT;

PRAGMA user_version = 1;
