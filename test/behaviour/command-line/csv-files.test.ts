import { execFileSync } from 'node:child_process';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { amount, day, flag, key, label, orgColumn, table } from '../../../schema/define.ts';
import type { RowOf } from '../../../schema/row.ts';
import { csvCommands } from '../../../src/cli/commands/csv-files.ts';
import { UsageError } from '../../../src/core/errors.ts';
import {
  amountCell,
  type CellParser,
  dayCell,
  optional,
  required,
  textCell,
} from '../../../src/csv-files/csv-columns.ts';
import {
  type Change,
  type LoadedFile,
  oneRowEach,
  type RowChanges,
  rowChanges,
  rowScreen,
} from '../../../src/csv-files/loaded-file.ts';
import { newestDayWithCredits } from '../../../src/csv-files/prices.ts';
import { type RowOfLine, rowStoreOf, storedRows } from '../../../src/csv-files/replace-rows.ts';
import { DAYS, ORG, storeCosts } from '../../support/money/random-costs.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const BYTES_MAX = 64 * 1024 * 1024;

test.each(['people', 'prices', 'budget', 'events'])(
  'daywalk %s load refuses a FIFO, a device, a folder and a large file before it reads them',
  async (group) => {
    const cwd = tempDir();
    execFileSync('mkfifo', [join(cwd, 'fifo.csv')]);
    writeFileSync(join(cwd, 'large.csv'), '');
    truncateSync(join(cwd, 'large.csv'), BYTES_MAX + 1);
    const irregular = 'it is not a regular file';
    for (const [file, message] of [
      ['fifo.csv', irregular],
      ['/dev/zero', irregular],
      ['.', irregular],
      ['large.csv', `it has ${BYTES_MAX + 1} bytes, more than ${BYTES_MAX}`],
    ] as const) {
      const { code, stdout, stderr } = await daywalkInProcess([group, 'load', file], { cwd });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(`daywalk: read ${file}: ${message}\n`);
      expect(stderr).toContain(
        'hint: give the path of a CSV file, 64 MiB at most; a FIFO, a device or a folder',
      );
    }
  },
);

const outings = table({
  name: 'outings',
  doc: 'What happens at the company.',
  role: 'dimension',
  by: { ...orgColumn, date: day('day'), text: key('what happens') },
  values: { team: label('team'), closed: flag('nobody works'), will_come: amount('people who will come') },
});

type OutingRow = RowOf<typeof outings>;

/** What a load has changed and found. */
interface FoundOutings extends RowChanges<OutingRow> {
  /** Number of outings after the newest loaded day. */
  readonly ahead: number;
}

const yesCell: CellParser<1> = (text) => {
  if (text === 'yes') return 1;
  throw new UsageError('is not yes', { hint: 'write yes, or leave it empty' });
};

const columns = {
  date: required(dayCell),
  text: required(textCell),
  team: optional(textCell),
  closed: optional(yesCell),
  will_come: required(amountCell),
} as const;

const store = rowStoreOf(outings);

const outingsFile: LoadedFile<{
  columns: typeof columns;
  row: OutingRow;
  line: RowOfLine<OutingRow>;
  change: Change<OutingRow>;
  found: FoundOutings;
  listed: OutingRow;
}> = {
  noun: ['outing', 'outings'],
  format: { columns },
  store,
  linesOf: (rows, { orgId }) => rows.map(({ line, cells }) => ({ line, row: { org_id: orgId, ...cells } })),
  compared: oneRowEach(({ date, text }) => `${date} ${text}`),
  *find({ orgId, lines, changes }) {
    const newest = (yield* newestDayWithCredits(orgId)) ?? '';
    return { ...rowChanges(changes), ahead: lines.filter(({ row }) => row.date > newest).length };
  },
  list: (orgId) => storedRows(store, orgId),
  written: ({ closed, ...outing }) => ({ ...outing, closed: closed === 1 ? 'yes' : null }),
  screen: {
    ...rowScreen<OutingRow>({
      columns: ['date', 'outing', 'team', 'closed', { header: 'will come', align: 'right' }],
      cellsOf: ({ date, text, team, closed, will_come }, words) => [
        date,
        words.text(text),
        words.text(team),
        closed === 1 ? 'yes' : null,
        will_come,
      ],
    }),
    sizeOf: ({ added, changed, unchanged }) => added + changed + unchanged,
    whenEmpty: 'no outings are loaded',
  },
};

