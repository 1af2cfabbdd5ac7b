import type { AnyTable, ColumnKind } from '../../../schema/define.ts';
import { publishedTables, tables } from '../../../schema/tables.ts';
import type { BiFile } from '../write-folder.ts';
import { type Yaml, yamlText } from '../yaml.ts';

/** A view for each table, with the same types in PostgreSQL and in a lake, and a file with their tests. */
export function stagingFiles(): readonly BiFile[] {
  const models = publishedTables.map((table) => ({
    path: `models/staging/${stagingName(table)}.sql`,
    text: stagingSql(table),
  }));
  const document: Yaml = {
    version: 2,
    models: publishedTables.map((table) => ({
      name: stagingName(table),
      description: `${table.doc} Instants are in UTC, without a time zone.`,
      ...relationTests(table),
    })),
  };
  return [...models, { path: 'models/staging/staging.yml', text: yamlText(document) }];
}

function stagingSql(table: AnyTable): string {
  const columns = Object.entries(table.columns).map(([name, { kind }]) => columnSql(table, name, kind));
  return `select\n  ${columns.join(',\n  ')}\nfrom {{ source('${PACKAGE}', '${table.name}') }}\n${filterOf(table)}`;
}

const INSTANTS: ReadonlySet<ColumnKind> = new Set(['instant', 'moment']);

function columnSql({ role }: AnyTable, name: string, kind: ColumnKind): string {
  if (INSTANTS.has(kind)) return `{{ daywalk_utc('${name}') }} as ${name}`;
  if (role === 'ledger' && name === 'date') return `{{ daywalk_unit_day('${name}') }} as ${name}`;
  return name;
}

function filterOf({ columns }: AnyTable): string {
  return columns['org_id'] === undefined ? '' : '{{ daywalk_of_organization() }}\n';
}

interface Relation {
  readonly columns: readonly string[];
  readonly to: AnyTable;
  readonly condition?: string;
}

/** The rows that each row of a table belongs to. */
function relationsOf(table: AnyTable): readonly Relation[] {
  if (table === tables.userDailyLanguages) {
    return [{ columns: ['org_id', 'date', 'user_id'], to: tables.userDaily }];
  }
  if (table === tables.userTeams) return [{ columns: ['org_id', 'person'], to: tables.people }];
  if (table.role === 'fact') {
    return [{ columns: ['org_id', 'date'], to: tables.exportUnits, condition: `stream = '${table.stream}'` }];
  }
  if (table.role !== 'readiness' || table === tables.readinessReports) return [];
  return [{ columns: ['org_id', 'report_id'], to: tables.readinessReports }];
}

function relationTests(table: AnyTable): { data_tests?: Yaml } {
  const tests = relationsOf(table).map(({ columns, to, condition }) => ({
    daywalk_belongs_to: {
      // A short name: PostgreSQL cuts long ones.
      name: `${table.name}_belongs_to_${to.name}`,
      arguments: { columns, to: `ref('${stagingName(to)}')`, condition },
    },
  }));
  return tests.length === 0 ? {} : { data_tests: tests };
}

/** A reference to the view of a table, in SQL. */
export function staged(table: AnyTable): string {
  return refTo(stagingName(table));
}

/** The name of the package, of its source and of its profile. */
export const PACKAGE = 'daywalk';

/** The models that are more than the rows of a table. */
export const MODELS = {
  userDays: 'daywalk_user_days',
  userLanguageDays: 'daywalk_user_language_days',
  licensedDays: 'daywalk_licensed_days',
  readinessDays: 'daywalk_readiness_days',
  timeSpine: 'daywalk_time_spine',
} as const;

/** The name of the model with the rows of a table. */
export function stagingName({ name }: Pick<AnyTable, 'name'>): string {
  return `stg_daywalk__${name}`;
}

/** A reference to a model, in the SQL of another one. */
export function refTo(model: string): string {
  return `{{ ref('${model}') }}`;
}
