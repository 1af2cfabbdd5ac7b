import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { sql } from '../../../schema/query.ts';
import { tables } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { writeBrief } from '../../../src/look/brief/write-brief.ts';
import { readable } from '../../support/audience/readable.ts';
import { createReportRig, MIN_GROUP, type ReportRig } from '../../support/audience/report-rig.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { serve } from '../../support/dashboard/serve.ts';
import { fillTwoMonths, load } from '../../support/look/two-months.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { databases, onDatabase, onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const NOW = '2026-02-24T03:00:00.000Z';
/** A brief about the only organization of a warehouse. */
const REQUEST = { orgId: 'org_1', minGroup: 5, dashboard: undefined, namesOrganization: false, name: null };

interface BriefRig extends ReportRig {
  /** Runs `daywalk …` on the warehouse, in the folder. */
  daywalk(line: string, env?: Readonly<Record<string, string>>): ReturnType<typeof daywalkInProcess>;
}

/** The organization of the reports, with prices and budgets if they are wanted. */
async function createBriefRig(
  database = sqlite,
  { money = true }: { money?: boolean } = {},
): Promise<BriefRig> {
  const rig = await createReportRig(database);
  const daywalk: BriefRig['daywalk'] = (line, env = {}) =>
    daywalkInProcess(line.split(' '), {
      env: { DAYWALK_WAREHOUSE: rig.path, DAYWALK_NOW: NOW, DAYWALK_MIN_GROUP: String(MIN_GROUP), ...env },
      cwd: rig.folder,
    });
  if (!money) return { ...rig, daywalk };
  writeFileSync(
    join(rig.folder, 'prices.csv'),
    'valid_from,valid_to,currency,price_per_million\n2026-01-14,,EUR,5.5\n',
  );
  const budgets = ['core', '../etc', 'con', 'unassigned'].map((team) => `2026-02,${team},100,EUR\n`).join('');
  writeFileSync(join(rig.folder, 'budgets.csv'), `month,team,amount,currency\n${budgets}`);
  for (const line of ['prices load prices.csv', 'budget load budgets.csv'])
    expect(await daywalk(line)).toMatchObject({ code: 0 });
  return { ...rig, daywalk };
}

/** Texts with digits, as people read them. */
function numbersIn(text: string): string[] {
  return (text.match(/[+−]?\d[\d,.]*(?:\s?(?:%|M\b|bn\b))?/gu) ?? []).map((found) =>
    found.replaceAll(/\s/g, ' ').replace(/[.,]$/, ''),
  );
}

function wordsIn(html: string): string {
  return readable(
    html
      .slice(html.indexOf('<body'))
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll('&nbsp;', ' '),
  );
}

const bodyOf = (rig: BriefRig, folder: string) => ({
  subject: rig.read(`${folder}/subject.txt`),
  text: rig.read(`${folder}/body.txt`),
  html: rig.read(`${folder}/body.html`),
});

test('both parts of a brief have the same numbers, which are those of the overview of the week', {
  tags: 'ci/rare',
  timeout: 240_000,
}, async () => {
  const rig = await createBriefRig();
  expect(await rig.daywalk('brief --out brief --dashboard https://daywalk.example.com/x/')).toMatchObject({
    code: 0,
  });
  const { subject, text, html } = bodyOf(rig, 'brief');
  const withoutLink = text.replace(/^Open .*$/m, '');
  expect(numbersIn(wordsIn(html))).toEqual(numbersIn(withoutLink));
  expect(text).toContain('week 8, 16 to 22 February 2026');
  expect(html).toContain('href="https://daywalk.example.com/x/?from=2026-02-01&amp;until=2026-02-22"');
  expect(html).toContain(
    'href="https://daywalk.example.com/x/teams/core?from=2026-02-16&amp;until=2026-02-22"',
  );
  const served = await serve(rig.place, { clock: new FakeClock({ now: NOW }) });
  const { body } = await served.ask('/?from=2026-02-16&until=2026-02-22');
  const shown = new Set(
    Array.from(body.matchAll(/<data [^>]*>([^<]*)<\/data>/g), ([, number = '']) => number),
  );
  const [, spend = ''] = /Week 8 cost ([\d,.]+)\sEUR/.exec(text) ?? [];
  expect(shown).toContain(spend);
  const rows = text
    .split('\n')
    .filter((line) =>
      /^(February|core|\.\.\/etc|con|unassigned|others \(\d\)) {2,}[\d,.]+ {2,}[\d,.]+ {2,}[\d,.]+ /.test(
        line,
      ),
    );
  expect(rows.length).toBeGreaterThan(2);
  for (const row of rows)
    for (const number of row.match(/(?<= )[\d,.]+(?= )/g) ?? [])
      expect({ row, has: shown.has(number) }).toEqual({ row, has: true });
  const words = text.replaceAll('\n', ' ');
  const [, credits = ''] = /with ([\d,.]+(?:\s[MK])?) credits each/u.exec(words) ?? [];
  const [, people = ''] = /USE (\d+) people were active/.exec(words) ?? [];
  expect([...shown]).toEqual(expect.arrayContaining([credits, people]));
  expect(subject).toMatch(/^Daywalk: [\d,.]+\sEUR in February so far, .* the budget of \d+\n$/);
});

