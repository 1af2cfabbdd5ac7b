import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import type { Cell, Figure } from '../../../src/look/page.ts';
import { overview } from '../../../src/look/pages/overview.ts';
import { pageReader } from '../../../src/look/snapshot-reader.ts';
import { answerMetric } from '../../../src/metrics/answer-metric.ts';
import { resolveFilters } from '../../../src/metrics/filters.ts';
import { type AnsweredRig, answeredRigs, withAnswers } from '../../support/answers/answered-rig.ts';
import { cellText, figureOf } from '../../support/look/read-pages.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { type Database, onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** A week, and the same days of the week before. */
const SPAN = ['--from', '2026-02-09', '--until', '2026-02-15'];
const IN_SPAN = "date BETWEEN '2026-02-09' AND '2026-02-15'";
const BEFORE = "date BETWEEN '2026-02-02' AND '2026-02-08'";

async function answered(database: Database) {
  const [rig] = await answeredRigs([database]);
  if (rig === undefined) throw new Error('there is one database');
  const call = (...args: string[]) =>
    daywalkInProcess(['metric', ...args], { env: { DAYWALK_WAREHOUSE: rig.place.location } });
  const ask = async (...args: string[]) => {
    const { code, stdout, stderr } = await call(...args, '--json');
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };
  const numberOf = async (query: string) => Number(await rig.value<number>(query));
  return { rig, call, ask, numberOf };
}

type Answered = Awaited<ReturnType<typeof answered>>;

const ownValue = ({ value }: { value: number }) => value;
const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

onEachDatabase((database) => {
  it('--top has the largest rows, the others and the total by the rule of the metric, as SQL by hand', async () => {
    const place = await answered(database);
    await sumsAreAdded(place);
    await peopleAreCountedAgain(place);
    await ratiosAreComputedAgain(place);
    await filtersAreConditions(place);
    await equalsOverview(place.rig, place.ask);
  });
});

async function sumsAreAdded({ ask, numberOf }: Answered): Promise<void> {
  const all = await ask('billable_tokens', '--by', 'user', ...SPAN);
  const { rows, others, total, ...rest } = await ask(
    'billable_tokens',
    '--by',
    'user',
    '--top',
    '3',
    ...SPAN,
  );
  const sorted = all.rows.toSorted((a: { value: number }, b: { value: number }) => b.value - a.value);
  expect(rows).toEqual(sorted.slice(0, 3));
  expect(others.count).toBe(all.rows.length - 3);
  expect(total).toEqual({
    value: await numberOf(`SELECT SUM(billable_tokens) FROM user_daily WHERE ${IN_SPAN}`),
  });
  expect(others.value + sumOf(rows.map(ownValue))).toBeCloseTo(total.value, 6);
  expect(rest).toMatchObject({ others_note: null, total_note: null, unnamed: null });
  const compared = await ask(
    'billable_tokens',
    '--by',
    'user',
    '--top',
    '3',
    '--order',
    'change',
    '--compare',
    ...SPAN,
  );
  const amounts = compared.rows.map((row: { value: number; before: number }) =>
    Math.abs(row.value - row.before),
  );
  expect(amounts).toEqual(amounts.toSorted((a: number, b: number) => b - a));
  const before = await numberOf(`SELECT SUM(billable_tokens) FROM user_daily WHERE ${BEFORE}`);
  expect(compared.total).toEqual({ ...total, before, change: total.value / before - 1 });
  const parts = [...compared.rows, compared.others].map((row: { before: number }) => row.before);
  expect(sumOf(parts)).toBeCloseTo(before, 6);
}

async function peopleAreCountedAgain({ ask, numberOf }: Answered): Promise<void> {
  const usersIn = (days: string, but: string) =>
    numberOf(`SELECT COUNT(DISTINCT r.user_id) FROM user_daily r
      LEFT JOIN people p ON p.person = r.user_id AND r.date >= p.valid_from AND (p.valid_to IS NULL OR r.date <= p.valid_to)
      WHERE r.${days} AND ${but}`);
  const byTeam = await ask('active_users', '--by', 'team', '--top', '1', '--compare', ...SPAN);
  const [{ team }] = byTeam.rows;
  const isOther = `(p.team IS NULL OR p.team <> '${team}')`;
  expect(byTeam.others).toMatchObject({
    value: await usersIn(IN_SPAN, isOther),
    before: await usersIn(BEFORE, isOther),
  });
  expect(byTeam.total).toMatchObject({ value: await usersIn(IN_SPAN, '1 = 1') });
  const weeks = ['--from', '2026-01-20', '--until', '2026-02-15'];
  const byWeek = await ask('active_users', '--by', 'week,team,delegation_level', '--top', '4', ...weeks);
  const tops = byWeek.rows.map(
    ({ week, team: own, delegation_level: level }: Record<string, string | null>) =>
      `(r.date BETWEEN '${week}' AND '${shiftDay(parseDay(String(week)), 6)}'
        AND ${own === null ? 'p.team IS NULL' : `p.team = '${own}'`} AND r.delegation_level = '${level}')`,
  );
  const isRest = `CASE WHEN ${tops.join(' OR ')} THEN 0 ELSE 1 END = 1`;
  expect(byWeek.others.value).toBe(await usersIn("date BETWEEN '2026-01-20' AND '2026-02-15'", isRest));
}

