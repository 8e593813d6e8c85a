const median = (numbers) => {
  if (numbers.length === 0) return 1;
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

const byName = (one, other) => (one < other ? -1 : one > other ? 1 : 0);

/** Spread files over shards, the longest first, each to the shard with the least work. */
export default function (input) {
  const { files, timings = {}, shards, overhead = 0 } = input;
  if (!Number.isInteger(shards) || shards < 1) throw new RangeError("shards must be a whole number from 1");
  const usual = median(files.map((file) => timings[file]).filter((seconds) => seconds > 0));
  const seconds = (file) => (timings[file] > 0 ? timings[file] : usual);
  const sorted = [...new Set(files)].sort((one, other) => seconds(other) - seconds(one) || byName(one, other));
  const split = Array.from({ length: shards }, (_, index) => ({ index, seconds: overhead, files: [] }));
  for (const file of sorted) {
    const least = split.reduce((best, shard) => (shard.seconds < best.seconds ? shard : best));
    least.files.push(file);
    least.seconds += seconds(file);
  }
  const longest = sorted.length > 0 ? seconds(sorted[0]) + overhead : overhead;
  const total = sorted.reduce((sum, file) => sum + seconds(file), 0);
  const wall = Math.max(...split.map((shard) => shard.seconds));
  return {
    shards: split.map((shard) => ({ ...shard, files: shard.files.sort(byName) })),
    wall,
    ideal: total / shards + overhead,
    unknown: sorted.filter((file) => !(timings[file] > 0)),
    advice: wall <= longest ? `one file takes ${longest - overhead} s: cut it in two before adding machines` : "more machines would help",
  };
}
