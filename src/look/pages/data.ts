import { type SQL, sql } from '../../../schema/query.ts';
import type { UtcDay } from '../../core/day.ts';
import { RULES } from '../../core/errors.ts';
import { describeExitCode, isExitCode } from '../../core/exit-code.ts';
import { DAILY_STREAMS, STREAMS } from '../../core/stream.ts';
import { contractOf } from '../../expected/index.ts';
import { runReads } from '../../port/index.ts';
import { ALL_STREAMS, allStreams, NOTHING_RUN, unsettled } from '../figures/coverage.ts';
import { dayStates, type ExpectedDays, expectedDays, streamCoverage } from '../figures/day-states.ts';
import {
  factColumn,
  factOf,
  instantColumn,
  type ListedColumn,
  listing,
  textCell,
  textColumn,
} from '../figures/listing.ts';
import { changeOf, type Result, type ShownNumber, shareOf } from '../numbers.ts';
import { type Cell, emptyFigure, type Figure, type Page, type Phrase, type Section } from '../page.ts';
import type { PageReader } from '../reader.ts';
import { periodHeading } from '../words.ts';
import type { PageKind } from './page-kind.ts';

/** What all numbers stand on: which days are stored, what is not settled, what changed, and which runs did it. */
export const data: PageKind = {
  path: '/data',
  name: 'Data',
  async build(reader) {
    const expected = await expectedDays(reader);
    if (expected === null) {
      const sections = [emptyFigure(ALL_STREAMS, NOTHING_RUN)];
      return { name: 'Data', heading: 'Data', sentence: ['Nothing is stored yet.'], sections };
    }
    const states = await dayStates(reader, expected);
    return {
      name: 'Data',
      heading: `Data, ${periodHeading(expected)}`,
      sentence: [...sentenceOf(states, expected), ...SCOPE],
      sections: await sectionsOf(reader, states, expected),
      basis: states.basis,
    } satisfies Page;
  },
};

const SCOPE: Phrase = [' This page is about all days and people, whatever period and team are chosen.'];

async function sectionsOf(reader: PageReader, states: Result, expected: ExpectedDays): Promise<Section[]> {
  const { until } = expected;
  const coverages = [];
  for (const stream of expected.daily) coverages.push(await streamCoverage(reader, stream, expected));
  const reasons = await quarantineReasons(reader, until);
  const lists = [
    unsettled(coverages),
    await doubts(reader, until),
    await restatedDays(reader, until),
    reasons,
    ...(reasons.empty === undefined ? [await quarantinedRecords(reader, until)] : []),
    await schemaDrift(reader, until),
  ];
  return [
    allStreams({ coverages, states, expected }),
    ...lists.filter(({ empty }) => empty === undefined),
    ...paired(lists.filter(({ empty }) => empty !== undefined)),
    await latestRuns(reader, until),
  ];
}

/** Two by two: a figure without content says one sentence. */
function paired([first, second, ...rest]: readonly Figure[]): Section[] {
  if (first === undefined) return [];
  if (second === undefined) return [first];
  return [{ kind: 'pair', figures: [first, second] }, ...paired(rest)];
}

/** What is wrong with days, as the end of a sentence about one day and about several. */
const TROUBLES = [
  ['open', ' is not settled', ' are not settled'],
  ['seen', ' settles after one or two more looks', ' settle after one or two more looks'],
  ['doubted', ' is doubted', ' are doubted'],
  ['failed', ' failed', ' failed'],
  ['awaiting', ' awaits data', ' await data'],
  ['quarantined', ' has records in quarantine', ' have records in quarantine'],
  ['differing', ' is settled and differs from the service', ' are settled and differ from the service'],
  ['pending', ' was never pulled', ' were never pulled'],
] as const;

function sentenceOf(states: Result, { daily }: ExpectedDays): Phrase {
  const days = factOf(states, 0, 'days');
  const stored = factOf(states, 0, 'stored');
  const troubles = TROUBLES.flatMap(([state, one, several]): Phrase[] => {
    const count = factOf(states, 0, state);
    return count.value === null || count.value === 0 ? [] : [[count, count.value === 1 ? one : several]];
  });
  const first = storedPhrase(stored, days, daily.length === DAILY_STREAMS.length ? 'five' : 'expected');
  if (troubles.length === 0) return [...first, ' and settled.'];
  const rest = troubles.flatMap((trouble, index) => [index === 0 ? '; ' : ', ', ...trouble]);
  return [...first, ...rest, '.'];
}

function storedPhrase(stored: ShownNumber, days: ShownNumber, which: 'five' | 'expected'): Phrase {
  if (stored.value !== days.value)
    return [
      { kind: 'strong', parts: [stored, ' of ', days, ' days'] },
      ` are stored in all ${which} streams`,
    ];
  return days.value === 1
    ? [{ kind: 'strong', parts: [days, ' day'] }, ` is stored in all ${which} streams`]
    : [{ kind: 'strong', parts: ['All ', days, ' days'] }, ` of the ${which} streams are stored`];
}