async function ratiosAreComputedAgain({ ask, numberOf }: Answered): Promise<void> {
  const { rows, others, total } = await ask(
    'sessions_per_active_user',
    '--by',
    'user',
    '--top',
    '2',
    ...SPAN,
  );
  const users = rows.map(({ user }: { user: string }) => `'${user}'`).join();
  const ratio = 'SELECT SUM(sessions) * 1.0 / COUNT(DISTINCT user_id) FROM user_daily WHERE';
  expect(others.value).toBeCloseTo(await numberOf(`${ratio} ${IN_SPAN} AND user_id NOT IN (${users})`), 9);
  expect(total.value).toBeCloseTo(await numberOf(`${ratio} ${IN_SPAN}`), 9);
  const states = await ask('licensed_users', '--by', 'month', '--top', '1');
  expect(states.others).toEqual({ count: 1, value: null });
  expect(states.others_note).toContain('the state at the end of each month');
  const published = await ask('published_dau', '--by', 'date', '--top', '1');
  expect(published).toMatchObject({ total: { value: null }, others: { value: null } });
  expect(published.total_note).toContain('cannot be added over days; active_users can');
}

/** Metrics of every kind, each with a dimension to filter by. */
const FILTERED = [
  ['published_billable_tokens', 'model'],
  ['published_cost', 'tier'],
  ['tool_invocations', 'tool'],
  ['hook_invocations', 'hook'],
  ['published_language_files', 'language'],
  ['language_users', 'language'],
  ['active_users', 'delegation_level'],
  ['new_users', 'delegation_level'],
  ['cost_per_active_user', 'delegation_level'],
  ['readiness_score', 'repository'],
  ['inactive_users', 'team'],
  ['user_model_active_users', 'model'],
  ['sessions', 'user'],
] as const;

async function filtersAreConditions({ rig, ask, call, numberOf }: Answered): Promise<void> {
  const period = { from: parseDay('2026-01-14'), until: parseDay('2026-02-15') };
  await withAnswers(rig, async (warehouse) => {
    for (const [metric, dimension] of FILTERED) {
      const question = { metric, orgId: rig.orgId, ...period };
      const { rows } = await answerMetric(warehouse, { ...question, by: [dimension] });
      expect(rows.length, metric).toBeGreaterThan(0);
      for (const row of rows.slice(0, 4)) {
        const filters = { [dimension]: String(row[dimension] ?? 'unassigned') };
        const found = await resolveFilters(warehouse, {
          ...question,
          filters,
          today: parseDay('2026-02-20'),
        });
        const answer = await answerMetric(warehouse, { ...question, by: [], ...found });
        expect(answer.rows[0]?.value, JSON.stringify([metric, filters])).toBeCloseTo(row.value ?? 0, 9);
      }
    }
  });
  const two = ['--filter', 'team=blue', '--filter', 'delegation_level=manual', ...SPAN];
  expect((await ask('sessions', ...two)).rows[0].value).toBe(
    await numberOf(`SELECT SUM(r.sessions) FROM user_daily r
      JOIN people p ON p.person = r.user_id AND r.date >= p.valid_from AND (p.valid_to IS NULL OR r.date <= p.valid_to)
      WHERE r.${IN_SPAN} AND p.team = 'blue' AND r.delegation_level = 'manual'`),
  );
  const month = await ask('sessions', '--filter', 'month=2026-01');
  expect(month).toMatchObject({ from: '2026-01-14', until: '2026-01-31' });
  const client = await ask('published_client_dau', '--by', 'date', '--filter', 'client=web', ...SPAN);
  expect(client.rows).toHaveLength(7);
  const { stdout } = await call('sessions', '--filter', 'delegation_level=manual', '--sql', ...SPAN);
  expect(stdout).toContain("r.delegation_level = 'manual'");
}

async function equalsOverview(rig: AnsweredRig, ask: Answered['ask']): Promise<void> {
  const filters = { orgId: rig.orgId, from: parseDay('2026-02-09'), until: parseDay('2026-02-15') };
  const page = await withAnswers(rig, (warehouse) =>
    warehouse.inSnapshot(() => overview.build(pageReader(warehouse, filters), {})),
  );
  for (const [id, metric, dimension] of [
    ['models', 'published_cost', 'model'],
    ['teams', 'cost', 'team'],
  ] as const) {
    const shown = linesOf(figureOf(page, id));
    const { rows, others, total } = await ask(metric, '--by', dimension, '--top', '8', '--compare', ...SPAN);
    const lines = [
      ...rows.map((row: Record<string, unknown>) => [row[dimension] ?? 'unassigned', row]),
      ...(others === null ? [] : [[`others (${others.count})`, others]]),
      [`All ${dimension}s`, total],
    ];
    expect(shown.map(([name]) => name)).toEqual(lines.map(([name]) => name));
    for (const [index, [name, { value, before, change }]] of lines.entries()) {
      const [, amount, by, relative] = shown[index] ?? [];
      expect(amount, name).toBeCloseTo(value, 9);
      expect(by, name).toBeCloseTo(value - before, 9);
      expect(relative, name).toBeCloseTo(change, 9);
    }
  }
}

