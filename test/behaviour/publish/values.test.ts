import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { encoderOf, type Values } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { storeHookEvents } from '../../../src/records/hook-events.ts';
import { digestOf } from '../../../src/warehouse/digest.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { ask, digestIn, lakeOf, rowsIn, tableIn } from '../../support/publish/lake.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { openTemporary } from '../../support/warehouse/open-temporary.ts';

const { tokensDailyByModel, userDaily } = tables;

/** A warehouse with one day of tokens by model. */
async function withModels(rows: readonly Values[], orgId = 'org_1') {
  const warehouse = await openTemporary();
  await commitDay(warehouse, commitOf({ orgId, rows: { tokens_daily_by_model: rows } }));
  return warehouse;
}

const NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.1,
  -1e-7,
  1e308,
  Number.MAX_VALUE,
  5e-324,
  2.2250738585072014e-308,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  2 ** 31,
  123456789.12345679,
  null,
];
const TEXTS = [
  '',
  ' ',
  '007',
  'NULL',
  "it's",
  'a"b\\c',
  '\u0001\u001b[31m\u007f',
  'line\nbreak\ttab\r',
  'é e\u0301 \u{1F600} \u{1F468}\u200D\u{1F469}\u200D\u{1F467} \u202Eright',
  '\uFFFD\uE000\uFFFF\u{10FFFF}',
  '__proto__',
  '=cmd()',
  `long ${'x'.repeat(70_000)}`,
];

