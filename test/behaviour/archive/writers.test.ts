import { spawn } from 'node:child_process';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, test, vi } from 'vitest';
import { ArchiveFile } from '../../../src/archive/archive-file.ts';
import { verifyArchive } from '../../../src/archive/damage.ts';
import { pruneArchive } from '../../../src/archive/prune.ts';
import { forgetSwept, sweepArchived } from '../../../src/archive/sweep-answers.ts';
import { WriteQueue } from '../../../src/archive/writers.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { contentsOf } from '../../support/archive/archived-rig.ts';
import { rawTexts } from '../../support/archive/raw-texts.ts';
import {
  type ArchiveWarehouse,
  DAY,
  emptyWarehouse,
  keep,
  NOW,
  opened,
  PATIENCE,
} from '../../support/archive/small-archive.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const OFTEN = 40;
const WRITER = join(import.meta.dirname, '../../support/archive/write-answers.ts');
const HOUR_MS = 3_600_000;

const newPath = () => join(tempDir(), 'archive.db');
const prune = (path: string, before = NOW) => pruneArchive(path, { before, isDryRun: false, ...PATIENCE });
const erase = (path: string, changed: { isDryRun?: boolean; warehouse?: ArchiveWarehouse } = {}) =>
  sweepArchived(path, {
    ...{ orgId: 'org_1', people: null, contentOf: () => '', isDryRun: false, dropsDamaged: false },
    ...{ ...PATIENCE, warehouse: emptyWarehouse() },
    ...changed,
  });

function secretsIn(path: string, word: string): string[] {
  return rawTexts(path).flatMap(([place, text]) => (text.includes(word) ? [place] : []));
}

/** Counts transactions that are committed in this process. */
function countTransactions(): { count(): number } {
  const spy = vi.spyOn(Sqlite.prototype, 'transaction');
  return { count: () => spy.mock.calls.length };
}

describe('the answers of a run', () => {
  test('share a transaction: eight of them, or what has come within 200 ms', async () => {
    const slept: number[] = [];
    let wake: () => void = () => undefined;
    const clock: Clock = {
      ...PATIENCE.clock,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          slept.push(ms);
          wake = resolve;
          signal?.addEventListener('abort', () => reject(new Error('enough')));
        }),
    };
    const archive = await opened(newPath(), clock);
    const transactions = countTransactions();
    const eight = Array.from({ length: 8 }, (_, index) => keep(archive, { text: `{"n":${index}}` }));
    await Promise.all(eight);
    // The outcomes of the eight wait for the next transaction.
    expect(transactions.count()).toBe(1);
    let isKept = false;
    const added = vi.spyOn(WriteQueue.prototype, 'add');
    const single = keep(archive, { text: '{"n":9}' }).then(() => {
      isKept = true;
    });
    // It waits in the queue. Woken before that, the queue would go to sleep once more.
    await vi.waitFor(() => expect(added).toHaveBeenCalledOnce(), { timeout: 20_000 });
    await PATIENCE.clock.sleep(20);
    expect([isKept, new Set(slept)]).toEqual([false, new Set([200])]);
    wake();
    await single;
    expect(transactions.count()).toBe(2);
    await archive.close();
    vi.restoreAllMocks();
  });

  test('of four runs at a time are all there, and the same text is kept once', async () => {
    const path = newPath();
    const runs = await Promise.all([1, 2, 3, 4].map(() => opened(path)));
    await Promise.all(
      runs.flatMap((run, index) =>
        Array.from({ length: OFTEN }, (_, n) =>
          keep(run, { runId: `run_${index}`, text: `{"n":${n % 10}}` }),
        ),
      ),
    );
    for (const run of runs) await run.close();
    const check = await verifyArchive(path);
    expect(check).toMatchObject({ findings: [], answers: 4 * OFTEN, objects: 10, undecided: 0 });
  });

  test('of four processes at a time are all there, and none of them finds the file busy', {
    tags: 'ci/variant',
  }, async () => {
    const path = newPath();
    const ends = await Promise.all(
      ['a', 'b', 'c', 'd'].map(
        (name) =>
          new Promise<string>((resolve) => {
            const child = spawn(process.execPath, [WRITER, path, name, `${OFTEN}`]);
            let said = '';
            child.stderr.setEncoding('utf8').on('data', (text: string) => {
              said += text;
            });
            child.on('close', (code) => resolve(`${code} ${said}`));
          }),
      ),
    );
    expect(ends).toEqual(['0 ', '0 ', '0 ', '0 ']);
    const check = await verifyArchive(path);
    expect(check).toMatchObject({ findings: [], answers: 4 * OFTEN, objects: 10, undecided: 0 });
  });

  test('know what the same run has committed before it is written', async () => {
    const archive = await opened(newPath());
    const unit = { orgId: 'org_1', stream: 'users', day: DAY } as const;
    await keep(archive, { content: 'a'.repeat(64) });
    expect(archive.holds(unit, 'a'.repeat(64))).toBe(true);
    expect(archive.holds(unit, 'b'.repeat(64))).toBe(false);
    await keep(archive, { content: 'b'.repeat(64), outcome: 'dropped' });
    expect(archive.holds(unit, 'a'.repeat(64))).toBe(true);
    await archive.close();
  });

  test('are refused once somebody of their organization was erased from the archive', async () => {
    const path = newPath();
    const [run, other] = [await opened(path), await opened(path)];
    await keep(run, { text: '{"who":"ada"}' });
    const entry = {
      org_id: 'org_1',
      kind: 'user',
      subject_hmac: 'x',
      pseudonym: 'y',
      erased_at: '2026-02-01T00:00:00.000Z',
    };
    const select = vi.fn().mockResolvedValueOnce([entry]).mockResolvedValue([]);
    const transact = async () => undefined as never;
    await erase(path, { warehouse: { ...emptyWarehouse(), select, transact } });
    await keep(other, { orgId: 'org_2' });
    await expect(keep(run, { text: '{"who":"ada"}' })).rejects.toMatchObject({ exitCode: 75 });
    await run.close();
    await other.close();
    expect((await contentsOf(path)).answers.map(({ org }) => org)).toEqual(['org_2']);
    // A run that begins later knows the list.
    const next = await opened(path, undefined, await open(await sqlite.migrated()));
    await keep(next);
    await next.close();
  });

  test('may come while the archive is thinned out or swept, and need an object that is not needed otherwise', async () => {
    const path = newPath();
    const run = await opened(path);
    const at = (hour: number) => new Date(NOW.getTime() + hour * HOUR_MS);
    await keep(run, { text: '{"old":1}', at: at(0) });
    await keep(run, { text: '{"new":1}', at: at(1) });
    // Prune has read the archive, and now a run notes the old rows again.
    const transact = ArchiveFile.prototype.transact;
    let isFirst = true;
    vi.spyOn(ArchiveFile.prototype, 'transact').mockImplementation(async function (
      this: ArchiveFile,
      doing,
      ...rest
    ) {
      if (doing.startsWith('remove') && isFirst) {
        isFirst = false;
        await keep(run, { text: '{"old":1}', at: at(3), outcome: null });
      }
      return transact.call(this, doing, ...rest);
    });
    await vi.waitFor(async () =>
      expect((await contentsOf(path)).answers.map(({ outcome }) => outcome)).toEqual([
        'committed',
        'committed',
      ]),
    );
    const pruned = await prune(path, at(2));
    vi.restoreAllMocks();
    expect(isFirst).toBe(false);
    expect(pruned).toMatchObject({ answersRemoved: 1, objectsRemoved: 1 });
    await run.close();
    expect(await verifyArchive(path)).toMatchObject({ findings: [], answers: 2, objects: 2 });
  });
});

