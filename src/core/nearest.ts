/** Names further apart than this are different names, not misspellings. */
const DISTANCE_MAX = 4;

/** The candidate nearest to a misspelt name; undefined when none is near. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const allowed = Math.min(DISTANCE_MAX, Math.floor(name.length / 3));
  return candidates
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** How many characters must be inserted, deleted or replaced to turn one text into the other (Levenshtein). */
export function editDistance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const row = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (above[column] ?? 0) + (letter === other ? 0 : 1);
      row.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (row[column] ?? 0) + 1));
    }
    above = row;
  }
  return above.at(-1) ?? 0;
}
