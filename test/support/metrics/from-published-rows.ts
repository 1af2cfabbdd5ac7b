import type { Dimension } from '../../../schema/metrics/define.ts';
import type { Value } from '../../../schema/row.ts';
import type { Stream } from '../../../src/core/stream.ts';
import {
  type Bucket,
  type Definition,
  type Entry,
  isWithin,
  numberOf,
  quotient,
  sumOf,
  textOf,
} from './definition.ts';
import type { Facts } from './facts.ts';
import { costOf } from './from-user-rows.ts';

type Row = Readonly<Record<string, Value>>;
type Parts = Partial<Readonly<Record<Dimension, (row: Row) => string | null>>>;

interface Published {
  readonly stream: Stream;
  readonly rows: (facts: Facts) => readonly Row[];
  readonly parts?: Parts;
  readonly value: Definition['value'];
}

function published({ stream, rows, parts = {}, value }: Published): Definition {
  return {
    stream,
    dimensions: Object.keys(parts).filter(isDimension),
    byTeam: false,
    byUser: false,
    singleDays: false,
    entries: (facts, bucket) =>
      rows(facts)
        .filter((row) => isWithin(bucket, String(row['date'])))
        .map((row) => ({
          day: String(row['date']),
          row,
          parts: Object.fromEntries(Object.entries(parts).map(([name, read]) => [name, read(row)])),
        })),
    value,
  };
}

function isDimension(name: string): name is Dimension {
  return ['model', 'tier', 'tool', 'server', 'skill', 'slash_command', 'hook', 'client', 'language'].includes(
    name,
  );
}

const column = (name: string) => (row: Row) => textOf(row[name]);
/** The parts of a hook that are not empty. */
const hookName = (row: Row) =>
  [row['event'], row['matcher'], row['command']]
    .map(String)
    .filter((part) => part !== '')
    .join(' / ');
const models: Parts = { model: column('model_id'), tier: column('model_tier') };

/** The tokens of the organization; by model and tier from the rows of the models. */
export interface TokensDefinition extends Definition {
  readonly total: Definition;
}

function tokens(
  name: string,
  value: Definition['value'] = (entries) => sumOf(entries, name),
): TokensDefinition {
  return {
    ...published({ stream: 'tokens', rows: (facts) => facts.models, parts: models, value }),
    total: published({ stream: 'tokens', rows: (facts) => facts.tokens, value }),
  };
}

const invocations = (rows: Published['rows'], parts: Parts, count: string) =>
  published({ stream: 'tools', rows, parts, value: (entries) => sumOf(entries, count) });

const sumOfActivity = (name: string) =>
  published({
    stream: 'activity',
    rows: (facts) => facts.activity,
    value: (entries) => sumOf(entries, name),
  });

/** A number of one day, as published; NULL without a row. */
function snapshot(stream: Stream, rows: Published['rows'], name: string, parts?: Parts): Definition {
  const value: Definition['value'] = ([entry, ...others]) => {
    if (others.length > 0) throw new Error(`${name} has several numbers for one day`);
    return numberOf(entry?.row[name]);
  };
  return { ...published({ stream, rows, value, ...(parts !== undefined && { parts }) }), singleDays: true };
}

/** The reports that are the latest of their repositories at the end of a bucket. */
function latestReports({ reports, criteria }: Facts, { last }: Bucket): Entry[] {
  const known = reports.filter(({ created_at: at }) => String(at).slice(0, 10) <= last);
  const repositories = [...new Set(known.map(({ repo_url: repository }) => String(repository)))];
  return repositories.flatMap((repository) => {
    const own = known.filter((report) => report.repo_url === repository);
    const order = own.map((report) => `${report.created_at} ${report.report_id}`).sort();
    const latest = own.find((report) => `${report.created_at} ${report.report_id}` === order.at(-1));
    const scores = criteria
      .filter(({ report_id: id }) => id === latest?.report_id)
      .flatMap(({ numerator, denominator }) => quotient(numberOf(numerator), numberOf(denominator)) ?? []);
    return [{ day: last, parts: { repository }, row: { score: meanOf(scores) } }];
  });
}

function meanOf(values: readonly number[]): number | null {
  return quotient(
    values.reduce((sum, value) => sum + value, 0),
    values.length,
  );
}

const readinessScore: Definition = {
  stream: 'readiness',
  dimensions: ['repository'],
  byTeam: false,
  byUser: false,
  singleDays: false,
  entries: latestReports,
  value: (entries) => meanOf(entries.flatMap(({ row }) => numberOf(row['score']) ?? [])),
};

const TOKENS: Readonly<Record<string, TokensDefinition>> = {
  published_billable_tokens: tokens('billable_tokens'),
  published_cost: tokens('billable_tokens', costOf),
  input_tokens: tokens('input_tokens'),
  output_tokens: tokens('output_tokens'),
  cache_read_tokens: tokens('cache_read_tokens'),
  cache_write_tokens: tokens('cache_write_tokens'),
};

/** The metric of the organization's own row, for questions that are not by model or tier. */
export function totalOf(name: string): Definition | undefined {
  return TOKENS[name]?.total;
}

/** The metrics that the service publishes for the organization. */
export const fromPublished: Readonly<Record<string, Definition>> = {
  ...TOKENS,
  cache_share: published({
    stream: 'tokens',
    rows: (facts) => facts.tokens,
    value: (entries) =>
      quotient(sumOf(entries, 'cache_read_tokens'), sumOf(entries, 'cache_read_tokens', 'input_tokens')),
  }),
  published_dau: snapshot('activity', (facts) => facts.activity, 'daily_active_users'),
  published_wau: snapshot('activity', (facts) => facts.activity, 'weekly_active_users'),
  published_mau: snapshot('activity', (facts) => facts.activity, 'monthly_active_users'),
  published_client_dau: snapshot('activity', (facts) => facts.clients, 'daily_active_users', {
    client: column('client'),
  }),
  published_autonomy_ratio_avg: snapshot('tools', (facts) => facts.toolTotals, 'autonomy_ratio_avg'),
  published_autonomy_ratio_p50: snapshot('tools', (facts) => facts.toolTotals, 'autonomy_ratio_p50'),
  published_autonomy_ratio_p90: snapshot('tools', (facts) => facts.toolTotals, 'autonomy_ratio_p90'),
  published_sessions: sumOfActivity('sessions'),
  published_messages: sumOfActivity('messages'),
  published_language_files: published({
    stream: 'productivity',
    rows: (facts) => facts.fileLanguages,
    parts: { language: column('language') },
    value: (entries) => sumOf(entries, 'count'),
  }),
  tool_invocations: invocations((facts) => facts.tools, { tool: column('tool') }, 'invocations'),
  mcp_invocations: invocations((facts) => facts.servers, { server: column('server') }, 'invocations'),
  skill_invocations: invocations((facts) => facts.skills, { skill: column('name') }, 'count'),
  slash_command_invocations: invocations(
    (facts) => facts.slashCommands,
    { slash_command: column('name') },
    'count',
  ),
  hook_invocations: invocations((facts) => facts.hooks, { hook: hookName }, 'count'),
  readiness_score: readinessScore,
};
