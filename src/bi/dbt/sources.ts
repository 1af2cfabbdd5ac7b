import type { AnyTable, Column, Columns } from '../../../schema/define.ts';
import { type ColumnKind, KINDS } from '../../../schema/define.ts';
import { publishedTables, tables } from '../../../schema/tables.ts';
import { STREAMS } from '../../core/stream.ts';
import { UNIT_STATES } from '../../warehouse/port.ts';
import { columnNote, columnUnits } from '../dictionary.ts';
import type { BiFile } from '../write-folder.ts';
import { type Yaml, yamlText } from '../yaml.ts';
import { PACKAGE } from './staging.ts';

/** Where a table is in a lake. Only readers of files look at it. */
const inLake = (table: string) =>
  `read_parquet('{{ var('daywalk_lake') }}/${table}/**/*.parquet', hive_partitioning = true, hive_types_autocast = false)`;

/** The tables of the warehouse with their tests and freshness. */
export function sourceFile(): BiFile {
  const document: Yaml = {
    version: 2,
    sources: [
      {
        name: PACKAGE,
        description: 'The warehouse of Daywalk, in PostgreSQL or as a lake of Parquet files.',
        schema: "{{ var('daywalk_schema') }}",
        tables: publishedTables.map(sourceTable),
      },
    ],
  };
  return { path: 'models/sources.yml', text: yamlText(document) };
}

function sourceTable(table: AnyTable): Yaml {
  const units = columnUnits();
  return {
    name: table.name,
    description: table.doc,
    config: { ...FRESHNESS[table.name], meta: { external_location: inLake(table.name) } },
    data_tests: [{ daywalk_unique_key: { arguments: { columns: table.key } } }],
    columns: Object.entries(table.columns).map(([name, column]) => ({
      name,
      description: columnNote(column, units.get(`${table.name}.${name}`)),
      ...testsOf(table, name, column),
    })),
  };
}

function testsOf(table: AnyTable, name: string, column: Column): { data_tests?: Yaml } {
  const accepted = ACCEPTED_VALUES[`${table.name}.${name}`];
  const tests: Yaml[] = [
    ...(isNeverNull(table, name, column.kind) ? ['not_null'] : []),
    ...(accepted === undefined
      ? []
      : [
          {
            accepted_values: {
              arguments: { values: accepted.values },
              ...(accepted.isOpen && { config: { severity: 'warn' } }),
            },
          },
        ]),
  ];
  return tests.length === 0 ? {} : { data_tests: tests };
}

/** Roles of tables whose organization, or whose day, may be '' in the warehouse, which is NULL in a lake. */
const MAY_LACK_ORGANIZATION = ['event', 'ledger'];

/** The numbers of this program are left to the constraints of the warehouse. */
const TESTED: ReadonlySet<ColumnKind> = new Set(['key', 'day', 'text', 'instant', 'amount']);

function isNeverNull({ role }: AnyTable, name: keyof Columns, kind: ColumnKind): boolean {
  if (KINDS[kind].isNullable || !TESTED.has(kind)) return false;
  if (name === 'org_id') return !MAY_LACK_ORGANIZATION.includes(role);
  return !(role === 'ledger' && name === 'date');
}

/** The values that a column may have. */
export interface AcceptedValues {
  readonly values: readonly string[];
  /** True for names that the service chooses: a new one is news, not a mistake. */
  readonly isOpen: boolean;
}

const ofService = (...values: readonly string[]): AcceptedValues => ({ values, isOpen: true });
const ours = (values: readonly string[]): AcceptedValues => ({ values, isOpen: false });

const tier = ofService('standard', 'thinking');

/** The accepted values of columns by `table.column`. NULL is always accepted here. */
export const ACCEPTED_VALUES: Readonly<Record<string, AcceptedValues>> = {
  'tokens_daily_by_model.model_tier': tier,
  'tokens_daily_by_user_model.model_tier': tier,
  'user_daily.primary_model_tier': tier,
  'user_daily.delegation_level': ofService('auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'),
  'activity_daily_by_client.client': ofService('terminal-ui', 'web', 'non-interactive-cli'),
  'readiness_reports.model_reasoning_effort': ofService('low', 'medium', 'high', 'off'),
  'sessions.status': ofService('idle', 'pending', 'running'),
  'export_units.stream': ours(STREAMS),
  'export_units.state': ours(UNIT_STATES),
  'export_units.confirmed': ours(['data', 'agreed', 'age']),
  'restatements.stream': ours(STREAMS),
  'quarantine.stream': ours(STREAMS),
  'schema_drift.stream': ours(STREAMS),
  'schema_drift.kind': ours(['unknown field', 'wrong type', 'new value']),
};

const hours = (count: number) => ({ count, period: 'hour' });

/** A nightly run pulls every unit that has not settled, so a ledger that no run has touched for a night and a half is late. */
const afterRun = { warn_after: hours(36), error_after: hours(72) };

/** At a nightly run the newest day has begun 27 hours ago, and before the next one 51 hours ago. */
const ofNewestDay = { warn_after: hours(60), error_after: hours(96) };

/**
 * What shows how current a table is. The tables without an entry are not judged: they are stored in the same transactions as
 * those of their stream, or can have no rows for long.
 */
export const FRESHNESS: Readonly<Record<string, Readonly<Record<string, Yaml>>>> = {
  [tables.exportUnits.name]: { freshness: afterRun, loaded_at_field: 'last_pulled_at' },
  [tables.exportRuns.name]: { freshness: afterRun, loaded_at_field: 'started_at' },
  ...Object.fromEntries(
    [tables.tokensDaily, tables.toolsDaily, tables.activityDaily, tables.productivityDaily].map(
      ({ name }) => [name, { freshness: ofNewestDay, loaded_at_field: 'cast(date as timestamp)' }],
    ),
  ),
};
