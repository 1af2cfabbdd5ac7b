const NOTHING = { rows: {}, units: 0 };

/** Counts what an erasure has changed. */
export class Tally {
  readonly rows: Map<string, number>;
  units: number;

  /** @param before what an earlier call has changed. @default nothing */
  constructor(before: { readonly rows: Readonly<Record<string, number>>; readonly units: number } = NOTHING) {
    this.rows = new Map(Object.entries(before.rows));
    this.units = before.units;
  }

  add(table: string, rows: number): void {
    if (rows > 0) this.rows.set(table, (this.rows.get(table) ?? 0) + rows);
  }

  get isEmpty(): boolean {
    return this.rows.size === 0;
  }
}
