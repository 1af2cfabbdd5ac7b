import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { tables } from '../../../schema/tables.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { publishLake } from '../../../src/publish/publish.ts';
import type { Warehouse } from '../../../src/warehouse/port.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { daywalk } from '../../support/process/daywalk-process.ts';
import { WITHOUT_THREADS } from '../../support/process/without-threads.ts';
import { ask, filesIn, lakeOf, tableIn } from '../../support/publish/lake.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { commitOf } from '../../support/warehouse/commit-of.ts';
import { openTemporary } from '../../support/warehouse/open-temporary.ts';

const MONTHS = ['2026-02', '2026-03', '2026-04', '2026-05'];
/** Enough rows of a month that a second thread writes some of the months. */
const MANY = 9_000;
const MODELS = [tables.tokensDailyByModel];

/** The path of a warehouse with months of so many rows, in which every number is 1. */
async function filled(rows = MANY): Promise<string> {
  const warehouse = await openTemporary();
  const models = Array.from({ length: rows }, (_, n) => [`model ${n}`, null, 1, 1, 1, 1, 1, null]);
  for (const month of MONTHS) {
    await warehouse.commitDay(commitOf({ day: `${month}-01`, rows: { tokens_daily_by_model: models } }));
  }
  // The thread that wrote them is over with it, and Node has told of it.
  await warehouse.close();
  await new Promise((resolve) => setImmediate(resolve));
  return warehouse.path;
}

/** Makes every number of a warehouse 2, as another program would. */
function change(path: string): void {
  const db = new Sqlite(path);
  db.exec('UPDATE tokens_daily_by_model SET billable_tokens = 2');
  db.close();
}

/** The numbers of a lake, each with the months that have it. */
function numbersIn(lake: string) {
  return ask(
    `SELECT billable_tokens, COUNT(*)::INTEGER, COUNT(DISTINCT month)::INTEGER
     FROM ${tableIn(lake, 'tokens_daily_by_model')} GROUP BY ALL ORDER BY ALL`,
  );
}

/** The threads that begin while the test runs; each is told of at once. */
function threads(tell: (thread: Worker) => void = () => undefined): Worker[] {
  const begun: Worker[] = [];
  const note = (thread: Worker) => {
    begun.push(thread);
    tell(thread);
  };
  process.on('worker', note);
  onTestFinished(() => void process.off('worker', note));
  return begun;
}

/**
 * Publishes the models of a warehouse; this thread begins to read them when the other one has answered or is over, so
 * that it has something to write however slow the machine is.
 */
async function publishBeside(
  path: string,
  directory = join(tempDir(), 'lake'),
  onUnitsRead: () => void = () => undefined,
): Promise<string> {
  const opened = await openTemporary(path);
  const answered = new Promise<void>((resolve) => {
    threads((thread) => {
      thread.on('message', ({ type }) => {
        if (type !== 'ready') resolve();
      });
      thread.on('exit', () => resolve());
    });
  });
  const warehouse: Warehouse = {
    ...opened,
    units: async (orgId) => {
      const units = await opened.units(orgId);
      onUnitsRead();
      return units;
    },
    scan: async function* (...call) {
      await answered;
      yield* opened.scan(...call);
    },
  };
  const source = { warehouse, clock: systemClock(), signal: new AbortController().signal };
  await publishLake(source, { directory, tables: MODELS, force: false });
  return directory;
}

/** Does something when a thread has written its first partition. */
function onceWritten(thread: Worker, work: () => void): void {
  const hear = (reply: { readonly type: string }) => {
    if (reply.type !== 'written') return;
    thread.off('message', hear);
    work();
  };
  thread.on('message', hear);
}

function contentOf(lake: string): Record<string, string> {
  return Object.fromEntries(
    Object.keys(filesIn(lake)).map((path) => [path, readFileSync(join(lake, path), 'hex')]),
  );
}

const partsIn = (lake: string) => readdirSync(lake).filter((name) => name.endsWith('.part'));

