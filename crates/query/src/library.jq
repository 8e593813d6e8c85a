# What jq has and the engine's own library has not, or has in a narrower form.

def leaf_paths: paths(scalars);
def recurse_down: recurse;
def isvalid(f): try (f | true) catch false;
def ascii: [.] | implode;
def toarray: if type == "array" then . else [.] end;
def date: todate;
def dateadd(unit; $n): . + $n;
def datesub(unit; $n): . - $n;

# Entries under any of the names that jq takes for their two halves.
def from_entries:
  def half(names): . as $entry | first(names | select(. as $name | $entry | has($name))) as $name | $entry[$name];
  def text: if type == "string" then . else tojson end;
  reduce .[] as $entry ({};
    . + { ($entry | [half("key", "k", "name", "Name", "K", "Key")][0] | text)
        : ($entry | [half("value", "v", "Value", "V")][0]) });
def with_entries(f): to_entries | map(f) | from_entries;

# A regular expression may come with its flags, as an array of both.
def with_flags(re; f): re as $re | if $re | type == "array" then $re else [$re, ""] end | f;
def test(re): . as $text | with_flags(re; . as [$re, $flags] | $text | test($re; $flags // ""));
def match(re): . as $text | with_flags(re; . as [$re, $flags] | $text | match($re; $flags // ""));
def capture(re): . as $text | with_flags(re; . as [$re, $flags] | $text | capture($re; $flags // ""));
def scan(re): . as $text | with_flags(re; . as [$re, $flags] | $text | scan($re; $flags // ""));

# Deleting from the end on, so that nothing moves that is still to go; what is not there need not go.
def delpaths($paths):
  reduce ($paths | unique | reverse[]) as $path (.; . as $whole | try (getpath($path) |= empty) catch $whole);
def del(f): delpaths([path(f)]);

# Setting what is not there yet makes what is on the way.
def setpath($path; $value):
  if $path == [] then $value else
    $path[0] as $key
    | if . == null then (if $key | type == "string" then {} else [] end) end
    | if type == "array" and ($key | type) == "number" and $key >= length
      then . + [range($key - length + 1) | null] end
    | .[$key] = (.[$key] | setpath($path[1:]; $value))
  end;

def flatten($levels): [.[] | if type == "array" and $levels > 0 then flatten($levels - 1)[] else . end];
def flatten: flatten(infinite);

# What is no text has nothing to be cut off.
def ltrimstr($start): if (type == "string") and ($start | type == "string") and startswith($start) then .[$start | length:] end;
def rtrimstr($end):
  if (type == "string") and ($end | type == "string") and ($end != "") and endswith($end) then .[:length - ($end | length)] end;

# Streams of events: a path with its leaf, and the last path of whatever was closed.
def tostream:
  def events($path):
    if (type == "array" or type == "object") and length > 0 then
      keys_unsorted as $keys
      | ($keys[] as $key | .[$key] | events($path + [$key])),
        [$path + [$keys[-1]]]
    else [$path, .] end;
  events([]);
def fromstream(events):
  foreach events as $event ({ whole: false, value: null };
    (if .whole then { whole: false, value: null } else . end)
    | ($event[0] | length) as $depth
    | if $event | length == 2
      then .value |= setpath($event[0]; $event[1]) | .whole = ($depth == 0)
      else .whole = ($depth == 1) end;
    if .whole then .value else empty end);
def truncate_stream(events): . as $depth | events | select(.[0] | length > $depth) | .[0] |= .[$depth:];
def truncate_stream($depth; events): $depth | truncate_stream(events);

# Tables.
def INDEX(rows; f): reduce rows as $row ({}; . + { ($row | f | tostring): $row });
def INDEX(f): INDEX(.[]; f);
def IN(values): any(values == .; .);
def IN(tried; values): any(tried == values; .);
def JOIN($index; f): map([., $index[f]]);
def JOIN($index; rows; f): rows | [., $index[f]];
def JOIN($index; rows; f; joined): rows | [., $index[f]] | joined;

# Rows as text.
def row(form; text; $between):
  if type != "array" then error("\(type) (\(tojson)) cannot be \(form)-formatted, only an array can be") else . end
  | map(if type == "string" then text
        elif type == "null" then ""
        elif type == "boolean" or type == "number" then tojson
        else error("\(type) (\(tojson)) is not valid in a \(form) row") end)
  | join($between);
def @csv: row("csv"; "\"" + gsub("\""; "\"\"") + "\""; ",");
def @tsv:
  row("tsv"; gsub("\\\\"; "\\\\") | gsub("\t"; "\\t") | gsub("\n"; "\\n") | gsub("\r"; "\\r"); "\t");
