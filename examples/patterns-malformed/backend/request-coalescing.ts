/** Joins requests for the same key that come within one window. */
export function requestCoalescing(input: { keys: string[] }): { asked: string[]; saved: number } {
  const asked = [...new Set(input.keys)];
  return { asked, saved: input.keys.length - asked.length };
}