describe('the second thread of a publish', () => {
  test('is not begun where there is little to write', async () => {
    const path = await filled(4_000);
    const begun = threads();
    await lakeOf(path, { tables: MODELS });
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toHaveLength(0);
  });

  test('is not begun where only one partition of many rows has changed', async () => {
    const warehouse = await openTemporary(await filled());
    const begun = threads();
    const { lake } = await lakeOf(warehouse.path, { tables: MODELS });
    expect(begun.splice(0)).toHaveLength(1);
    const rows = { tokens_daily_by_model: [['m', null, 3, 3, 3, 3, 3, null]] };
    await warehouse.commitDay(commitOf({ day: '2026-02-02', rows }));
    const { parquet } = await lakeOf(warehouse.path, { directory: lake, tables: MODELS });
    expect(parquet?.tables[0]).toMatchObject({ written: 1, unchanged: 3 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toHaveLength(0);
  });

  test('writes the same bytes as one thread alone, which does where the process may have no threads', async () => {
    const path = await filled();
    let written = 0;
    threads((thread) =>
      thread.on('message', ({ type }) => {
        written += Number(type === 'written');
      }),
    );
    const lake = await publishBeside(path);
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThan(MONTHS.length);

    const alone = join(tempDir(), 'lake');
    const { code, stderr } = await daywalk(
      ['publish', '--warehouse', path, '--parquet', alone, '--tables', 'tokens_daily_by_model'],
      { nodeArgs: WITHOUT_THREADS },
    );
    expect(code, stderr).toBe(0);
    expect(contentOf(lake)).toEqual(contentOf(alone));
    expect(Object.keys(contentOf(lake))).toHaveLength(MONTHS.length);
    expect(readFileSync(join(lake, '_daywalk.json'), 'utf8')).toBe(
      readFileSync(join(alone, '_daywalk.json'), 'utf8'),
    );
  });

  test('closes its connection: one file is left of the warehouse', async () => {
    const path = await filled();
    const begun = threads();
    await lakeOf(path, { tables: MODELS });
    expect(begun).toHaveLength(1);
    for (const suffix of ['-wal', '-shm']) expect(existsSync(path + suffix), suffix).toBe(false);
  });
});

describe('a publish by two threads is of one state', () => {
  test('when something is committed after it has begun, and before the second thread reads', async () => {
    const path = await filled();
    const replies: string[] = [];
    const begun = threads((thread) => thread.on('message', ({ type }) => void replies.push(type)));
    const directory = await publishBeside(path, undefined, () => change(path));
    expect(await numbersIn(directory)).toEqual([[1, MONTHS.length * MANY, MONTHS.length]]);
    // It was begun, and not asked: it would have answered with what is new.
    expect(begun).toHaveLength(1);
    expect(replies).toEqual(['ready']);
  });

  test('when another file is put into the place of the warehouse before the second thread opens it', async () => {
    const path = await filled();
    const other = join(tempDir(), 'other.db');
    copyFileSync(path, other);
    change(other);
    const lake = await publishBeside(path, undefined, () => renameSync(other, path));
    expect(await numbersIn(lake)).toEqual([[1, MONTHS.length * MANY, MONTHS.length]]);
  });

  test('when something is committed between the partitions of the second thread', async () => {
    const path = await filled();
    let changes = 0;
    threads((thread) =>
      onceWritten(thread, () => {
        change(path);
        changes += 1;
      }),
    );
    const lake = await publishBeside(path);
    expect(changes).toBe(1);
    expect(await numbersIn(lake)).toEqual([[1, MONTHS.length * MANY, MONTHS.length]]);
    await lakeOf(path, { directory: lake, tables: MODELS, force: true });
    expect(await numbersIn(lake)).toEqual([[2, MONTHS.length * MANY, MONTHS.length]]);
  });
});

describe('a second thread that fails', () => {
  test('before it has begun is done without', async () => {
    const path = await filled();
    const begun = threads((thread) => void thread.terminate());
    const { lake } = await lakeOf(path, { tables: MODELS });
    expect(begun).toHaveLength(1);
    expect(await numbersIn(lake)).toEqual([[1, MONTHS.length * MANY, MONTHS.length]]);
  });

  test('in the middle ends the publish with exit code 6 and the path; the next one does the rest', async () => {
    const path = await filled();
    const directory = join(tempDir(), 'lake');
    let isFailing = true;
    threads((thread) => {
      const post = thread.postMessage.bind(thread);
      thread.postMessage = (request: { readonly type: string }) => {
        post(request);
        if (isFailing && request.type === 'write') void thread.terminate();
      };
    });
    expect(await thrownBy(publishBeside(path, directory))).toMatchObject({
      exitCode: 6,
      message: expect.stringMatching(/tokens_daily_by_model.*the thread that writes it failed/),
      hint: expect.stringMatching(/run again/),
    });
    expect(partsIn(directory)).toEqual([]);
    isFailing = false;
    await lakeOf(path, { directory, tables: MODELS });
    expect(await numbersIn(directory)).toEqual([[1, MONTHS.length * MANY, MONTHS.length]]);
  });

  test('because its disk is full ends the publish as a full disk does', async () => {
    const path = await filled();
    const directory = tempDir();
    symlinkSync('/dev/full', join(directory, '_daywalk.2.part'));
    expect(await thrownBy(publishBeside(path, directory))).toMatchObject({
      exitCode: 6,
      message: expect.stringMatching(/tokens_daily_by_model.*data\.parquet: ENOSPC/),
      hint: expect.stringContaining('free space'),
    });
    expect(partsIn(directory)).toEqual([]);
    await lakeOf(path, { directory, tables: MODELS });
    expect(await numbersIn(directory)).toEqual([[1, MONTHS.length * MANY, MONTHS.length]]);
  });

  test('because a row cannot be written names the row, as one thread does', async () => {
    const path = await filled();
    const db = new Sqlite(path);
    db.exec("UPDATE tokens_daily_by_model SET billable_tokens = 'much'");
    db.close();
    const failure = await thrownBy(lakeOf(path, { tables: MODELS }));
    expect(failure).toMatchObject({
      exitCode: 6,
      message: expect.stringMatching(/billable_tokens.*"much".*double/),
    });
  });
});
