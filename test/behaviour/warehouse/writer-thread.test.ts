// @module-tag database-specific

import { once } from 'node:events';
import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Values } from '../../../schema/row.ts';
import { failUnit, readUnits } from '../../../src/ledger/ledger.ts';
import { countRestatements } from '../../../src/ledger/restatements.ts';
import { dateOf, dayKey } from '../../../src/units/unit.ts';
import { digestOf } from '../../../src/warehouse/digest.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { daywalk, envOf } from '../../support/process/daywalk-process.ts';
import { WITHOUT_THREADS } from '../../support/process/without-threads.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { type CommitSpec, commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { openTemporary, query } from '../../support/warehouse/open-temporary.ts';

/** Enough rows that the day after is written by a thread. */
const MANY = 5_000;

/** Texts that JSON escapes, and numbers at the ends of what is exact. */
const TEXTS = [
  '',
  'null',
  '"',
  '\\',
  'a,b',
  '],["org_1",',
  '\u0000',
  '\ud800',
  '\u2028',
  '🙂',
  'line\nbreak',
];

const user = (id: string, n: number, text: string | null = null): Values => [
  id,
  text,
  n,
  Number.MAX_SAFE_INTEGER,
  0.1,
  null,
  -5,
  null,
];
const rowsOf = (count: number) => Array.from({ length: count }, (_, n) => user(`user ${n}`, n));
const day = (date: string, users: readonly Values[], spec: CommitSpec = {}) =>
  commitOf({ ...spec, stream: 'tokens', day: date, rows: { tokens_daily_by_user: users } });

/** The first message of a thread, which says that it holds the file; until then rows are written here. */
const firstMessages = new WeakMap<Worker, Promise<unknown>>();

/** The threads that begin while the test runs. */
function threads(): Worker[] {
  const begun: Worker[] = [];
  const note = (worker: Worker) => {
    begun.push(worker);
    firstMessages.set(worker, once(worker, 'message'));
  };
  process.on('worker', note);
  onTestFinished(() => void process.off('worker', note));
  return begun;
}

/** A warehouse whose thread writes from now on. */
async function withThread(path = tempFile()) {
  const begun = threads();
  const warehouse = await openTemporary(path);
  await commitDay(warehouse, day('2026-02-01', rowsOf(MANY)));
  await commitDay(warehouse, day('2026-02-02', [user('a', 1)]));
  // Node reports the exit of a thread in a later round of the event loop.
  await expect.poll(() => begun).toHaveLength(1);
  const [thread] = begun;
  if (thread === undefined) throw new Error('there is no thread');
  await firstMessages.get(thread);
  return { warehouse, thread };
}

/** Messages sent to the thread, so that a test can prove that it was used. */
function asked(thread: Worker): unknown[] {
  const messages: unknown[] = [];
  const post = thread.postMessage.bind(thread);
  thread.postMessage = (message: unknown) => {
    messages.push(message);
    post(message);
  };
  return messages;
}

