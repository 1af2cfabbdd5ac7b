import {
  appendFileSync,
  chmodSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkArchive, thinArchive } from '../../../jobs/archive.ts';
import { contentsOf, objectsIn } from '../../../src/archive/contents.ts';
import { inFileOrder } from '../../../src/archive/data-files.ts';
import type { ObjectRef } from '../../../src/archive/lines.ts';
import { readIndex } from '../../../src/archive/read-index.ts';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { STREAMS } from '../../../src/core/stream.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { forgeLine } from '../../support/archive/forge-index.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { contextOf } from '../../support/rig/rig.ts';
import { leftOut } from '../../support/suite/left-out.ts';
import { tempDir, tempFile } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const today = parseDay('2026-01-30');
const SMALL = { today, users: 6, reports: 3 };

/** The data files, in order. */
function dataIn(folder: string): string[] {
  return readdirSync(join(folder, 'objects'))
    .map((name) => join(folder, 'objects', name))
    .sort();
}

/** All bytes of the data files. */
function bytesIn(folder: string): number {
  return dataIn(folder).reduce((sum, path) => sum + statSync(path).size, 0);
}

/** Every object by its place, in order. */
async function placesIn(folder: string): Promise<ObjectRef[]> {
  return inFileOrder(objectsIn(contentsOf(await readIndex(folder)).answers));
}

function indexIn(folder: string): string {
  const [name = ''] = readdirSync(join(folder, 'index')).filter((file) => file.endsWith('.jsonl'));
  return join(folder, 'index', name);
}

async function exported() {
  const rig = await archivedRig(SMALL, sqlite);
  expect((await rig.run()).report.exitCode).toBe(0);
  expect((await checkArchive(rig.settings)).findings).toEqual([]);
  return rig;
}