/** The lines of a table of what drives the cost: name, amount, its change, and this relative to before. */
function linesOf({ table }: Figure): (readonly [string, number, number, number])[] {
  return table.rows.map((cells) => {
    const [name, amount, , , by, relative] = cells.map((cell) => cell);
    return [name === undefined ? '' : cellText(name), numberIn(amount), numberIn(by), numberIn(relative)];
  });
}

function numberIn(cell: Cell | undefined): number {
  if (cell?.kind === 'number') return cell.value ?? Number.NaN;
  const [part] = cell?.kind === 'phrase' ? cell.parts : [];
  const [inner] = typeof part === 'object' && part.kind === 'strong' ? part.parts : [];
  return typeof inner === 'object' && inner.kind === 'number' ? (inner.value ?? Number.NaN) : Number.NaN;
}

it('the screen and the CSV end with the others and the total, and other answers are as before', {
  tags: 'ci/rare',
}, async () => {
  const { call, ask } = await answered(sqlite);
  const asked = ['sessions', '--by', 'team,user', '--top', '2', '--compare', ...SPAN];
  const { rows, others, total } = await ask(...asked);
  const { stdout } = await call(...asked);
  expect(stdout).toMatch(/^TEAM +USER +SESSIONS +BEFORE +CHANGE\n/);
  expect(stdout).toMatch(/\nothers \(\d+\) +\d+ +\d+ +[+-]?\d+\.\d %\ntotal +\d+ +\d+ +/);
  expect(parse((await call(...asked, '--csv')).stdout).slice(1)).toEqual([
    ...rows.map((row: Record<string, unknown>) =>
      ['team', 'user', 'value', 'before', 'change'].map((name) => String(row[name] ?? 'unassigned')),
    ),
    [`others (${others.count})`, '', ...[others.value, others.before, others.change].map(String)],
    ['total', '', ...[total.value, total.before, total.change].map(String)],
  ]);
  expect(Object.keys(await ask('sessions', '--by', 'team', ...SPAN))).toEqual([
    'metric',
    'org_id',
    'unit',
    'from',
    'until',
    'rows',
    'days',
    'run_id',
    'warnings',
  ]);
  const ordered = await ask('sessions', '--by', 'team', '--order', 'value', ...SPAN);
  expect([ordered.others, ordered.rows.length > 1]).toEqual([null, true]);
});

it('what cannot be ranked or filtered is refused with a remedy', { tags: 'ci/rare' }, async () => {
  const { call } = await answered(sqlite);
  for (const [args, message, hint] of [
    [['sessions', '--order', 'change'], 'only in a comparison', 'compare with another span'],
    [['sessions', '--order', 'size'], '"size" is not an order', 'value or change'],
    [['sessions', '--top', '0'], '--top', '1'],
    [['sessions', '--top', '3', '--sql'], '--sql and --top exclude each other', 'ORDER BY value DESC'],
    [['sessions', '--filter', 'model=atlas-4'], 'cannot be filtered by model', 'it has date, week'],
    [['sessions', '--filter', 'models=atlas-4'], '"models" is not a dimension', 'did you mean model?'],
    [['sessions', '--filter', 'manual'], '"manual" is not a condition', 'DIMENSION=VALUE'],
    [
      ['published_cost', '--filter', 'tier=thinkin'],
      'no row is of the tier "thinkin"',
      'did you mean thinking?',
    ],
    [['published_cost', '--filter', 'tier=x'], 'no row is of the tier "x"', 'choose from '],
    [['sessions', '--filter', 'delegation_level=none'], 'no row is of the delegation_level', 'choose from'],
    [['sessions', '--filter', 'team=bleu'], 'no team "bleu"', 'choose from blue, red'],
    [['sessions', '--filter', 'user=nobody'], 'no row is of the user', 'give a user ID'],
    [['sessions', '--filter', 'team=blue', '--team', 'red'], 'the team is given twice', 'once'],
    [['sessions', '--filter', 'team=blue', 'team=red'], 'team is given twice', '--by team'],
    [
      ['sessions', '--filter', 'month=2026-01', '--from', '2026-01-20'],
      'a period is given already',
      'first and a last day',
    ],
    [['sessions', '--filter', 'week=2026-02-03'], 'is not a week', 'Monday'],
    [['published_sessions', '--filter', 'team=blue'], 'cannot be filtered by team', 'team is a dimension of'],
    [['--filter', 'team=blue'], '--filter needs the name of a metric', 'lists the names'],
    [['causes', '--top', '3'], 'causes has no --top', 'it has --from'],
  ] as const) {
    const { code, stdout, stderr } = await call(...args);
    expect({ code, stdout }, args.join(' ')).toEqual({ code: 2, stdout: '' });
    expect(stderr, args.join(' ')).toContain(message);
    expect(stderr, args.join(' ')).toContain(hint);
  }
});