describe('the thread that writes', () => {
  it('starts only if there is much to write', async () => {
    const begun = threads();
    const warehouse = await openTemporary();
    for (let n = 1; n <= 9; n += 1) await commitDay(warehouse, day(`2026-02-0${n}`, rowsOf(100)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toEqual([]);
  });

  it('is not needed if the process may not start threads', { tags: 'ci/rare' }, async () => {
    const rig = await createRig({ users: 250 });
    const { code, stderr } = await daywalk(['run'], { env: envOf(rig), nodeArgs: WITHOUT_THREADS });
    expect(code, stderr).toBe(0);
    expect(Number(await rig.value('SELECT SUM(rows) FROM export_units'))).toBeGreaterThan(MANY);
  });

  it('stores the same as without it', { tags: 'ci/rare' }, async () => {
    const { warehouse, thread } = await withThread();
    const messages = asked(thread);
    const commits = [
      day('2026-02-03', [...TEXTS.map((text, n) => user(`user ${text}`, n, text)), ...rowsOf(700)]),
      day('2026-02-01', rowsOf(MANY - 1)),
      day('2026-02-02', [], { state: 'awaiting' }),
    ];
    const outcomes = await warehouse.commitDays(commits);
    expect(messages).toHaveLength(1);
    expect(outcomes).toMatchObject([
      { rowsWritten: 700 + TEXTS.length, restated: false },
      { rowsWritten: 1, restated: true },
      { rowsWritten: 1, restated: true },
    ]);
    expect(await warehouse.commitDays(commits)).toMatchObject(
      commits.map(() => ({ rowsWritten: 0, restated: false })),
    );
    const plain = await openTemporary();
    for (const commit of [day('2026-02-01', rowsOf(MANY)), day('2026-02-02', [user('a', 1)])])
      await commitDay(plain, commit);
    await plain.commitDays(commits);
    expect(await digestOf(warehouse)).toEqual(await digestOf(plain));
    expect(await countRestatements(warehouse)).toBe(2);
  });

  it('reports why a commit was refused, and continues', { tags: 'ci/rare' }, async () => {
    const { warehouse, thread } = await withThread();
    const messages = asked(thread);
    const other = new Sqlite(warehouse.path);
    other.exec('ALTER TABLE tokens_daily_by_user RENAME TO away');
    expect(await thrownBy(commitDay(warehouse, day('2026-02-03', rowsOf(1))))).toMatchObject({
      name: 'StorageError',
      exitCode: 6,
      message: expect.stringMatching(/^commit 1 units to .*no such table/),
      hint: expect.stringMatching(/\S/),
    });
    other.exec('ALTER TABLE away RENAME TO tokens_daily_by_user');
    other.close();
    const same = { ...day('2026-02-02', []), unchanged: { rows: 9 } };
    expect(await thrownBy(commitDay(warehouse, same))).toMatchObject({ name: 'ClaimLostError' });
    expect(await commitDay(warehouse, day('2026-02-03', rowsOf(2)))).toMatchObject({ rowsWritten: 2 });
    expect(messages).toHaveLength(3);
  });

  it('waits for a foreign program that writes', { tags: 'ci/rare' }, async () => {
    const { warehouse } = await withThread();
    const other = new Sqlite(warehouse.path);
    other.exec('BEGIN IMMEDIATE');
    let isDone = false;
    const commit = commitDay(warehouse, day('2026-02-03', rowsOf(1))).finally(() => {
      isDone = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(isDone).toBe(false);
    other.exec('COMMIT');
    other.close();
    expect(await commit).toMatchObject({ rowsWritten: 1 });
  });

  it('takes turns with writes of the main thread', { tags: 'ci/rare' }, async () => {
    const { warehouse } = await withThread();
    const { rule, ...third } = day('2026-02-03', []);
    const unit = dayKey('org_1', third);
    const failure = { unit, requests: 1, pulledAt: new Date(), rule } as const;
    await Promise.all([
      commitDay(warehouse, day('2026-02-03', rowsOf(900))),
      failUnit(warehouse, { ...failure, state: 'failed', error: 'first' }),
      commitDay(warehouse, day('2026-02-03', rowsOf(901))),
      failUnit(warehouse, { ...failure, state: 'failed', error: 'second' }),
    ]);
    const [known] = (await readUnits(warehouse, 'org_1')).filter((one) => dateOf(one) === third.day);
    expect(known).toMatchObject({ attempts: 4, rows: 901, state: 'failed', lastError: 'second' });
  });

  testVariants([
    ['removed', (path: string) => rmSync(path), 'the file was removed or moved'],
    [
      'replaced',
      (path: string) => {
        writeFileSync(`${path}.new`, '');
        renameSync(`${path}.new`, path);
      },
      'another file was put in its place',
    ],
  ])('reports that the file was %s, and stores nothing more', async (_, disturb, message) => {
    const { warehouse, thread } = await withThread();
    const messages = asked(thread);
    disturb(warehouse.path);
    expect(await thrownBy(commitDay(warehouse, day('2026-02-03', rowsOf(9))))).toMatchObject({
      name: 'StorageError',
      exitCode: 6,
      message: expect.stringContaining(message),
      hint: expect.stringMatching(/\S/),
    });
    expect(messages).toHaveLength(1);
    expect(existsSync(warehouse.path) ? statSync(warehouse.path).size : 0).toBe(0);
    expect(await thrownBy(warehouse.close())).toMatchObject({ name: 'StorageError', exitCode: 6 });
  });

  it('leaves only one file, also when it is closed during its work', { tags: 'ci/rare' }, async () => {
    const { warehouse } = await withThread();
    const commit = commitDay(warehouse, day('2026-02-03', rowsOf(3_000)));
    await warehouse.close();
    await commit;
    for (const suffix of ['-wal', '-shm']) expect(existsSync(warehouse.path + suffix), suffix).toBe(false);
    expect(query(warehouse.path, 'SELECT COUNT(*) AS n FROM tokens_daily_by_user')).toEqual([
      { n: MANY + 1 + 3_000 },
    ]);
  });

  it('ends the run when it fails, and loses no stored row', { tags: 'ci/rare' }, async () => {
    const { warehouse, thread } = await withThread();
    const commit = commitDay(warehouse, day('2026-02-03', rowsOf(40_000)));
    await thread.terminate();
    const failure = {
      name: 'StorageError',
      exitCode: 6,
      effect: 'run',
      message: expect.stringMatching(/daywalk\.db: the thread that writes failed/),
      hint: expect.stringMatching(/\S/),
    };
    expect(await thrownBy(commit)).toMatchObject(failure);
    expect(await thrownBy(commitDay(warehouse, day('2026-02-04', rowsOf(1))))).toMatchObject(failure);
    await warehouse.close();
    const next = await openTemporary(warehouse.path);
    expect((await readUnits(next, 'org_1')).map((unit) => [dateOf(unit), unit.rows])).toEqual([
      ['2026-02-01', MANY],
      ['2026-02-02', 1],
    ]);
    expect(await commitDay(next, day('2026-02-03', rowsOf(2)))).toMatchObject({ rowsWritten: 2 });
  });
});
