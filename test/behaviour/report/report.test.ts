import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readable } from '../../support/audience/readable.ts';
import { createReportRig, MIN_GROUP } from '../../support/audience/report-rig.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { databases, onDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** What a report for an audience holds of what names people, or says what they did. */
async function secretsIn(
  audience: 'managers' | 'public' | 'team',
  ...flags: readonly string[]
): Promise<{ people: readonly string[]; found: readonly string[] }> {
  const rig = await createReportRig(sqlite);
  const people = [
    ...(await rig.column('SELECT DISTINCT user_id FROM user_daily')),
    ...(await rig.column('SELECT DISTINCT user_email FROM user_daily WHERE user_email IS NOT NULL')),
    ...(await rig.column('SELECT name FROM people WHERE name IS NOT NULL')),
  ];
  const details = [
    ...(await rig.column("SELECT DISTINCT command FROM tools_daily_by_hook WHERE command <> ''")),
    ...(await rig.column(
      'SELECT DISTINCT rationale FROM readiness_report_criteria WHERE rationale IS NOT NULL',
    )),
    ...(await rig.column('SELECT DISTINCT repo_url FROM readiness_reports WHERE repo_url IS NOT NULL')),
  ];
  const ended = await rig.report('--out', 'report.html', '--audience', audience, ...flags);
  expect(ended).toMatchObject({ code: 0 });
  const text = readable(rig.read('report.html')).toLowerCase();
  const secrets = audience === 'public' ? [...people, ...details] : people;
  return { people, found: secrets.filter((secret) => text.includes(secret.toLowerCase())) };
}

testVariants([
  ['the public', 'public', []],
  ['a team', 'team', []],
  ['one team', 'team', ['--team', 'core']],
] as const)('a report for %s names nobody', { timeout: 240_000 }, async (_, audience, flags) => {
  const { people, found } = await secretsIn(audience, ...flags);
  expect(people.length).toBeGreaterThan(80);
  expect(found).toEqual([]);
});

test('a report for managers names people', { tags: 'ci/rare', timeout: 240_000 }, async () => {
  expect((await secretsIn('managers')).found.length).toBeGreaterThan(20);
});

test('the same warehouse gives the same bytes, whenever it is written', {
  tags: 'ci/again',
  timeout: 240_000,
}, async () => {
  const rig = await createReportRig(sqlite);
  await rig.report('--out', 'one.html', '--audience', 'team');
  await rig.report('--out', 'two.html', '--audience', 'team');
  expect(rig.read('two.html') === rig.read('one.html')).toBe(true);
});

test('a report is one document that loads nothing, with the totals of the metrics', {
  timeout: 240_000,
}, async () => {
  const rig = await createReportRig(sqlite);
  const ended = await rig.report('--out', 'team.html', '--audience', 'team', '--json');
  const written: unknown = JSON.parse(ended.stdout);
  expect(written).toMatchObject({
    audience: 'team',
    min_group: 3,
    reports: [{ team: null, bytes: expect.any(Number) }],
  });
  const text = readable(rig.read('team.html'));
  expect(text.match(/<h1/g)).toHaveLength(1);
  expect(text).toContain("default-src 'none'; style-src 'sha256-");
  expect(text).not.toMatch(/<script|<link|<iframe|<form|\sstyle="|\son\w+="|(?:href|src)="(?!#|data:)/i);
  const ids = Array.from(text.matchAll(/ id="([^"]+)"/g), ([, id]) => id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  const metric = await daywalkInProcess(
    ['metric', 'billable_tokens', '--from', '2026-01-19', '--until', '2026-02-15', '--json'],
    { env: { DAYWALK_WAREHOUSE: rig.path } },
  );
  const answer: { rows: { value: number }[] } = JSON.parse(metric.stdout);
  expect(written).toMatchObject({ from: '2026-01-19', until: '2026-02-15' });
  expect(text).toContain(`<data value="${answer.rows[0]?.value}"`);
});

test('small teams are not reported and merged, and file names are safe', {
  tags: 'ci/variant',
  timeout: 240_000,
}, async () => {
  const rig = await createReportRig(sqlite);
  const refused = await rig.report('--out', 'tiny.html', '--team', 'tiny', '--audience', 'team');
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stderr).toContain('is not shown alone in any published week');
  expect(existsSync(join(rig.folder, 'tiny.html'))).toBe(false);
  const ended = await rig.report('--each-team', 'teams', '--audience', 'team', '--json');
  expect(ended.code).toBe(0);
  const result: { reports: { team: string; file: string }[]; too_small: string[] } = JSON.parse(ended.stdout);
  expect(result.too_small).toContain('tiny');
  expect(result.reports.map(({ team }) => team)).toContain('core');
  const names = readdirSync(join(rig.folder, 'teams'));
  expect(names.every((name) => /^[a-z0-9-]+\.html$/.test(name))).toBe(true);
  expect(names).toHaveLength(result.reports.length + 1);
  const list = rig.read('teams/index.html');
  expect(list).not.toContain('tiny');
  expect(Array.from(list.matchAll(/href="([^"]+)"/g), ([, href = '']) => href).toSorted()).toEqual(
    names.filter((name) => name !== 'index.html').toSorted(),
  );
  await rig.report('--out', 'all.html', '--audience', 'team');
  expect(rig.read('all.html')).toContain('>core<');
  expect(rig.read('all.html')).not.toContain('tiny');
});