/** The expected units whose newest response lacks stored rows, newest first. */
async function doubts(reader: PageReader, until: UtcDay): Promise<Figure> {
  const field = (name: string) => fieldOf(reader, name);
  const { streams, firstDay } = await runReads(reader.warehouse, contractOf(reader.filters.orgId));
  const expected = sql.join(
    streams.map((stream) => sql`${stream}`),
    sql`, `,
  );
  return listing(reader, {
    id: 'doubts',
    title: 'What is doubted',
    subtitle: 'Units whose newest response lacks stored rows, which are kept',
    query: sql`
  SELECT doubted_at, date, stream, ${field('rule')} AS rule,
    CAST(${field('rows')} AS INTEGER) AS missing, CAST(${field('of')} AS INTEGER) AS stored
  FROM export_units WHERE org_id = ${reader.filters.orgId} AND state = 'doubted'
    AND stream IN (${expected}) AND (date = '' OR date >= ${firstDay})`,
    order: sql`date DESC, stream`,
    columns: [
      textColumn('date', { title: 'Day' }),
      textColumn('stream', { title: 'Stream' }),
      instantColumn('doubted_at', { title: 'Since' }),
      textColumn('rule', { title: 'Why' }, wordsOfRule),
      factColumn('missing', 'Missing rows'),
      factColumn('stored', 'Stored rows'),
      MISSING_SHARE,
    ],
    empty: 'No response lacks stored rows.',
    streams: STREAMS,
    until,
  });
}

const MISSING_SHARE: ListedColumn = {
  title: 'Share',
  align: 'end',
  cell: (result, row) => shareOf(factOf(result, row, 'missing'), factOf(result, row, 'stored')),
};

function wordsOfRule(rule: string): string {
  return Object.entries(RULES).find(([name]) => name === rule)?.[1] ?? rule;
}

/** A field of the doubt; NULL if someone edited the ledger's text into something else. */
function fieldOf({ warehouse }: PageReader, name: string): SQL {
  return warehouse.dialect === 'sqlite'
    ? sql`CASE WHEN json_valid(doubt) THEN doubt ->> ${name} END`
    : sql`(doubt ->> ${name})`;
}

/**
 * The numbers that the service changed after they were stored, newest first. Readers other than managers see which numbers
 * changed and not by how much: the sums are of single days.
 */
function restatedDays(reader: PageReader, until: UtcDay): Promise<Figure> {
  return listing(reader, {
    id: 'restated',
    title: 'Restated numbers',
    subtitle: 'Sums over a day that the service changed after they were stored, newest first',
    query: sql`
  SELECT detected_at, stream, date, table_name, column_name, value_before, value_after, change
  FROM restated_days WHERE org_id = ${reader.filters.orgId}`,
    order: sql`detected_at DESC, date DESC, stream, table_name, column_name`,
    columns: [
      instantColumn('detected_at', { title: 'Found' }),
      textColumn('date', { title: 'Day' }),
      textColumn('stream', { title: 'Stream' }),
      textColumn('table_name', { title: 'Table', isSpare: true }),
      textColumn('column_name', { title: 'Number' }),
      sumColumn('value_before', 'Before', 'nothing was stored'),
      sumColumn('value_after', 'After', 'nothing is left'),
      sumColumn('change', 'Difference', 'no sum changed'),
      RESTATED_BY,
    ],
    empty: 'The service has changed no stored number.',
    notes: [['A row without a number is a change that moved no sum, for example of an email address.']],
    streams: DAILY_STREAMS,
    until,
  });
}

const RESTATED_BY: ListedColumn = {
  title: 'Change',
  align: 'end',
  cell: (result, row) => changeOf(factOf(result, row, 'value_after'), factOf(result, row, 'value_before')),
};

/** Sums of counts are whole; those of credits need not be. */
function sumColumn(name: string, title: string, why: string): ListedColumn {
  return {
    title,
    align: 'end',
    cell: (result, row) => {
      const sum = factOf(result, row, name, { why });
      return sum.value === null || Number.isInteger(sum.value) ? sum : { ...sum, format: 'decimal' };
    },
  };
}

const NOTHING = 'No record is in quarantine.';

