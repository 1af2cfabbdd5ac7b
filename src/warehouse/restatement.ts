/** The number of rows of one table in a unit, and the sum of each additive column; null if all its values are NULL. */
export interface TableSums {
  readonly name: string;
  readonly sums: Readonly<Record<string, number | null>>;
}

/**
 * The text that a restatement stores for a unit, once for the content before the change and once for the content after
 * it: the number of rows and the sum of each additive column of the first table, the same for each further table under
 * `breakdowns`, and the digest, which shows changes that no sum shows.
 */
export function restatementText(tables: readonly TableSums[], contentSha256: string | null): string {
  const [main, ...breakdowns] = tables;
  return JSON.stringify({
    ...main?.sums,
    rows: tables.reduce((total, { sums }) => total + (sums['rows'] ?? 0), 0),
    content_sha256: contentSha256,
    breakdowns: Object.fromEntries(breakdowns.map(({ name, sums }) => [name, sums])),
  });
}