describe('a damaged archive', () => {
  test('a flipped byte is found and named, and nothing but that unit is affected', async () => {
    const rig = await exported();
    const [path = '', ...others] = dataIn(rig.folder);
    expect(others).toEqual([]);
    const places = await placesIn(rig.folder);
    const hit = places[Math.floor(places.length / 2)];
    if (hit === undefined) throw new Error('the archive has no objects');
    const bytes = readFileSync(path);
    const at = hit.offset + hit.length - 3;
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
    writeFileSync(path, bytes);
    const { findings } = await checkArchive(rig.settings);
    expect(findings).toMatchObject([
      { kind: 'damaged-object', what: `${path}:${hit.offset}`, units: expect.stringMatching(/^\S+( \S+)?$/) },
    ]);
    await expect(rig.replayInto()).rejects.toMatchObject({ exitCode: 6 });
    const [unit = ''] = findings.map(({ units }) => units);
    const streams = STREAMS.filter((stream) => stream !== unit.split(' ')[0]);
    await expect(rig.replayInto({ streams })).resolves.toMatchObject({ result: { exitCode: 0 } });
  });

  test('a prune keeps the file of a damaged object and names it; every other file is thinned out', async () => {
    const rig = await exported();
    rig.emulator.revise({ kind: 'restate', day: shiftDay(today, -1) });
    await rig.run({ now: shiftDay(today, 1) });
    const [path = '', other = ''] = dataIn(rig.folder);
    const [first] = await placesIn(rig.folder);
    const bytes = readFileSync(path);
    bytes[first?.length ?? 0] = (bytes[first?.length ?? 0] ?? 0) ^ 0xff;
    writeFileSync(path, bytes);
    const damaged = readFileSync(path);
    const [unit = ''] = (await checkArchive(rig.settings)).findings.map(({ units }) => units);
    // Both files would be written again without their last byte, but not every object of one can be copied.
    for (const file of [path, other]) appendFileSync(file, 'x');
    const prune = () => thinArchive(rig.settings, { olderThanDays: 400, isDryRun: false }, contextOf(today));
    const pruned = await prune();
    expect(pruned).toMatchObject({ bytesRemoved: 1, damaged: [{ error: { exitCode: 6 } }] });
    expect(readFileSync(path).subarray(0, damaged.length)).toEqual(damaged);
    expect(dataIn(rig.folder)).not.toContain(other);
    const env = { ...envOf(rig), DAYWALK_ARCHIVE: rig.folder };
    const said = await daywalkInProcess(['archive', 'prune', '--older-than', '400d'], { env });
    expect([said.code, said.stdout]).toEqual([6, expect.stringContaining(`${basename(path)}:`)]);
    const { findings } = await checkArchive(rig.settings);
    expect(findings).toMatchObject([{ kind: 'damaged-object', units: unit }]);
    const streams = STREAMS.filter((stream) => stream !== unit.split(' ')[0]);
    await expect(rig.replayInto({ streams })).resolves.toMatchObject({ result: { exitCode: 0 } });
  });

  test('a missing file is found and named once, and the next run does not rely on it', async () => {
    const rig = await exported();
    const digest = await rig.digest();
    const [path = ''] = dataIn(rig.folder);
    const objects = (await placesIn(rig.folder)).length;
    rmSync(path);
    const check = await checkArchive(rig.settings);
    expect(check).toMatchObject({ objects, unusedBytes: 0 });
    expect(check.findings).toMatchObject([{ kind: 'missing-file', what: path }]);
    expect(check.findings[0]?.units).toMatch(/ and \d+ more$/);
    await expect(rig.replayInto()).rejects.toMatchObject({ exitCode: 6 });
    // Rows that come again are kept again: a reference to a file that is not there would be worth nothing.
    rig.emulator.revise({ kind: 'restate', day: shiftDay(today, -1) });
    await rig.run();
    rig.emulator.revise({ kind: 'restate', day: shiftDay(today, -1) });
    await rig.run();
    expect(dataIn(rig.folder).length).toBe(2);
    expect(await rig.digest()).not.toBe(digest);
    expect((await checkArchive(rig.settings)).findings.map(({ kind }) => kind)).toEqual(['missing-file']);
  });

  test('a truncated file is found and named with its units; objects before its end are sound', async () => {
    const rig = await exported();
    const [path = ''] = dataIn(rig.folder);
    const places = await placesIn(rig.folder);
    const last = places.at(-2);
    truncateSync(path, (last?.offset ?? 0) + 1);
    const { findings } = await checkArchive(rig.settings);
    expect(findings).toMatchObject([
      { kind: 'truncated-file', what: path, reason: expect.stringContaining('2 of its objects') },
    ]);
    expect(findings[0]?.units).toMatch(/\S/);
    await expect(rig.replayInto()).rejects.toMatchObject({ exitCode: 6 });
  });

  testVariants([
    ['../../etc/passwd'],
    ['/etc/passwd'],
    ['..'],
    ['a/000001-20260130T030000000Z-0123abcd.br'],
    ['000001-20260130T030000000Z-0123abcd.br/../../x'],
    ['000001-20260130T030000000Z-0123abcd.br\n'],
    ['000001-20260130T030000000Z-0123abcd.gz'],
  ])('a line that names the foreign file %j is a damaged one', async (name) => {
    const rig = await exported();
    const path = indexIn(rig.folder);
    forgeLine(path, (text) => text.replace(/"file":"[^"]+"/, `"file":${JSON.stringify(name)}`));
    const { findings } = await checkArchive(rig.settings);
    expect(findings.map(({ kind }) => kind)).toEqual(['lost-line', 'damaged-line', 'damaged-line']);
    await expect(rig.replayInto()).rejects.toMatchObject({ exitCode: 6 });
  });

  testVariants([
    ['offset', -1, 'lost-line'],
    ['length', 0, 'lost-line'],
    ['length', 2 ** 52, 'truncated-file'],
    ['offset', 1.5, 'lost-line'],
    ['offset', 1, 'damaged-object'],
  ])('a line whose %s is %d costs its own unit', async (member, value, kind) => {
    const rig = await exported();
    const path = indexIn(rig.folder);
    forgeLine(path, (text) => text.replace(new RegExp(`"${member}":\\d+`), `"${member}":${value}`));
    const kinds = (await checkArchive(rig.settings)).findings.map((finding) => finding.kind);
    expect(kinds).toEqual(kind === 'lost-line' ? [kind, 'damaged-line', 'damaged-line'] : [kind]);
  });

  test('a length that takes in bytes of the next object is found', async () => {
    const rig = await exported();
    const path = indexIn(rig.folder);
    const longer = (_: string, length: string) => `"length":${Number(length) + 1}`;
    forgeLine(path, (text) => text.replace(/"length":(\d+)/, longer));
    expect((await checkArchive(rig.settings)).findings).toMatchObject([{ kind: 'damaged-object' }]);
  });

  test('bytes that a kill has left at the end of a file harm nothing, and a prune removes them', async () => {
    const rig = await exported();
    const digest = await rig.digest();
    const [path = ''] = dataIn(rig.folder);
    appendFileSync(path, readFileSync(path).subarray(0, 100));
    const orphan = join(rig.folder, 'objects', '000002-20260131T030000000Z-0123abcd.br');
    writeFileSync(orphan, 'torn');
    expect(await checkArchive(rig.settings)).toMatchObject({ findings: [], unusedBytes: 104 });
    expect(await (await rig.replayInto()).rig.digest()).toBe(digest);
    const prune = (isDryRun: boolean) =>
      thinArchive(rig.settings, { olderThanDays: 400, isDryRun }, contextOf(today));
    expect(await prune(true)).toMatchObject({ answersRemoved: 0, objectsRemoved: 0, bytesRemoved: 104 });
    expect(dataIn(rig.folder)).toEqual([path, orphan]);
    expect(await prune(false)).toMatchObject({ answersRemoved: 0, objectsRemoved: 0, bytesRemoved: 104 });
    expect(dataIn(rig.folder)).toHaveLength(1);
    expect(dataIn(rig.folder)).not.toContain(path);
    expect(await checkArchive(rig.settings)).toMatchObject({ findings: [], unusedBytes: 0 });
    expect(await (await rig.replayInto()).rig.digest()).toBe(digest);
  });

  test('a torn last line costs nothing', async () => {
    const rig = await exported();
    appendFileSync(indexIn(rig.folder), '{"kind":"day","na');
    expect(await checkArchive(rig.settings)).toMatchObject({ findings: [], torn: 1 });
    const { rig: copy } = await rig.replayInto();
    expect(await copy.digest()).toBe(await rig.digest());
  });

  test('a damaged line is found and named, and its other copy keeps everything whole', async () => {
    const rig = await exported();
    const digest = await rig.digest();
    const path = indexIn(rig.folder);
    const text = readFileSync(path, 'utf8');
    // A well-formed line about another day.
    const damaged = text.split('\n').findIndex((line) => line.includes('"day":"2026-01-27"')) + 1;
    expect(damaged).toBeGreaterThan(0);
    writeFileSync(path, text.replace('"day":"2026-01-27"', '"day":"2026-01-17"'));
    const { findings } = await checkArchive(rig.settings);
    expect(findings).toEqual([
      {
        ...{ kind: 'damaged-line', what: `${path}:${damaged}`, units: '' },
        reason: 'the line cannot be read; its other copy can, so nothing is lost',
      },
    ]);
    expect(await (await rig.replayInto()).rig.digest()).toBe(digest);
    // Whatever writes the index again heals it.
    await thinArchive(rig.settings, { olderThanDays: 400, isDryRun: false }, contextOf(today));
    expect((await checkArchive(rig.settings)).findings).toEqual([]);
    expect(await (await rig.replayInto()).rig.digest()).toBe(digest);
  });

  test('a line whose copies are both damaged is lost, and no replay goes past it', async () => {
    const rig = await exported();
    const path = indexIn(rig.folder);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('"day":"2026-01-27"', '"day":"2026-01-17"'));
    const { findings } = await checkArchive(rig.settings);
    expect(findings[0]).toMatchObject({ kind: 'lost-line', what: path });
    await expect(rig.replayInto()).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringContaining(`a line of ${path} is lost`),
    });
  });

  test('a missing file of the index is found and named, and no replay goes past it', async () => {
    const rig = await exported();
    const path = indexIn(rig.folder);
    rig.emulator.revise({ kind: 'restate', day: shiftDay(today, -1) });
    await rig.run();
    expect((await checkArchive(rig.settings)).findings).toEqual([]);
    rmSync(path);
    expect((await checkArchive(rig.settings)).findings).toMatchObject([
      { kind: 'missing-file', what: path, reason: 'the file of the index is missing' },
    ]);
    await expect(rig.replayInto()).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringContaining(`${path} is missing`),
    });
  });

  test('an archive that cannot be written ends the run before anything is committed', async () => {
    const rig = await archivedRig(SMALL, sqlite);
    const file = tempFile();
    writeFileSync(file, 'a file is no folder');
    const place = { ...envOf(rig), DAYWALK_ARCHIVE: join(file, 'archive') };
    const { code, stderr } = await daywalkInProcess(['run'], { env: place });
    expect([code, stderr]).toEqual([expect.toBeOneOf([2, 6]), expect.stringContaining('archive')]);
    expect(await rig.value('SELECT count(*) FROM user_daily')).toBe(0);
  });

  const isRoot = process.getuid?.() === 0;
  test('nor does a folder without rights', leftOut(isRoot ? 'root has all rights' : null), async () => {
    const rig = await archivedRig(SMALL, sqlite);
    chmodSync(rig.folder, 0o500);
    const { code } = await daywalkInProcess(['run'], { env: { ...envOf(rig), DAYWALK_ARCHIVE: rig.folder } });
    expect(code).toBe(6);
  });
});

