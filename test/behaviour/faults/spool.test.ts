// @module-tag campaign/faults
// @module-tag campaign/chaos

import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { encodeRecord } from '../../../src/hooks/spool.ts';
import { BUSY_MACHINE_MS } from '../../support/clock/busy-machine.ts';
import { smallRig, UNTIL } from '../../support/faults/three-day-walk.ts';
import { receive } from '../../support/hooks/receive-and-drain.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf, startDaywalk } from '../../support/process/daywalk-process.ts';
import { IS_LONG } from '../../support/suite/campaign-length.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { describeVariants, testVariants } from '../../support/suite/variants.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const RUN = ['run', '--until', UNTIL, '--streams', 'activity'];
const WITHIN_MS = 5_000;
const SEALED = 'sealed-00000000-0000-0000-0000-000000000001.jsonl';

const EVENT = { hook_event_name: 'Stop', session_id: 's-1' };
const LINE = encodeRecord({
  receivedAt: '2026-02-01T00:00:00.000Z',
  order: '1-1',
  text: JSON.stringify(EVENT),
});

/** Objects other than regular files. */
const IRREGULAR: readonly (readonly [string, (path: string) => unknown])[] = [
  ['a FIFO', (path) => execFileSync('mkfifo', [path])],
  ['a folder', (path) => mkdirSync(path)],
  [
    'a symbolic link',
    (path) => {
      const target = join(tempDir(), 'target.jsonl');
      writeFileSync(target, LINE);
      symlinkSync(target, path);
    },
  ],
  [
    'a link to a FIFO',
    (path) => {
      const target = join(tempDir(), 'fifo');
      execFileSync('mkfifo', [target]);
      symlinkSync(target, path);
    },
  ],
  [
    'a socket',
    async (path) => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(path, resolve));
      onTestFinished(() => void server.close());
    },
  ],
];

/** The properties of a file, without its times. */
function shapeOf(path: string): unknown {
  const { mode, ino, size, nlink } = lstatSync(path);
  return { mode, ino, size, nlink };
}

onDatabase(sqlite, () => {
  describeVariants(IRREGULAR)('F2: %s in the spool', (kind, put) => {
    // A file is judged before its name is: one kind under every name, and every kind under one.
    const names = ['events.jsonl', SEALED, 'other'];
    testVariants(IS_LONG || kind === IRREGULAR[0]?.[0] ? names : names.slice(0, 1))(
      'F2: %s is skipped with a warning and left unchanged; events beside it are stored',
      async (name) => {
        const rig = await smallRig(sqlite);
        const spool = `${rig.path}.spool`;
        mkdirSync(spool);
        const irregular = join(spool, name);
        await put(irregular);
        const before = shapeOf(irregular);
        writeFileSync(join(spool, 'sealed-00000000-0000-0000-0000-000000000002.jsonl'), LINE);
        const run = startDaywalk(RUN, { env: envOf(rig) });
        const timer = setTimeout(() => run.child.kill('SIGKILL'), 120_000);
        const { code, stderr } = await run.ended;
        clearTimeout(timer);
        expect(code, stderr).toBe(0);
        expect(stderr).toContain(`${irregular} is not a regular file; it was left alone`);
        expect(await rig.value('SELECT COUNT(*) FROM hook_events')).toBe(1);
        expect(readdirSync(spool)).toEqual([name]);
        expect(shapeOf(irregular)).toEqual(before);
        const drain = await daywalkInProcess(['hooks', 'drain', '--json'], { env: envOf(rig) });
        expect(drain.code).toBe(0);
        expect(JSON.parse(drain.stdout)).toMatchObject({ events: 0, skipped: [irregular] });
      },
    );

    test('F2: in the place of the receiver’s file, does not block the agent', async () => {
      const spool = tempDir();
      const path = join(spool, 'events.jsonl');
      await put(path);
      const before = shapeOf(path);
      const { code, stderr, durationMs } = await receive(JSON.stringify(EVENT), {
        args: ['--spool', spool],
        onSpawn: (child) => setTimeout(() => child.kill('SIGKILL'), 60_000).unref(),
      });
      expect(code).toBe(0);
      expect(stderr).toBe(`daywalk hook: not stored: ${path} is not a regular file\n`);
      expect(durationMs).toBeLessThan(WITHIN_MS + BUSY_MACHINE_MS);
      expect(shapeOf(path)).toEqual(before);
    });
  });

  test('F2: a FIFO with a reader gets nothing from a receiver', async () => {
    const spool = tempDir();
    const path = join(spool, 'events.jsonl');
    execFileSync('mkfifo', [path]);
    const { openSync, constants, closeSync } = await import('node:fs');
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    onTestFinished(() => closeSync(reader));
    const { code, stderr } = await receive(JSON.stringify(EVENT), { args: ['--spool', spool] });
    expect(code).toBe(0);
    expect(stderr).toContain('is not a regular file');
    expect(readFileSync(reader, 'utf8')).toBe('');
  });

  testVariants(['SIGTERM', 'SIGINT'] as const)(
    'F2: %s ends a run within five seconds while a Node thread waits for a file that never answers',
    { tags: 'ci/rare' },
    async (signal) => {
      const rig = await smallRig(sqlite);
      const fifo = join(tempDir(), 'fifo');
      execFileSync('mkfifo', [fifo]);
      const waiting = `import { open } from 'node:fs'; open(${JSON.stringify(fifo)}, 'r', () => {});`;
      rig.emulator.setLatency(200);
      const run = startDaywalk([...RUN, '--range-days', '1', '--concurrency', '1'], {
        env: envOf(rig),
        nodeArgs: ['--import', `data:text/javascript,${encodeURIComponent(waiting)}`],
      });
      await expect.poll(run.stderr, { interval: 5 }).toContain('"event":"planned"');
      const since = performance.now();
      run.child.kill(signal);
      const timer = setTimeout(() => run.child.kill('SIGKILL'), 60_000);
      const ended = await run.ended;
      clearTimeout(timer);
      expect(performance.now() - since).toBeLessThan(WITHIN_MS + BUSY_MACHINE_MS);
      expect(ended).toMatchObject({ code: null, signal });
      expect(ended.stderr).toContain(`stopped by ${signal}`);
    },
  );
});
