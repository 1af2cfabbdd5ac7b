import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { contentsOf } from '../../../src/archive/contents.ts';
import { withObjects } from '../../../src/archive/object-reader.ts';
import { type OpenArchive, openArchive } from '../../../src/archive/open-archive.ts';
import { keptLines, pruneArchive } from '../../../src/archive/prune.ts';
import { readIndex } from '../../../src/archive/read-index.ts';
import { splitPages } from '../../../src/archive/rows-text.ts';
import { verifyArchive } from '../../../src/archive/verify-archive.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { parseDay } from '../../../src/core/day.ts';
import { runReads } from '../../../src/port/steps.ts';
import { FailingDisk } from '../../support/archive/failing-disk.ts';
import { type Random, SEED, sequence } from '../../support/random/seed.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const WORLDS = 20;
const STEPS = 8;
/** Few, so that many answers have the same rows. */
const TEXTS = 12;
const UNITS = 5;
const HOUR_MS = 3_600_000;
const DAY = parseDay('2026-01-18');

const { open } = files;
let disk = new FailingDisk();

// The modules of the archive may be loaded already, so the function that they import is replaced in Node itself.
beforeAll(() => {
  vi.spyOn(files, 'open').mockImplementation(async (...call) =>
    disk.watch(String(call[0]), await open(...call)),
  );
  syncBuiltinESMExports();
});
afterAll(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** One archive, and what must be in it. */
class World {
  readonly folder = tempDir();
  readonly random: Random;
  readonly seen = { committed: 0, refused: 0, killed: 0, pruned: 0 };
  /** The rows of each answer that was noted. */
  readonly #noted = new Map<string, string>();
  #hour = 0;

  constructor(random: Random) {
    this.random = random;
    disk = new FailingDisk();
  }

  get #now(): Date {
    return new Date(Date.UTC(2026, 0, 20) + this.#hour * HOUR_MS);
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  /** A run keeps some answers at once. It ends, is killed on the way, or the disk fails. */
  async run(end: 'ends' | 'killed' | 'append' | 'sync'): Promise<void> {
    this.#hour += 1;
    const archive = await openArchive({
      ...{ folder: this.folder, emails: 'keep', policy: '', clock: systemClock(this.#now) },
      warehouse: { read: (steps) => runReads({ select: async () => [] }, steps()) },
    });
    const names = Array.from({ length: 2 + this.below(6) }, () => this.#keep(archive));
    if (end === 'append' || end === 'sync') {
      await setImmediate();
      disk.failNext(end);
    }
    if (end === 'killed') {
      for (let ticks = this.below(60); ticks > 0; ticks -= 1) await setImmediate();
      disk.stop();
      this.seen.killed += 1;
    }
    const ended = await Promise.allSettled(names);
    const refused = ended.filter((one) => one.status === 'rejected');
    if (end === 'ends') expect(refused).toEqual([]);
    // An error of the disk is one for everyone who waits.
    if (end !== 'killed')
      for (const { reason } of refused) expect(reason).toMatchObject({ name: 'StorageError', exitCode: 6 });
    this.seen.refused += refused.length;
    this.seen.committed += ended.length - refused.length;
    await archive.close().catch(() => undefined);
    disk.restart(this.random);
  }

  async #keep(archive: OpenArchive): Promise<void> {
    const text = `{"text":"${this.below(TEXTS)}","rows":"${'row '.repeat(20)}"}`;
    const rows = await archive.keepRows([{ text, count: 1 }]);
    const stream = 'users';
    const [name = ''] = await archive.beginDays([
      {
        ...{
          orgId: `org_${this.below(UNITS)}`,
          stream,
          day: DAY,
          runId: `run_${this.#hour}`,
        },
        ...{ pulledAt: this.#now, verdict: 'believed', rows, contentSha256: '0'.repeat(64) },
        ...{ isOwn: true, requests: 1, today: DAY, settleDays: 3 },
      },
    ]);
    this.#noted.set(name, text);
    await archive.end([name], 'committed');
  }

  /** Thins out, and may be killed before the old files are gone. */
  async prune(killed: 'never' | 'before the index' | 'before removal' | 'after the index was removed') {
    if (!existsSync(join(this.folder, 'index'))) return;
    this.#hour += 1;
    this.seen.pruned += 1;
    const before = new Date(this.#now.getTime() - this.below(4) * HOUR_MS);
    const kept = new Set(
      keptLines(contentsOf(await readIndex(this.folder)), before.toISOString()).map(({ name }) => name),
    );
    const saved = tempDir();
    cpSync(this.folder, saved, { recursive: true });
    const old = new Set(readdirSync(join(saved, 'index')));
    const options = { before, now: this.#now };
    const planned = await pruneArchive(this.folder, { ...options, isDryRun: true });
    expect(await pruneArchive(this.folder, { ...options, isDryRun: false })).toEqual(planned);
    if (killed === 'never') {
      for (const name of this.#noted.keys()) if (!kept.has(name)) this.#noted.delete(name);
      expect(await verifyArchive(this.folder)).toMatchObject({ unusedBytes: 0 });
      return;
    }
    const restored = killed === 'after the index was removed' ? ['objects'] : ['objects', 'index'];
    for (const name of restored.filter((one) => existsSync(join(saved, one))))
      cpSync(join(saved, name), join(this.folder, name), { recursive: true });
    if (killed !== 'before the index') return this.#forget(kept, restored);
    for (const name of readdirSync(join(this.folder, 'index')))
      if (!old.has(name)) rmSync(join(this.folder, 'index', name));
  }

  #forget(kept: ReadonlySet<string>, restored: readonly string[]): void {
    if (restored.includes('index')) return;
    for (const name of this.#noted.keys()) if (!kept.has(name)) this.#noted.delete(name);
  }

  /** Every answer that was noted is there, and every object that a line names reads back. */
  async expectWhole(): Promise<void> {
    const contents = contentsOf(await readIndex(this.folder));
    const names = new Set(contents.answers.map(({ name }) => name));
    expect([...this.#noted.keys()].filter((name) => !names.has(name))).toEqual([]);
    await withObjects(this.folder, async (objects) => {
      for (const line of contents.answers) {
        if (line.kind !== 'day' || line.object === null) continue;
        const pages = splitPages(await objects.get(line.object));
        expect(pages).toEqual([this.#noted.get(line.name) ?? pages[0]]);
      }
    });
    if (existsSync(join(this.folder, 'index')))
      expect((await verifyArchive(this.folder)).findings).toEqual([]);
  }
}

const ENDS = ['ends', 'ends', 'killed', 'killed', 'append', 'sync'] as const;
const KILLS = [
  'never',
  'never',
  'before the index',
  'before removal',
  'after the index was removed',
] as const;

test(`every object that a line names reads back after runs, kills, failures of the disk and prunes, in ${WORLDS} worlds`, async () => {
  process.stderr.write(`DAYWALK_SEED=${SEED} repeats the data files of the archive\n`);
  const seen = { committed: 0, refused: 0, killed: 0, pruned: 0 };
  for (let index = 0; index < WORLDS; index += 1) {
    const world = new World(sequence(SEED * 17 + index));
    for (let step = 0; step < STEPS; step += 1) {
      if (world.below(4) === 0) await world.prune(KILLS[world.below(KILLS.length)] ?? 'never');
      else await world.run(ENDS[world.below(ENDS.length)] ?? 'ends');
      await world.expectWhole();
    }
    for (const name of ['committed', 'refused', 'killed', 'pruned'] as const) seen[name] += world.seen[name];
  }
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(WORLDS / 2);
});