describe('archive prune', () => {
  test('keeps what a later replay needs, and refuses an instant before it', {
    tags: 'ci/variant',
  }, async () => {
    const rig = await archivedRig(SMALL, sqlite);
    const digests = new Map<string, string>();
    for (const now of ['2026-01-27', '2026-01-28', '2026-01-29', '2026-01-30'].map(parseDay)) {
      await rig.run({ now });
      digests.set(now, await rig.digest());
      rig.emulator.revise({ kind: 'restate', day: shiftDay(now, -1) });
      rig.emulator.revise({ kind: 'change-report' });
      rig.emulator.revise({ kind: 'add-reports', count: 1 });
    }
    const prune = (isDryRun: boolean) =>
      thinArchive(rig.settings, { olderThanDays: 2, isDryRun }, contextOf(today));
    const before = bytesIn(rig.folder);
    const planned = await prune(true);
    expect(bytesIn(rig.folder)).toBe(before);
    const pruned = await prune(false);
    expect(pruned).toEqual(planned);
    expect(pruned.answersRemoved).toBeGreaterThan(0);
    expect(pruned.objectsRemoved).toBeGreaterThan(0);
    expect(bytesIn(rig.folder)).toBe(before - pruned.bytesRemoved);
    const data = dataIn(rig.folder);
    expect(await prune(false)).toMatchObject({ answersRemoved: 0, objectsRemoved: 0, bytesRemoved: 0 });
    // A file whose bytes are all needed stays.
    expect(dataIn(rig.folder)).toEqual(data);
    expect(await checkArchive(rig.settings)).toMatchObject({ findings: [], unusedBytes: 0 });
    for (const [now, digest] of digests) {
      const asOf = new Date(`${now}T03:00:01Z`);
      if (now < '2026-01-28') await expect(rig.replayInto({ asOf })).rejects.toThrow(/thinned out/);
      else expect(await (await rig.replayInto({ asOf })).rig.digest()).toBe(digest);
    }
    expect(await (await rig.replayInto()).rig.digest()).toBe(await rig.digest());
    // The last changes are new to it; some of them may be doubted.
    expect((await rig.run()).report.exitCode).toBeOneOf([0, 5]);
    expect(await (await rig.replayInto()).rig.digest()).toBe(await rig.digest());
  });
});

describe('the commands of the archive', () => {
  test('verify, show and prune say what they found', async () => {
    const rig = await exported();
    const env = { ...envOf(rig), DAYWALK_ARCHIVE: rig.folder, DAYWALK_NOW: `${today}T05:00:00Z` };
    const said = async (...args: string[]) => {
      const { code, stdout, stderr } = await daywalkInProcess(args, { env });
      expect(code, stderr).toBe(0);
      return stdout;
    };
    expect(await said('archive', 'verify')).toContain('every line and every object is sound');
    const unit = ['--stream', 'users', '--date', '2026-01-27'];
    expect(await said('archive', 'show', ...unit)).toMatch(
      /2026-01-30T03:00:00.000Z +believed +committed +\d/,
    );
    const rows = (await said('archive', 'show', ...unit, '--rows')).trim().split('\n');
    expect(rows.map((row) => JSON.parse(row).date)).toEqual(rows.map(() => '2026-01-27'));
    expect(await said('archive', 'prune', '--older-than', '400d')).toContain(
      '0 answers and 0 objects (0 B) removed',
    );
    const refused = await daywalkInProcess(['archive', 'verify', '--archive', tempDir()], { env });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--archive')]);
  });
});
