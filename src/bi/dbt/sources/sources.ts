import type { AnyTable, Column, Columns } from '../../../../schema/define.ts';
import { type ColumnKind, KINDS } from '../../../../schema/kinds.ts';
import { publishedTables } from '../../../../schema/tables.ts';
import { columnNote } from '../../dictionary/column-note.ts';
import { columnUnits } from '../../dictionary/column-units.ts';
import type { BiFile } from '../../files/bi-target.ts';
import { type Yaml, yamlText } from '../../files/yaml.ts';
import { PACKAGE } from '../package/names.ts';
import { ACCEPTED_VALUES } from './accepted-values.ts';
import { FRESHNESS } from './freshness.ts';

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