/** How many records are in quarantine, by stream and reason. */
function quarantineReasons(reader: PageReader, until: UtcDay): Promise<Figure> {
  return listing(reader, {
    id: 'quarantine',
    title: 'Quarantine',
    subtitle: 'Records that could not be stored, by stream and reason',
    query: sql`
  SELECT stream, reason, COUNT(*) AS records, COUNT(accepted_at) AS accepted, MIN(first_seen_at) AS first_seen_at
  FROM quarantine WHERE org_id = ${reader.filters.orgId} GROUP BY stream, reason`,
    order: sql`records DESC, stream, reason`,
    columns: [
      textColumn('stream', { title: 'Stream' }),
      textColumn('reason', { title: 'Reason' }),
      factColumn('records', 'Records'),
      factColumn('accepted', 'Accepted'),
      instantColumn('first_seen_at', { title: 'First seen' }),
    ],
    empty: NOTHING,
    notes: [['The command daywalk quarantine lists the records and accepts them.']],
    streams: STREAMS,
    until,
  });
}

/** The records in quarantine, newest first, without their content. */
function quarantinedRecords(reader: PageReader, until: UtcDay): Promise<Figure> {
  return listing(reader, {
    id: 'quarantined-records',
    title: 'Records in quarantine',
    subtitle: 'Newest first; the records themselves may hold personal data and are not shown',
    query: sql`
  SELECT first_seen_at, stream, date, reason, path, accepted_at, record_sha256
  FROM quarantine WHERE org_id = ${reader.filters.orgId}`,
    order: sql`first_seen_at DESC, date DESC, stream, record_sha256`,
    columns: [
      instantColumn('first_seen_at', { title: 'First seen' }),
      textColumn('date', { title: 'Day' }),
      textColumn('stream', { title: 'Stream' }),
      textColumn('reason', { title: 'Reason' }),
      textColumn('path', { title: 'Place', isSpare: true }),
      instantColumn('accepted_at', { title: 'Accepted' }),
    ],
    empty: NOTHING,
    streams: STREAMS,
    until,
  });
}

/** Fields and values of responses that this version does not know, newest first. */
function schemaDrift(reader: PageReader, until: UtcDay): Promise<Figure> {
  return listing(reader, {
    id: 'drift',
    title: 'Unknown parts of responses',
    subtitle: 'One row per place that this version does not know, newest first',
    query: sql`
  SELECT first_seen_on, stream, path, kind, sample
  FROM schema_drift WHERE org_id = ${reader.filters.orgId}`,
    order: sql`first_seen_on DESC, stream, path`,
    columns: [
      textColumn('first_seen_on', { title: 'First day' }),
      textColumn('stream', { title: 'Stream' }),
      textColumn('path', { title: 'Place' }),
      textColumn('kind', { title: 'Kind' }),
      textColumn('sample', { title: 'Sample', isSpare: true }),
    ],
    empty: 'Every part of the responses is known.',
    notes: [['Unknown fields are kept in the columns named extra.']],
    streams: STREAMS,
    until,
  });
}

const RUNS_LISTED_MAX = 30;

/** The latest runs of the organization, and those that ended before they knew their organization. */
function latestRuns(reader: PageReader, until: UtcDay): Promise<Figure> {
  const { orgId } = reader.filters;
  return listing(reader, {
    id: 'runs',
    title: 'Runs',
    subtitle: 'Newest first',
    query: sql`
  SELECT started_at, command, ${secondsOf(reader)} AS seconds, exit_code, units_done, units_failed, rows_written,
    requests, retries, run_id, ended_at
  FROM export_runs WHERE org_id = ${orgId} OR org_id IS NULL`,
    order: sql`started_at DESC, run_id`,
    columns: [
      instantColumn('started_at', { title: 'Started' }),
      textColumn('command', { title: 'Command' }),
      factColumn('seconds', 'Seconds', { why: 'the run has not ended, or was killed' }),
      EXIT_CODE,
      MEANING,
      factColumn('units_done', 'Units'),
      factColumn('units_failed', 'Failed'),
      factColumn('rows_written', 'Rows'),
      factColumn('requests', 'Requests'),
      factColumn('retries', 'Retries'),
    ],
    most: RUNS_LISTED_MAX,
    empty: 'No run is recorded: `daywalk run`',
    streams: STREAMS,
    until,
  });
}

const EXIT_CODE: ListedColumn = {
  title: 'Exit code',
  align: 'end',
  cell: (result, row) => factOf(result, row, 'exit_code', { why: 'the run has not ended, or was killed' }),
};

const MEANING: ListedColumn = {
  title: 'Meaning',
  cell: ({ rows }, row) => meaningOf(rows[row]?.['exit_code']),
};

function meaningOf(code: unknown): Cell {
  if (code === null) return textCell('in progress, or killed');
  return textCell(isExitCode(code) ? describeExitCode(code) : null);
}

function secondsOf({ warehouse }: PageReader): SQL {
  return warehouse.dialect === 'sqlite'
    ? sql`(julianday(ended_at) - julianday(started_at)) * 86400`
    : sql`CAST(EXTRACT(EPOCH FROM ended_at - started_at) AS double precision)`;
}