test('a further kind of CSV file needs a description and its help, and is loaded, compared, shown and listed', async () => {
  const warehouse = await open(sqlite);
  await storeCosts(warehouse.place, {
    uses: DAYS.map((used) => ({ user: 'u-1', day: used, tokens: 1 })),
    teams: [],
    prices: [],
    settled: new Set(DAYS),
  });
  await warehouse.place.execute(
    'CREATE TABLE outings (org_id TEXT, date TEXT, text TEXT, team TEXT, closed INTEGER, will_come REAL, PRIMARY KEY (org_id, date, text))',
  );
  const { load, list } = csvCommands({
    group: { name: 'outings', summary: 'loads or lists what happens' },
    rows: 'outings',
    content: 'what happens, and when',
    columns: 'date, text, team, closed, will_come.',
    listed: '',
    example: 'outings by day',
    settings: [],
    kind: async () => outingsFile,
  });
  const cwd = tempDir();
  const daywalk = async (...args: string[]) => {
    const line = ['outings', ...args, '--warehouse', warehouse.location, '--log', 'silent'];
    const { code, stdout, stderr } = await daywalkInProcess(line, { cwd, commands: [load, list] });
    return { code, stdout, stderr };
  };
  const write = (...lines: string[]) =>
    writeFileSync(join(cwd, 'outings.csv'), ['date,text,team,closed,will_come', ...lines, ''].join('\n'));
  const help = await daywalkInProcess(['outings', 'load', '--help'], { commands: [load, list] });
  expect(help.stdout).toContain('Replaces all outings of an organization by those of a CSV file');

  expect((await daywalk('list')).stdout).toBe('no outings are loaded\n');
  write('2026-02-16,carnival,,yes,0', '2026-03-20,offsite,core,,1200');
  expect(await daywalk('load', 'outings.csv', '--dry-run')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('outings: dry run, nothing is stored; 2 outings in the file\n  2 added,'),
  });
  expect((await daywalk('list')).stdout).toBe('no outings are loaded\n');
  await daywalk('load', 'outings.csv');
  write('2026-03-20,offsite,core,,1300');
  const changed = await daywalk('load', 'outings.csv', '--json');
  expect(JSON.parse(changed.stdout)).toEqual({
    ...{ org_id: ORG, dry_run: false, added: 0, removed: 1, changed: 1, unchanged: 0, ahead: 1 },
    changes: [
      { before: outingOf({ date: '2026-02-16', text: 'carnival', closed: 1 }), after: null },
      { before: outingOf({ will_come: 1200 }), after: outingOf({ will_come: 1300 }) },
    ],
  });
  const again = await daywalk('load', 'outings.csv');
  expect(again.stdout).toContain('outings: nothing to do; stored already: 1 outing\n');
  expect((await daywalk('list', '--csv')).stdout).toBe(
    'date,text,team,closed,will_come\n2026-03-20,offsite,core,,1300\n',
  );
  expect((await daywalk('list')).stdout).toMatch(/^DATE .* WILL COME\n2026-03-20 .* 1,300\n$/);

  write('2026-03-20,offsite,core,maybe,1');
  expect(await daywalk('load', 'outings.csv')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('outings.csv:2: closed "maybe" is not yes'),
  });
  write();
  expect((await daywalk('load', 'outings.csv')).code).toBe(2);
  expect((await daywalk('load', 'outings.csv', '--allow-empty')).code).toBe(0);
  expect(JSON.parse((await daywalk('list', '--json')).stdout)).toEqual({ org_id: ORG, outings: [] });
});

function outingOf(differences: Partial<OutingRow>): OutingRow {
  const team = differences.text === 'carnival' ? null : 'core';
  return {
    org_id: ORG,
    date: '2026-03-20',
    text: 'offsite',
    team,
    closed: null,
    will_come: 0,
    ...differences,
  };
}