test('a brief of a month that is over says what teams without a budget have spent', {
  timeout: 240_000,
  tags: 'ci/variant',
}, async () => {
  const { daywalk, folder, read } = await createBriefRig();
  writeFileSync(join(folder, 'budgets.csv'), 'month,team,amount,currency\n2026-01,con,100,EUR\n');
  expect(await daywalk('budget load budgets.csv')).toMatchObject({ code: 0 });
  expect(await daywalk('budget check --month 2026-01')).toMatchObject({ code: 0 });
  expect(await daywalk('brief --out brief --month 2026-01')).toMatchObject({ code: 0 });
  const text = read('brief/body.txt');
  const [, others] = /^no budget \(\d\) +([\d,.]+)/m.exec(text) ?? [];
  expect(others).toBeDefined();
  expect(text.replaceAll(/\s+/g, ' ')).toContain(
    `its budget was 100, with ${others} of teams that have none.`,
  );
});

test('a brief of a month that is over says whether its budget held, although a later day is missing', {
  timeout: 240_000,
  tags: 'ci/variant',
}, async () => {
  const { daywalk, folder, place, read } = await createBriefRig();
  const budgets = ['2026-01', '2026-02'].flatMap((month) =>
    ['core', '../etc', 'con', 'unassigned'].map((team) => `${month},${team},1000,EUR\n`),
  );
  writeFileSync(join(folder, 'budgets.csv'), `month,team,amount,currency\n${budgets.join('')}`);
  expect(await daywalk('budget load budgets.csv')).toMatchObject({ code: 0 });
  await place.execute("DELETE FROM export_units WHERE date = '2026-02-10'");
  const briefOf = async (month: string) => {
    expect(await daywalk(`brief --out brief --month ${month}`)).toMatchObject({ code: 0 });
    return read('brief/body.txt').replaceAll(/\s+/g, ' ');
  };
  const january = await briefOf('2026-01');
  expect(january).toContain('JANUARY STAYED WITHIN ITS BUDGET');
  expect(january).not.toContain('days of the month are missing');
  expect(await briefOf('2026-02')).toContain('because days of the month are missing.');
});

test('a brief is the same bytes whenever it is written', { tags: 'ci/rare', timeout: 240_000 }, async () => {
  const rig = await createBriefRig();
  for (const audience of ['managers', 'team']) {
    await rig.daywalk(`brief --out one --audience ${audience}`);
    await rig.daywalk(`brief --out two --audience ${audience}`, { DAYWALK_NOW: '2026-06-01T12:00:00.000Z' });
    for (const file of ['subject.txt', 'body.txt', 'body.html', 'message.eml'])
      expect(rig.read(`two/${file}`) === rig.read(`one/${file}`), file).toBe(true);
  }
});

