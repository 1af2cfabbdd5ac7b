import { contentSha256, decodeRows, type EncodedRows } from '../../../schema/digest.ts';
import type { TableRows, Value } from '../../../schema/row.ts';
import { exactText } from '../../../src/checks/exact.ts';
import { type RowCheck, rowCheck } from '../../../src/checks/row-check.ts';
import {
  ActivityRow,
  ProductivityRow,
  ReadinessReport,
  TokensRow,
  ToolsRow,
  UserRow,
} from '../../../src/contract/shapes.ts';
import type { Stream } from '../../../src/core/stream.ts';
import {
  normalizeActivity,
  normalizeProductivity,
  normalizeTokens,
  normalizeTools,
} from '../../../src/pipeline/normalize/breakdowns.ts';
import { normalizeReadiness } from '../../../src/pipeline/normalize/readiness.ts';
import type { NormalizeContext } from '../../../src/pipeline/normalize/records.ts';
import { Findings } from '../../../src/pipeline/normalize/records.ts';
import { normalizeUsers } from '../../../src/pipeline/normalize/users.ts';
import { type EmailPolicy, Gate } from '../../../src/privacy/gate.ts';

type Collect = (rows: readonly unknown[], text: string, context: NormalizeContext) => TableRows[];

function collect<Row>(
  check: RowCheck<Row>,
  normalizer: () => {
    add(row: Row, context: NormalizeContext): void;
    finish(): readonly (TableRows | EncodedRows)[];
  },
): Collect {
  return (records, text, context) => {
    const { add, finish } = normalizer();
    const { rows, rejected } = check(records, { path: 'data', text });
    for (const row of rows) add(row, context);
    for (const part of rejected) context.findings.reject(part, context.exact);
    return finish().map((part) => ('texts' in part ? decodeRows(part) : part));
  };
}

const COLLECT: Readonly<Record<Stream, Collect>> = {
  tokens: collect<TokensRow>(rowCheck(TokensRow), normalizeTokens),
  tools: collect(rowCheck(ToolsRow), normalizeTools),
  activity: collect(rowCheck(ActivityRow), normalizeActivity),
  productivity: collect(rowCheck(ProductivityRow), normalizeProductivity),
  users: collect(rowCheck(UserRow), normalizeUsers),
  readiness: collect(rowCheck(ReadinessReport), normalizeReadiness),
};

export type Stored = Readonly<Record<string, Value>>;

export interface Normalized {
  readonly tables: readonly TableRows[];
  readonly digest: string;
  readonly findings: Findings;
  /** The rows of a table, without org_id. */
  rows(table: string): Stored[];
}

/** Normalizes the rows of one answer, given as JSON text or as values. */
export function normalize(
  stream: Stream,
  data: string | readonly unknown[],
  policy: EmailPolicy = { mode: 'keep' },
): Normalized {
  const sent = `{"data":${typeof data === 'string' ? data : JSON.stringify(data)}}`;
  const text = new Gate(policy, { keys: ['key of pseudonyms'] }).json(sent);
  const body: { data: unknown[] } = JSON.parse(text);
  const findings = new Findings();
  const context = { orgId: 'org_1', findings, exact: exactText({ text, body }) };
  const tables = COLLECT[stream](body.data, text, context);
  return { tables, digest: contentSha256(tables), findings, rows: (name) => storedRows(tables, name) };
}

function storedRows(tables: readonly TableRows[], name: string): Stored[] {
  const part = tables.find(({ table }) => table.name === name);
  if (part === undefined) throw new Error(`there is no table ${name}`);
  const columns = Object.keys(part.table.columns);
  return part.rows.map((row) =>
    Object.fromEntries(
      columns.map((column, index) => [column, row[index] ?? null]).filter(([column]) => column !== 'org_id'),
    ),
  );
}