test('until a run has published the teams of people who were loaded, a report of a team says that, and not that they are small', {
  timeout: 240_000,
}, async () => {
  const rig = await createReportRig(sqlite, false);
  const refused = await rig.report('--out', 'core.html', '--team', 'core', '--audience', 'team');
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stderr).toContain(
    'no team is shown alone in any published week from 2026-01-19 to 2026-02-15',
  );
  expect(refused.stderr).toContain('the first run after people are loaded publishes the teams');
  const ended = await rig.report('--each-team', 'teams', '--audience', 'team');
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout).toContain('the first run after people are loaded publishes the teams');
  expect(ended.stdout).not.toContain('because of too few people');
});

test('flags that contradict each other and paths that cannot be written are refused', {
  tags: 'ci/rare',
  timeout: 120_000,
}, async () => {
  const rig = await createReportRig(sqlite);
  const refusals = [
    [],
    ['--out', 'a.html', '--each-team', 'b'],
    ['--each-team', 'b', '--team', 'core'],
    ['--out', 'a.html', '--min-group', '4'],
    ['--out', 'a.html', '--audience', 'team', '--min-group', '1'],
    ['--out', 'a.html', '--audience', 'everybody'],
    ['--out', 'daywalk.db'],
    ['--out', 'missing/a.html'],
    ['--out', 'folder.html'],
    ['--out', 'a.html', '--team', 'nobody'],
    ['--out', 'a.html', '--from', '2026-02-20', '--until', '2026-02-10'],
    ['--out', 'a.html', '--until', '2026-02-24'],
    ['--out', 'a.html', '--audience', 'team', '--min-group', '2'],
    ['--out', 'a.html', '--audience', 'team', '--from', '2026-01-20', '--until', '2026-01-25'],
    ['--out', 'a.html', '--audience', 'team', '--from', '2026-02-16', '--until', '2026-02-22'],
    ['--out', 'a.html', '--audience', 'public', '--team', 'tiny'],
  ];
  mkdirSync(join(rig.folder, 'folder.html'));
  for (const flags of refusals) {
    const { code, stderr } = await rig.report(...flags);
    expect({ flags, code, hasRemedy: /^hint: .+/m.test(stderr) }).toEqual({
      flags,
      code: 2,
      hasRemedy: true,
    });
  }
  expect(existsSync(join(rig.folder, 'a.html'))).toBe(false);
  const early = await rig.report('--out', 'missing/a.html', '--warehouse', 'missing.db');
  expect(early.stderr, 'before the warehouse is read').toContain('the report cannot be written into');
});

test('what the service sent verbatim is in no report for a team or the public', {
  tags: 'ci/rare',
  timeout: 120_000,
}, async () => {
  const rig = await createReportRig(sqlite);
  const planted = '/home/ada/.ssh/id_rsa token=s3cr3t';
  await rig.place.execute('DELETE FROM published_weeks');
  await rig.place.execute(`UPDATE tools_daily_by_tool SET tool = '${planted}', is_artifact = 1
    WHERE tool = (SELECT MIN(tool) FROM tools_daily_by_tool)`);
  await rig.place.execute(`UPDATE user_daily_languages SET language = '${planted}' WHERE language = 'Go'`);
  await rig.place.execute(
    `UPDATE productivity_daily_by_language SET language = '${planted}' WHERE language = 'Go'`,
  );
  await rig.run({ settings: { minGroup: MIN_GROUP } });
  for (const audience of ['team', 'public']) {
    expect(await rig.report('--out', 'all.html', '--audience', audience)).toMatchObject({ code: 0 });
    expect(rig.read('all.html')).not.toContain('s3cr3t');
    expect(rig.read('all.html')).toContain('>unrecognized<');
  }
});

for (const database of databases.filter(({ name }) => name !== sqlite.name)) {
  onDatabase(database, () => {
    test('a report from PostgreSQL names nobody and merges the same teams', {
      timeout: 240_000,
    }, async () => {
      const [own, other] = [await createReportRig(database), await createReportRig(sqlite)];
      for (const rig of [own, other]) {
        expect(await rig.report('--out', 'team.html', '--audience', 'team')).toMatchObject({
          code: 0,
        });
      }
      expect(withoutSql(own.read('team.html'))).toBe(withoutSql(other.read('team.html')));
    });
  });
}

/** The databases write some queries differently, and each warehouse has runs of its own. */
function withoutSql(html: string): string {
  return html
    .replaceAll(/<code[^>]*>[^<]*<\/code>/g, '')
    .replaceAll(/run <span title="[^"]*">\w+<\/span>/g, '')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '');
}