test('a brief names no person, loads nothing and draws nothing', {
  tags: 'ci/rare',
  timeout: 240_000,
}, async () => {
  const rig = await createBriefRig();
  const ids = await rig.column('SELECT DISTINCT user_id FROM user_daily');
  const emails = await rig.column('SELECT DISTINCT user_email FROM user_daily WHERE user_email IS NOT NULL');
  const names = await rig.column('SELECT name FROM people WHERE name IS NOT NULL');
  // Teams that are named after people, with most of the use.
  const named = [names[0] ?? '', emails[1] ?? '', `team of ${ids[2]}`];
  for (const table of ['people', 'user_teams', 'users']) {
    await rig.place.execute(`UPDATE ${table} SET team = ? WHERE team = ?`, named[0] ?? '', 'core');
    await rig.place.execute(`UPDATE ${table} SET team = ? WHERE team = ?`, named[1] ?? '', 'con');
  }
  await rig.place.execute('UPDATE budgets SET team = ? WHERE team = ?', named[2] ?? '', 'con');
  for (const line of ['', ' --month 2026-02', ' --audience team']) {
    expect(
      await rig.daywalk(`brief --out brief${line} --dashboard https://daywalk.example.com`),
    ).toMatchObject({ code: 0 });
    const { subject, text, html } = bodyOf(rig, 'brief');
    const all = `${subject}${text}${readable(html)}`.toLowerCase();
    const found = [...ids, ...emails, ...names].filter((secret) => all.includes(secret.toLowerCase()));
    expect({ line, found }).toEqual({ line, found: [] });
    expect(html).not.toMatch(
      /<(script|img|svg|style|link|iframe|form|object)|\ssrc=|url\(|@import|\son\w+=/i,
    );
    expect(
      [...html.matchAll(/https?:[^"]*/g)].every(([address]) =>
        address.startsWith('https://daywalk.example.com/'),
      ),
    ).toBe(true);
  }
  await rig.daywalk('brief --out brief');
  expect(rig.read('brief/body.txt').match(/named after a person/g)?.length).toBeGreaterThan(2);
});

test('where the warehouse has several organizations, a mail has the name of its own', {
  tags: 'ci/rare',
  timeout: 240_000,
}, async () => {
  const rig = await createBriefRig(sqlite, { money: false });
  const written = async (...flags: readonly string[]) => {
    expect(await rig.daywalk(['brief --out brief', ...flags].join(' '))).toMatchObject({ code: 0 });
    return bodyOf(rig, 'brief');
  };
  expect((await written()).subject).toMatch(/^Daywalk: /);
  const warehouse = await open(rig.place);
  await commitDay(warehouse, commitOf({ orgId: 'org_other' }));
  await warehouse.close();
  const [orgId = ''] = await rig.column('SELECT DISTINCT org_id FROM user_daily');
  expect((await written('--organization', orgId)).subject).toMatch(new RegExp(`^Daywalk, ${orgId}: `));
  await rig.place.execute(
    `INSERT INTO organizations (name, org_id, first_seen_at) VALUES ('acme', '${orgId}', '2026-02-01T00:00:00.000Z')`,
  );
  const named = await written('--organization', 'acme');
  expect(named.subject).toMatch(/^Daywalk, acme: [\d.]+\sM credits in week 8, /u);
  expect(named.text).toContain('acme · ');
  expect(named.text).not.toContain(orgId);
});

test('without prices a brief speaks of credits and names the command that loads them; without budgets likewise', {
  tags: 'ci/rare',
  timeout: 240_000,
}, async () => {
  const rig = await createBriefRig(sqlite, { money: false });
  await rig.daywalk('brief --out brief');
  const { subject, text } = bodyOf(rig, 'brief');
  expect(subject).toMatch(/^Daywalk: [\d.]+\sM credits in week 8, /u);
  expect(text).toContain('`daywalk prices load prices.csv`');
  writeFileSync(
    join(rig.folder, 'prices.csv'),
    'valid_from,valid_to,currency,price_per_million\n2026-01-14,,EUR,5.5\n',
  );
  await rig.daywalk('prices load prices.csv');
  await rig.daywalk('brief --out brief');
  expect(rig.read('brief/body.txt').replaceAll('\n', ' ')).toContain('`daywalk budget load budgets.csv`');
  expect(rig.read('brief/subject.txt')).toMatch(/^Daywalk: [\d,.]+\sEUR in week 8, /u);
  writeFileSync(
    join(rig.folder, 'budgets.csv'),
    'month,team,amount,currency\n2026-02,core,100,EUR\n2026-02,con,100,USD\n',
  );
  await rig.daywalk('budget load budgets.csv');
  await rig.daywalk('brief --out brief');
  expect(rig.read('brief/body.txt').replaceAll('\n', ' ')).toContain(
    'Whether the budgets hold is not known: ',
  );
});

test('a brief for a team is a published week, with its total', { timeout: 240_000 }, async () => {
  const rig = await createBriefRig();
  const ended = await rig.daywalk(
    'brief --out brief --audience team --dashboard https://daywalk.example.com --json',
  );
  const written: unknown = JSON.parse(ended.stdout);
  expect(written).toMatchObject({ audience: 'team', from: '2026-02-09', until: '2026-02-15' });
  const { text, html } = bodyOf(rig, 'brief');
  const total = await rig.column(
    "SELECT CAST(value AS TEXT) FROM published_weeks WHERE week_start = '2026-02-09' AND dimension = 'total' AND metric = 'sessions'",
  );
  expect(text).toMatch(new RegExp(`^Sessions +${Number(total[0]).toLocaleString('en-US')} `, 'm'));
  expect(text).toMatch(/^core +[\d.]+\sM /mu);
  expect(text).not.toContain('tiny');
  expect(html).not.toContain('https:');
  expect(numbersIn(wordsIn(html))).toEqual(numbersIn(text));
});

test('what cannot be written is refused with a remedy', { timeout: 120_000 }, async () => {
  const rig = await createBriefRig();
  mkdirSync(join(rig.folder, 'taken'));
  const refusals = [
    'brief',
    'brief --out',
    'brief --out a --week 2026-W09',
    'brief --out a --week 2026-02-17',
    'brief --out a --week 2026-W54',
    'brief --out a --week 2026-W03',
    'brief --out a --month 2025-12',
    'brief --out a --month 2026-13',
    'brief --out a --month 2026-03',
    'brief --out a --week 2026-W08 --month 2026-02',
    'brief --out a --audience public',
    'brief --out a --audience everybody',
    'brief --out a --audience team --month 2026-02',
    'brief --out a --audience team --week 2026-W08',
    'brief --out a --dashboard daywalk.example.com',
    'brief --out a --dashboard javascript:alert(1)',
    'brief --out a --organization nobody',
    'brief --out daywalk.csv/a',
    'brief --out a --warehouse missing.db',
  ];
  writeFileSync(join(rig.folder, 'daywalk.csv'), '');
  for (const line of refusals) {
    const { code, stderr } = await rig.daywalk(line);
    expect({ line, code, hasRemedy: /^hint: .+/m.test(stderr) }).toEqual({ line, code: 2, hasRemedy: true });
  }
  expect(existsSync(join(rig.folder, 'a'))).toBe(false);
  const empty = await createRig({ users: 1, reports: 0 }, { database: sqlite });
  const { code, stderr } = await daywalkInProcess(['brief', '--out', 'a'], {
    env: { DAYWALK_WAREHOUSE: empty.path, DAYWALK_NOW: NOW },
    cwd: rig.folder,
  });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^hint: /m);
});

onEachDatabase((database) => {
  it('a brief of an empty warehouse is refused', async () => {
    const folder = join(tempDir(), 'brief');
    const request = { ...REQUEST, span: undefined };
    for (const audience of ['managers', 'team'] as const)
      await expect(writeBrief(await open(database), { ...request, audience }, folder)).rejects.toMatchObject({
        exitCode: 2,
      });
    expect(existsSync(folder)).toBe(false);
  });

  it('a brief names the days of which the models are doubted, also where everything of people is settled', async () => {
    const warehouse = await open(database);
    await fillTwoMonths(warehouse);
    await warehouse.transact('doubt a day of', function* () {
      yield sql`UPDATE export_units SET state = 'doubted', settled_at = NULL WHERE stream = 'tokens' AND date = '2026-03-11'`;
    });
    const folder = tempDir();
    const span = { kind: 'week', monday: parseDay('2026-03-09') } as const;
    const request = { ...REQUEST, span };
    await writeBrief(warehouse, { ...request, audience: 'managers' }, folder);
    expect(readFileSync(join(folder, 'body.txt'), 'utf8')).toContain('1 of 7 days is doubted.');
  });

  it('a brief for a team compares no others, which are other groups in each week', async () => {
    const warehouse = await open(database);
    await fillTwoMonths(warehouse);
    const rowsOf = (week_start: string, blocks: Readonly<Record<string, number>>) =>
      Object.entries(blocks).map(([block, value]) => {
        const dimension = block === '' ? 'total' : 'team';
        return { week_start, dimension, block, metric: 'billable_tokens', people: 9, value };
      });
    await load(warehouse, tables.publishedWeeks, [
      ...rowsOf('2026-03-02', { '': 100, core: 60, others: 40 }),
      ...rowsOf('2026-03-09', { '': 100, core: 30, web: 50, others: 20 }),
    ]);
    const folder = tempDir();
    const span = { kind: 'week', monday: parseDay('2026-03-09') } as const;
    const request = { ...REQUEST, span };
    await writeBrief(warehouse, { ...request, audience: 'team' }, folder);
    const text = readFileSync(join(folder, 'body.txt'), 'utf8');
    expect(text).toMatch(/^core +30 +60 +−50/m);
    expect(text).toMatch(/^others +20 +40 +–$/m);
  });

  it('a brief with missing days says what the pages say, and has no forecast', async () => {
    const warehouse = await open(database);
    await fillTwoMonths(warehouse, { missing: ['2026-03-10'] });
    await load(warehouse, tables.people, [
      { person: 'bob', valid_from: '2026-01-01', team: '<b>\u202ecore' },
    ]);
    await load(warehouse, tables.prices, [
      { valid_from: '2026-01-14', currency: 'EUR', price_per_million: 1e5 },
    ]);
    await load(warehouse, tables.budgets, [
      { month: '2026-03', team: '<b>\u202ecore', amount: 2000, currency: 'EUR' },
    ]);
    const folder = tempDir();
    const request = {
      orgId: 'org_1',
      audience: 'managers',
      minGroup: 5,
      dashboard: undefined,
      namesOrganization: false,
      name: null,
    } as const;
    const written = await writeBrief(
      warehouse,
      { ...request, span: { kind: 'week', monday: parseDay('2026-03-09') } },
      folder,
    );
    const [text, html] = ['body.txt', 'body.html'].map((name) =>
      readFileSync(join(folder, name), 'utf8').replaceAll('\n', ' '),
    );
    // Only two of the five expected streams are stored at all.
    expect(written.subject).toBe('Daywalk: No day is stored in all streams yet');
    expect(text).toContain(
      'There is no forecast. Whoever runs the job: `daywalk run`, then `daywalk status`.',
    );
    expect(text).toContain('(the 7 days before: 1 day is missing, so the spans cannot be compared)');
    expect(text).toContain('Nothing is forecast, because days of the month are missing.');
    expect(text?.replaceAll(/\s+/g, ' ')).toMatch(
      /were spent \([\d.]+ %\), with [\d.,]+ of teams that have none\./,
    );
    expect(text).not.toContain('by the end of');
    expect(html).toContain('&lt;b&gt; core');
    expect(`${text}${html}`).not.toContain('\u202e');
    expect(html).not.toMatch(/<b>\s*core/);
    const sunday = await writeBrief(warehouse, { ...request, span: undefined }, folder);
    expect(sunday).toMatchObject({ from: '2026-03-09', until: '2026-03-15' });
  });
});

for (const database of databases.filter(({ name }) => name !== sqlite.name)) {
  onDatabase(database, () => {
    test('a brief from PostgreSQL has the same words', { timeout: 240_000 }, async () => {
      const [own, other] = [await createBriefRig(database), await createBriefRig(sqlite)];
      for (const rig of [own, other])
        expect(await rig.daywalk('brief --out brief')).toMatchObject({ code: 0 });
      const withoutRun = (text: string) => text.replaceAll(/Run\s\w{8}/g, '');
      expect(withoutRun(own.read('brief/body.txt'))).toBe(withoutRun(other.read('brief/body.txt')));
    });
  });
}
