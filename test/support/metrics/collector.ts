import type { AnyTable } from '../../../schema/define.ts';
import { columnsOf, type TableRows, type Value } from '../../../schema/row.ts';
import type { Random } from '../random/seed.ts';

/** Collects rows by table. Columns that are not given are NULL. */
export class Collector {
  readonly #orgId: string;
  readonly #rows = new Map<AnyTable, (readonly Value[])[]>();

  constructor(orgId: string) {
    this.#orgId = orgId;
  }

  add(table: AnyTable, row: Readonly<Record<string, Value>> | null): void {
    if (row === null) return;
    const whole: Readonly<Record<string, Value>> = { org_id: this.#orgId, ...row };
    const values = columnsOf(table).map((name) => whole[name] ?? null);
    this.#rows.set(table, [...(this.#rows.get(table) ?? []), values]);
  }

  all(): TableRows[] {
    return [...this.#rows].map(([table, rows]) => ({ table, rows }));
  }
}

/** A number that is often small, sometimes 0, sometimes not whole, and sometimes not known. */
export function metricOf(random: Random): number | null {
  const roll = random();
  if (roll < 0.15) return null;
  if (roll < 0.3) return 0;
  return roll < 0.4 ? Math.round(random() * 1e6) / 128 : Math.floor(random() * 50);
}
