/** A bar in a table, as wide as its share of the largest one. The number that it shows stands beside it. */
export function tableBar({ value, max }: { value: number | null; max: number }): string {
  const percent = value === null || max <= 0 ? 0 : Math.min(100, Math.max(0, (100 * value) / max));
  // A bar of what is not nothing can be seen.
  const width = percent > 0 ? Math.max(1, Math.round(10 * percent) / 10) : 0;
  return `<svg class="bar" width="100%" height="8" aria-hidden="true"><rect width="${width}%" height="8" rx="2" fill="var(--bar)"/></svg>`;
}