describe('values', () => {
  test('are the same in the lake as in the warehouse', async () => {
    const rows = [
      ...NUMBERS.map((n, i): Values => [`n ${String(i).padStart(2, '0')}`, null, n, n, n, n, n, null]),
      ...TEXTS.map((text): Values => [`t ${text}`, text, 1, 1, 1, 1, 1, `{"x":${JSON.stringify(text)}}`]),
    ];
    const warehouse = await withModels(rows);
    const { lake } = await lakeOf(warehouse.path, { tables: [tokensDailyByModel] });
    const digests = await digestOf(warehouse);
    expect(await digestIn(lake, tokensDailyByModel)).toBe(digests.tables['tokens_daily_by_model']);
    const read = await rowsIn(lake, tokensDailyByModel);
    const numbers = read.filter((row) => String(row[2]).startsWith('n ')).map((row) => row[4]);
    expect(numbers).toEqual(NUMBERS.map((n) => (n === null ? null : n + 0)));
    expect(read.filter((row) => String(row[2]).startsWith('t ')).map((row) => row[3])).toEqual(
      expect.arrayContaining(TEXTS),
    );
  });

  test('that are all absent are NULL, in every nullable column', async () => {
    const warehouse = await openTemporary();
    const rows = { user_daily: Array.from({ length: 50 }, (_, n) => [`u ${n}`, ...Array(20).fill(null)]) };
    await commitDay(warehouse, commitOf({ stream: 'users', rows }));
    const { lake } = await lakeOf(warehouse.path, { tables: [userDaily] });
    const optional = Object.keys(userDaily.columns).filter((name) => !userDaily.key.includes(name));
    const [counts] = await ask(
      `SELECT ${optional.map((name) => `COUNT("${name}")`).join(', ')}, COUNT(*) FROM ${tableIn(lake, 'user_daily')}`,
    );
    expect(counts?.map(Number)).toEqual([...optional.map(() => 0), 50]);
  });

  test('of many row groups are found by any filter, with any repetition', { tags: 'ci/rare' }, async () => {
    const ids = ['\uE000', '\u{1F600}', 'a', 'Z', 'é'];
    const rows = Array.from({ length: 103_000 }, (_, n): Values => {
      const id = `${ids[n % ids.length]} ${n % 2 === 0 ? n : `${n}`.padStart(40, '0')}`;
      return [id, n % 3 === 0 ? null : `tier ${n % 7}`, n % 5 === 0 ? null : n, n % 11, n / 3, 1, 1, null];
    });
    const warehouse = await withModels(rows);
    const { lake } = await lakeOf(warehouse.path, { tables: [tokensDailyByModel] });
    const from = tableIn(lake, 'tokens_daily_by_model');
    const digests = await digestOf(warehouse);
    expect(await digestIn(lake, tokensDailyByModel)).toBe(digests.tables['tokens_daily_by_model']);
    for (const row of rows.filter((_, n) => n % 10_299 === 0)) {
      expect(await ask(`SELECT input_tokens FROM ${from} WHERE model_id = '${row[0]}'`)).toEqual([[row[3]]]);
    }
    const groups = await ask(
      `SELECT MAX(row_group_num_rows), COUNT(DISTINCT row_group_id) FROM parquet_metadata('${lake}/**/*.parquet')`,
    );
    expect(groups[0]?.map(Number)).toEqual([100_000, 2]);
  });

  test('in repeated runs of any length, with gaps, are read back unchanged', {
    tags: 'ci/rare',
  }, async () => {
    const runs = Array.from({ length: 160 }, (_, run) => Array.from({ length: run + 1 }, () => run)).flat();
    const rows = runs.map((run, n): Values => {
      const sparse = run % 3 === 0 ? null : (run % 2) * 0.5;
      return [`m ${String(n).padStart(5, '0')}`, `tier ${run}`, run, sparse, n % 17, 7, null, null];
    });
    const warehouse = await withModels(rows);
    const { lake } = await lakeOf(warehouse.path, { tables: [tokensDailyByModel] });
    const digests = await digestOf(warehouse);
    expect(rows.length).toBeGreaterThan(10_000);
    expect(await digestIn(lake, tokensDailyByModel)).toBe(digests.tables['tokens_daily_by_model']);
  });

  test('in lists of any length are read back unchanged, also with more values than rows', {
    tags: 'ci/rare',
  }, async () => {
    const users = Array.from({ length: 1_200 }, (_, n) => `u ${String(n).padStart(4, '0')}`);
    const languagesOf = (n: number) =>
      Array.from({ length: n % 41 }, (_, l) => `language ${String((l + n) % 60).padStart(2, '0')}`);
    const rows = {
      user_daily: users.map((id): Values => [id, ...Array(20).fill(null)]),
      user_daily_languages: users.flatMap((id, n) =>
        languagesOf(n)
          .toSorted()
          .map((language): Values => [id, language, null]),
      ),
    };
    const warehouse = await openTemporary();
    await commitDay(warehouse, commitOf({ stream: 'users', rows }));
    const { lake } = await lakeOf(warehouse.path, { tables: [userDaily] });
    const read = await ask(
      `SELECT to_json(languages)::VARCHAR FROM ${tableIn(lake, 'user_daily')} ORDER BY user_id`,
    );
    expect(rows.user_daily_languages.length).toBeGreaterThan(20_000);
    expect(read.map(([list]) => JSON.parse(String(list)))).toEqual(
      users.map((_, n) => languagesOf(n).toSorted()),
    );
  });

  test('of a wrong type are reported with their place: exit code 6, and nothing is replaced', async () => {
    const warehouse = await withModels([['m', null, 1, 1, 1, 1, 1, null]]);
    const { lake } = await lakeOf(warehouse.path);
    await changeRows(warehouse, {
      put: [
        { table: tokensDailyByModel, rows: [['org_1', '2026-02-01', 'm', null, 'many', 1, 1, 1, 1, null]] },
      ],
      remove: [],
    });
    const failure = await thrownBy(lakeOf(warehouse.path, { directory: lake, force: true }));
    expect(failure).toMatchObject({
      exitCode: 6,
      message:
        'publish tokens_daily_by_model.billable_tokens: the warehouse has "many" where a double belongs',
    });
    expect(await rowsIn(lake, tokensDailyByModel)).toEqual([
      ['org_1', '2026-02-01', 'm', null, 1, 1, 1, 1, 1, null],
    ]);
  });
});

