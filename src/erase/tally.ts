/** Counts what an erasure has changed. */
export class Tally {
  readonly rows = new Map<string, number>();
  units = 0;

  add(table: string, rows: number): void {
    if (rows > 0) this.rows.set(table, (this.rows.get(table) ?? 0) + rows);
  }

  get isEmpty(): boolean {
    return this.rows.size === 0;
  }
}
