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

/** A warehouse of a size. */
export interface Measured {
  readonly emitted: Emitted;
  /** Measures a statement again that only reads; undefined for another one. @default the cost is the same each time */
  again?(statement: Statement): number | undefined;
}

/** What grows too fast. */
export interface Limits {
  /** A cost that grows more than so many times on four times the rows has grown more than its share. */
  readonly factor: number;
  /** Costs below this count as this: they say more about the machine than about the statement. */
  readonly least: number;
}

/** So often is a statement measured again, both sizes in turn, before it is found guilty: a machine can be busy for a moment. */
const LOOKS = 3;

/** The statements whose cost has grown too fast from one warehouse to another, also each time when it is measured again. */
export function growing(before: Measured, after: Measured, { factor, least }: Limits): string[] {
  return [...after.emitted.costs].flatMap(([name, cost]) => {
    if (cost <= factor * Math.max(before.emitted.costs.get(name) ?? 0, least)) return [];
    let smallest = Number.POSITIVE_INFINITY;
    for (let look = 0; look < LOOKS && smallest > factor; look++) {
      const [earlier, later] = [before, after].map(({ emitted, again }) => {
        const statement = emitted.statements.get(name);
        return statement === undefined || again === undefined ? emitted.costs.get(name) : again(statement);
      });
      if (earlier === undefined || later === undefined) return [];
      smallest = Math.min(smallest, later / Math.max(earlier, least / factor));
    }
    return smallest > factor ? [`${smallest.toFixed(1)} ×: ${name}`] : [];
  });
}
