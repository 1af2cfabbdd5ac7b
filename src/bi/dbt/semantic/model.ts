import type { Source } from '../../../../schema/metrics/define.ts';
import type { Dimension } from '../../../../schema/metrics.ts';
import { tables } from '../../../../schema/tables.ts';
import { MODELS, stagingName } from '../package/names.ts';

/** The rows of a semantic model: which model of the package has them, and where its dimensions are. */
export interface SemanticRows {
  /** The model of the package. */
  readonly model: string;
  /** The name of a row, which dimensions are asked with: `token_model_day__tier`. */
  readonly row: string;
  /** The SQL of each dimension. */
  readonly dimensions: Readonly<Partial<Record<Dimension, string>>>;
  /** True if rows have `user_id`, or a team. */
  readonly hasUsers: boolean;
  readonly hasTeams: boolean;
}

/** Where the rows of a source are in the package, by its table. Tables without an entry are used as they are. */
const REPLACED: Readonly<Record<string, { readonly model: string; readonly row: string }>> = {
  [tables.userDaily.name]: { model: MODELS.userDays, row: 'user_day' },
  [tables.userDailyLanguages.name]: { model: MODELS.userLanguageDays, row: 'user_language_day' },
  [tables.people.name]: { model: MODELS.licensedDays, row: 'licensed_day' },
  [tables.readinessReports.name]: { model: MODELS.readinessDays, row: 'readiness_day' },
};

/** Returns the rows that a source of the dictionary has in the package. */
export function semanticRows({ table, columns, hasUsers }: Source): SemanticRows {
  const { model, row } = REPLACED[table.name] ?? {
    model: stagingName(table),
    row: table.name.replace('_daily', '_day'),
  };
  const dimensions = Object.fromEntries(
    Object.entries(columns)
      .filter(([name]) => name !== 'team')
      // A model of the package that replaces a table names its columns like the dimensions.
      .map(([name, parts]) => [name, table === tables.readinessReports ? name : expressionOf(parts)]),
  );
  return { model, row, dimensions, hasUsers, hasTeams: hasUsers || columns.team !== undefined };
}

/** Several columns name a dimension together, with " / " between those that are not empty. */
function expressionOf([first = '', ...rest]: readonly string[]): string {
  return [
    first,
    ...rest.map((column) => `case when ${column} <> '' then ' / ' || ${column} else '' end`),
  ].join(' || ');
}
