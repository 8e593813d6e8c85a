"""Answers of SQLite's FTS5 to judged questions: JSON in, JSON out. The standard library's sqlite3 alone."""

import json
import re
import sqlite3
import sys

COLUMNS = ["name", "category", "title", "tags", "description", "headings", "code", "body"]
FIRST = 10


def quoted(words):
    return '"' + words.replace('"', '""') + '"'


def asked(text, unfinished):
    """Any of the words; phrases in quotes must stand so. With `unfinished` the last word may go on."""
    phrases = [p for p in re.findall(r'"([^"]*)"', text) if re.search(r"\w", p)]
    words = re.findall(r"\w+", re.sub(r'"[^"]*"', " ", text))
    any_of = [quoted(p) for p in phrases] + [quoted(w) for w in words]
    if unfinished and words:
        any_of[-1] += "*"
    if not any_of:
        return None
    match = "(" + " OR ".join(any_of) + ")"
    return " AND ".join([quoted(p) for p in phrases] + [match])


def main():
    given = json.load(sys.stdin)
    base = sqlite3.connect(":memory:")
    columns = ", ".join(COLUMNS)
    base.execute(f"CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, {columns}, tokenize='porter unicode61')")
    for document in given["documents"]:
        row = [document["id"], *(document[column] for column in COLUMNS)]
        base.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(row))})", row)
    weights = ", ".join(str(given["weights"][column]) for column in COLUMNS)
    rank = f"SELECT id FROM t WHERE t MATCH ? ORDER BY bm25(t, 0, {weights}), id LIMIT {FIRST}"
    found = {}
    for question in given["questions"]:
        for peer, unfinished in (("fts5", False), ("fts5-prefix", True)):
            match = asked(question["text"], unfinished)
            rows = base.execute(rank, [match]) if match else []
            found.setdefault(peer, {})[question["id"]] = [row[0] for row in rows]
    json.dump({"version": sqlite3.sqlite_version, "found": found}, sys.stdout)


main()
