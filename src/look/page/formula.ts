/**
 * How a number on a page follows from the results of its queries. Every number carries its formula into the markup, so
 * that a reader, or a test, can recompute it from the SQL that the page shows.
 */
export type Formula =
  /** The value of a column in a row of a result. Rows count from 0. */
  | { readonly op: 'cell'; readonly result: string; readonly row: number; readonly column: string }
  /** The number of rows of a result. */
  | { readonly op: 'rows'; readonly result: string }
  /** Over the operands that have a value; none if no operand has one. */
  | { readonly op: 'sum' | 'mean' | 'min' | 'max'; readonly of: readonly Formula[] }
  /** The number of days of a result that are `unsettled` or `missing`: see the page's query for its days. */
  | {
      readonly op: 'days';
      readonly result: string;
      readonly which: 'expected' | 'settled' | 'unsettled' | 'missing';
    }
  /** `change`: (a − b) ÷ b. `difference`: a − b. `share`: a ÷ b. None if an operand has no value, or a divisor is 0. */
  | { readonly op: 'change' | 'difference' | 'share'; readonly of: readonly [Formula, Formula] };

/** The formula as the markup holds it, for example `change(q3[0].value,q4[0].value)`. */
export function formulaText(formula: Formula): string {
  switch (formula.op) {
    case 'cell':
      return `${formula.result}[${formula.row}].${formula.column}`;
    case 'rows':
      return `rows(${formula.result})`;
    case 'days':
      return `days(${formula.result},${formula.which})`;
    default:
      return `${formula.op}(${formula.of.map(formulaText).join(',')})`;
  }
}
