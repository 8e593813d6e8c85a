-- Patterns that were used, by library: how often by their file when the first use was recorded, and since.
CREATE TABLE used_patterns (
  library  TEXT NOT NULL,
  pattern  TEXT NOT NULL,
  stated   INTEGER NOT NULL,
  recorded INTEGER NOT NULL,
  first    INTEGER NOT NULL,
  last     INTEGER NOT NULL,
  PRIMARY KEY (library, pattern)
) STRICT;

CREATE TABLE pattern_uses (
  number  INTEGER PRIMARY KEY AUTOINCREMENT,
  library TEXT NOT NULL,
  pattern TEXT NOT NULL,
  -- A root's name.
  project TEXT,
  context TEXT NOT NULL,
  at      INTEGER NOT NULL
) STRICT;
CREATE INDEX pattern_uses_by_pattern ON pattern_uses (library, pattern, project);

PRAGMA user_version = 4;