describe('an erasure', () => {
  test('leaves no byte of an organization in any page, and keeps the rows of others', async () => {
    const path = newPath();
    const run = await opened(path);
    for (let index = 0; index < 20; index += 1) {
      await keep(run, { orgId: 'org_1', text: `{"secret":${index}${'0'.repeat(index * 2_000)}}` });
      await keep(run, { orgId: 'org_2', text: `{"other":${index}}` });
    }
    // Too large for one page, and nothing that can be compressed.
    const noise = Array.from({ length: 40_000 }, (_, n) => ((n * 7919) % 65_521).toString(36)).join('');
    await keep(run, { orgId: 'org_1', text: `{"secret":"${noise}"}` });
    await run.close();
    expect(secretsIn(path, 'secret').length).toBeGreaterThan(20);
    expect(await erase(path, { isDryRun: true })).toMatchObject({ answers: 21, objects: 21, dropped: 0 });
    expect(secretsIn(path, 'secret').length).toBeGreaterThan(20);
    expect(await erase(path)).toMatchObject({ answers: 21, objects: 21, dropped: 0 });
    await forgetSwept(path, PATIENCE);
    expect(secretsIn(path, 'secret')).toEqual([]);
    expect(secretsIn(path, 'org_1')).toEqual([]);
    expect(secretsIn(path, '"other"').length).toBeGreaterThan(0);
    expect(await verifyArchive(path)).toMatchObject({ findings: [], answers: 20, unusedBytes: 0 });
    expect(await erase(path)).toMatchObject({ answers: 0, objects: 0, dropped: 0 });
  });

  test('ends with 75 while a program reads the archive, and a repetition ends it', async () => {
    const path = newPath();
    const run = await opened(path);
    await keep(run, { text: '{"secret":1}' });
    await run.close();
    const reader = new Sqlite(path, { readonly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM answers').get();
    await erase(path);
    await expect(forgetSwept(path, PATIENCE)).rejects.toMatchObject({ exitCode: 75 });
    expect(secretsIn(path, 'secret')).not.toEqual([]);
    reader.close();
    await forgetSwept(path, PATIENCE);
    expect(secretsIn(path, 'secret')).toEqual([]);
  });

  test('is done by one process at a time, as thinning out is', async () => {
    const path = newPath();
    await (await opened(path)).close();
    const { tryFileLock } = await import('../../../src/core/sqlite-files.ts');
    const lock = tryFileLock(`${path}.lock`);
    await expect(erase(path)).rejects.toMatchObject({ exitCode: 75 });
    await expect(prune(path)).rejects.toMatchObject({ exitCode: 75 });
    lock?.release();
    await prune(path);
  });
});
