/** A statement as it went to the database, with its values. */
export interface Statement {
  readonly activity: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Statements and what they cost, by activity and form: statements that differ in values only have one form. */
export class Emitted {
  readonly statements = new Map<string, Statement>();
  readonly costs = new Map<string, number>();
  activity = '';

  add(text: string, values: readonly unknown[]): string {
    const name = `${this.activity}: ${formOf(text)}`;
    if (!this.statements.has(name)) this.statements.set(name, { activity: this.activity, text, values });
    return name;
  }

  addCost(name: string, cost: number): void {
    this.costs.set(name, (this.costs.get(name) ?? 0) + cost);
  }
}

/** A statement without its values. */
function formOf(text: string): string {
  return text
    .replaceAll(/'[^']*'/g, "''")
    .replaceAll(/\$?\b\d+(\.\d+)?\b/g, '?')
    .replaceAll(/\?(,\s*\?)+/g, '?')
    .replaceAll(/\(\?\)(,\s*\(\?\))+/g, '(?)')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** A statement takes more than this many times as long on four times the rows: it does more than its share. */
const FACTOR_MAX = 6;

/** A warehouse of a size. */
export interface Measured {
  readonly emitted: Emitted;
  /** Measures a statement again that only reads; undefined for another one. @default the cost is the same each time */
  again?(statement: Statement): number | undefined;
}

/**
 * The statements whose cost has grown more than {@link FACTOR_MAX}-fold from one warehouse to another, also when it is measured
 * again: a machine can be busy for a moment.
 * @param least costs below this count as this: they say more about the machine than about the statement.
 */
export function growing(before: Measured, after: Measured, least: number): string[] {
  return [...after.emitted.costs].flatMap(([name, cost]) => {
    const known = before.emitted.costs.get(name) ?? 0;
    if (cost <= FACTOR_MAX * Math.max(known, least)) return [];
    const [earlier, later] = [before, after].map(({ emitted, again }) => {
      const statement = emitted.statements.get(name);
      return statement === undefined || again === undefined ? emitted.costs.get(name) : again(statement);
    });
    if (earlier === undefined || later === undefined) return [];
    const factor = later / Math.max(earlier, least / FACTOR_MAX);
    return factor > FACTOR_MAX ? [`${factor.toFixed(1)} ×: ${name}`] : [];
  });
}