describe('a table without rows', () => {
  test('is present with its columns', async () => {
    const warehouse = await openTemporary();
    const { lake, parquet } = await lakeOf(warehouse.path);
    expect(parquet?.tables.every(({ rows, written }) => rows === 0 && written === 1)).toBe(true);
    expect(await ask(`SELECT COUNT(*), SUM(tool_calls) FROM ${tableIn(lake, 'user_daily')}`)).toEqual([
      [0n, null],
    ]);
    expect(await rowsIn(lake, tables.exportRuns)).toEqual([]);
  });

  test('replaces its empty file once it has rows', async () => {
    const warehouse = await openTemporary();
    const { lake } = await lakeOf(warehouse.path, { tables: [tokensDailyByModel] });
    await commitDay(
      warehouse,
      commitOf({ rows: { tokens_daily_by_model: [['m', null, 1, 1, 1, 1, 1, null]] } }),
    );
    const { parquet } = await lakeOf(warehouse.path, { directory: lake, tables: [tokensDailyByModel] });
    expect(parquet?.tables[0]).toMatchObject({ written: 1, removed: 1, rows: 1 });
    expect(readdirSync(join(lake, 'tokens_daily_by_model'))).toEqual(['org_id=org_1']);
  });
});

describe('an organization', () => {
  const IDS = [
    'org_01JQ0000000000000000000000',
    '..',
    '.',
    '../../outside',
    '/etc',
    'a/b=c',
    'x=y',
    '50%',
    '%2F',
    'NULL',
    'null',
    '__HIVE_DEFAULT_PARTITION__',
    'a b',
    'a+b',
    '*?[x]{y}',
    `q'"q`,
    'line\nbreak',
    'é\u{1F600}',
    'Org',
    'org',
    '007',
    'x'.repeat(248),
  ];

  test('with any id is read back unchanged, and nothing is written outside of the lake', async () => {
    const warehouse = await openTemporary();
    for (const orgId of IDS) {
      await commitDay(warehouse, commitOf({ orgId, rows: { tokens_daily: [[1, 2, 3, 4, 5, null]] } }));
    }
    const parent = tempDir();
    const { lake, parquet } = await lakeOf(warehouse.path, {
      directory: join(parent, 'lake'),
      tables: [tables.tokensDaily],
    });
    expect(parquet?.tables[0]?.written).toBe(IDS.length);
    const read = await ask(
      `SELECT org_id FROM read_parquet('${lake}/tokens_daily/*/*/*.parquet', hive_types_autocast = false)`,
    );
    expect(read.map(([id]) => id).toSorted()).toEqual(IDS.toSorted());
    expect(readdirSync(parent)).toEqual(['lake']);
    expect(readdirSync(lake).toSorted()).toEqual(['_daywalk.json', '_daywalk.lock', 'tokens_daily']);
    expect(existsSync(join(lake, 'tokens_daily', `org_id=${IDS[0]}`, 'month=2026-02', 'data.parquet'))).toBe(
      true,
    );

    const again = await lakeOf(warehouse.path, { directory: lake, tables: [tables.tokensDaily] });
    expect(again.parquet?.tables[0]).toMatchObject({ written: 0, unchanged: IDS.length, removed: 0 });
  });

  test('that is unknown is NULL: hook events from before the first pull', async () => {
    const warehouse = await openTemporary();
    const event = {
      event_id: 'e-1',
      received_at: '2026-02-01T10:00:00.000Z',
      hook_event_name: 'Stop',
      session_id: null,
      cwd: null,
      message: null,
      reason: null,
      payload: '{}',
    };
    await storeHookEvents(warehouse, { orgId: '', rows: [event] });
    const { lake } = await lakeOf(warehouse.path);
    expect(await ask(`SELECT org_id, event_id, month FROM ${tableIn(lake, 'hook_events')}`)).toEqual([
      [null, 'e-1', '2026-02'],
    ]);
    expect(await rowsIn(lake, tables.hookEvents)).toEqual([
      encoderOf(tables.hookEvents)({ org_id: '', ...event }),
    ]);
  });

  test('with an id too long for a folder name is refused before anything is written', async () => {
    const orgId = '\u{1F600}'.repeat(80);
    const warehouse = await withModels([['m', null, 1, 1, 1, 1, 1, null]], orgId);
    const directory = join(tempDir(), 'lake');
    const failure = await thrownBy(lakeOf(warehouse.path, { directory }));
    expect(failure).toMatchObject({ exitCode: 2, message: expect.stringContaining('a name of 327 bytes') });
    expect(readdirSync(directory).toSorted()).toEqual(['_daywalk.json', '_daywalk.lock']);
  });
});
