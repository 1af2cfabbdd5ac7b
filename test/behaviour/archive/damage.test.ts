import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkArchives, thinArchive } from '../../../jobs/archive.ts';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { STREAMS } from '../../../src/core/stream.ts';
import { type ArchivedRig, archivedRig, contentsOf } from '../../support/archive/archived-rig.ts';
import { changeFile, keep, opened } from '../../support/archive/small-archive.ts';
import { metricsOf } from '../../support/monitoring/read-metrics.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { contextOf } from '../../support/rig/rig.ts';
import { leftOut } from '../../support/suite/left-out.ts';
import { tempDir, tempFile } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const today = parseDay('2026-01-30');
const SMALL = { today, users: 6, reports: 3 };

async function exported() {
  const rig = await archivedRig(SMALL, sqlite);
  expect((await rig.run()).report.exitCode).toBe(0);
  expect(await findingsOf(rig)).toEqual([]);
  return { rig, path: join(rig.folder, 'archive.db') };
}

async function findingsOf(rig: Pick<ArchivedRig, 'settings'>) {
  return (await checkArchives(rig.settings)).flatMap(({ findings }) => findings);
}

/** Flips a bit of the file. */
function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  // Of a digit, this makes another digit.
  bytes[at] = (bytes[at] ?? 0) ^ 0x01;
  writeFileSync(path, bytes);
}

/** The place in the file where some bytes stand; the last one, if there are several. */
function placeOf(path: string, bytes: string | Buffer): number {
  const at = readFileSync(path).lastIndexOf(bytes);
  expect(at).toBeGreaterThan(0);
  return at;
}

/** The newest answer about the users of a day. */
async function usersOf(path: string, day: string) {
  const { answers } = await contentsOf(path);
  const found = answers.findLast(({ unit }) => unit === `users ${day}`);
  if (found?.kind !== 'day' || found.object === null) throw new Error(`no users of ${day}`);
  return { ...found, object: found.object };
}

describe('a damaged archive', () => {
  test('a flipped byte of an object is found and named; every other unit replays', {
    tags: 'ci/rare',
  }, async () => {
    const { rig, path } = await exported();
    const { object } = await usersOf(path, '2026-01-27');
    // The row has the digest, the codec and then the bytes, which begin with those of zstd.
    flip(path, placeOf(path, Buffer.from(object, 'hex')) + 32 + 'zstd'.length + 20);
    const findings = await findingsOf(rig);
    expect(findings).toMatchObject([
      { kind: 'damaged-object', what: expect.stringContaining(object), units: 'users 2026-01-27' },
    ]);
    const { rig: copy, result } = await rig.replayInto();
    expect(result).toMatchObject({
      exitCode: 6,
      lost: [],
      organizations: [{ damaged: ['users 2026-01-27'] }],
    });
    expect(await copy.value("SELECT count(*) FROM user_daily WHERE date = '2026-01-27'")).toBe(0);
    const rows = 'SELECT count(*) FROM user_daily';
    const own = await rig.value<number>("SELECT count(*) FROM user_daily WHERE date = '2026-01-27'");
    expect(await copy.value(rows)).toBe(Number(await rig.value(rows)) - Number(own));
    const streams = STREAMS.filter((stream) => stream !== 'users');
    await expect(rig.replayInto({ streams })).resolves.toMatchObject({ result: { exitCode: 0 } });
    // The command says so.
    const env = { ...envOf(rig), DAYWALK_WAREHOUSE: join(tempDir(), 'new.db'), DAYWALK_ARCHIVE: path };
    const said = await daywalkInProcess(['replay'], { env });
    expect([said.code, said.stdout]).toEqual([6, expect.stringContaining('damaged: users 2026-01-27')]);
  });

  test('a changed byte of an answer is found, and no older answer is stored in its place', async () => {
    const { rig, path } = await exported();
    rig.emulator.revise({ kind: 'restate', day: shiftDay(today, -1) });
    await rig.run({ now: shiftDay(today, 1) });
    const day = shiftDay(today, -1);
    const newest = await usersOf(path, day);
    const older = (await contentsOf(path)).answers.filter(({ unit }) => unit === newest.unit);
    expect(older.length).toBeGreaterThan(1);
    // Another count of rows is well-formed, and nothing that SQLite checks.
    flip(
      path,
      placeOf(path, `"requests":${newest.requests},"today":"${newest.today}"`) + '"requests":'.length,
    );
    const findings = await findingsOf(rig);
    expect(findings).toMatchObject([{ kind: 'lost-answer', reason: 'it cannot be read' }]);
    const unit = findings[0]?.units ?? '';
    const { rig: copy, result } = await rig.replayInto({ until: today });
    expect(result).toMatchObject({ exitCode: 6, lost: [unit] });
    expect(await copy.value("SELECT count(*) FROM export_units WHERE stream || ' ' || date = ?", unit)).toBe(
      0,
    );
    const units = "SELECT stream || ' ' || date FROM export_units WHERE content_sha256 IS NOT NULL";
    const stored = new Set(await copy.column(units));
    expect((await rig.column(units)).filter((name) => !stored.has(name))).toEqual([unit]);
  });

  test('a changed outcome is found, and its unit is left out', { tags: 'ci/rare' }, async () => {
    const { rig, path } = await exported();
    const { id } = await usersOf(path, '2026-01-27');
    await changeFile(path, `UPDATE outcomes SET outcome = 'dropped' WHERE answer = ${id}`);
    expect(await findingsOf(rig)).toMatchObject([{ kind: 'lost-answer', units: 'users 2026-01-27' }]);
    expect((await rig.replayInto()).result).toMatchObject({ exitCode: 6, lost: ['users 2026-01-27'] });
  });

  test('an index that lacks or misnames an answer costs nothing, and the file is named', {
    tags: 'ci/rare',
  }, async () => {
    const { rig, path } = await exported();
    const digest = await rig.digest();
    const { at } = await usersOf(path, '2026-01-27');
    // The row stands in the table and in the index; the index is the later one or the earlier one.
    const bytes = readFileSync(path);
    const key = `users 2026-01-27${at}`;
    const [first, last] = [bytes.indexOf(key), bytes.lastIndexOf(key)];
    expect(first).toBeLessThan(last);
    const inIndex = [first, last].find((place) => bytes[place + key.length] !== '{'.charCodeAt(0)) ?? 0;
    bytes[inIndex + 'users 2026-01-2'.length] = '8'.charCodeAt(0);
    writeFileSync(path, bytes);
    const findings = await findingsOf(rig);
    expect([...new Set(findings.map(({ kind, units }) => `${kind} ${units}`))]).toEqual(['damaged-page ']);
    const { rig: copy, result } = await rig.replayInto();
    expect(result).toMatchObject({ exitCode: 0, lost: [] });
    expect(await copy.digest()).toBe(digest);
  });

  test('what is missing at the end of the file is named, and the rest replays', {
    tags: 'ci/rare',
  }, async () => {
    const { rig, path } = await exported();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, bytes.length - 2 * 16_384));
    const findings = await findingsOf(rig);
    expect(findings.map(({ kind }) => kind)).toContain('damaged-page');
    const { rig: copy, result } = await rig.replayInto();
    expect(result.exitCode).toBeOneOf([0, 6]);
    const units = 'SELECT count(*) FROM export_units WHERE last_pulled_at IS NOT NULL';
    const stored = Number(await copy.value(units));
    expect(stored).toBeGreaterThan(0);
    const named = [...result.lost, ...(result.organizations[0]?.damaged ?? [])];
    if (!named.includes('readiness')) expect(stored + named.length).toBe(await rig.value(units));
  });

  testVariants(['pages are overwritten', 'the file is truncated', 'the first page is overwritten'])(
    'is known to the metrics once it is verified, and its units are named: %s',
    async (damage) => {
      const { rig, path } = await exported();
      const env = { ...envOf(rig), DAYWALK_ARCHIVE: rig.folder, DAYWALK_NOW: `${today}T05:00:00Z` };
      const verify = () => daywalkInProcess(['archive', 'verify', '--json'], { env });
      const metric = async () => {
        const text = await metricsOf(rig);
        return /^daywalk_archive_damages\{.*\} (\d+)$/m.exec(text)?.[1];
      };
      expect(await metric()).toBeUndefined();
      expect((await verify()).code).toBe(0);
      expect(await metric()).toBe('0');
      const bytes = readFileSync(path);
      const page = 16_384;
      if (damage === 'the first page is overwritten') bytes.fill(0x55, 0, page);
      if (damage === 'pages are overwritten') {
        const { object } = await usersOf(path, '2026-01-27');
        const at = page * Math.floor(bytes.lastIndexOf(Buffer.from(object, 'hex')) / page);
        bytes.fill(0x55, at, at + page);
      }
      const left = damage === 'the file is truncated' ? bytes.subarray(0, bytes.length - 4 * page) : bytes;
      writeFileSync(path, left);
      const { code, stdout } = await verify();
      expect(code).toBe(damage === 'the first page is overwritten' ? 6 : 5);
      expect(Number(await metric())).toBeGreaterThan(0);
      if (code === 6) return;
      const named = JSON.parse(stdout).findings.flatMap(({ units }: { units: string }) => units);
      expect(named.join()).toMatch(/users 2026-01-/);
      const { rig: copy, result } = await rig.replayInto();
      expect(result.exitCode).toBe(6);
      const lost = [...result.lost, ...result.organizations.flatMap(({ damaged }) => damaged)];
      expect(lost.length).toBeGreaterThan(0);
      // What is stored of a day is what the warehouse has.
      const units =
        "SELECT stream || ' ' || date || content_sha256 FROM export_units WHERE content_sha256 IS NOT NULL AND stream <> 'readiness'";
      expect(await rig.column(units)).toEqual(expect.arrayContaining(await copy.column(units)));
    },
  );

  test('an archive without its first page is refused with 6', { tags: 'ci/rare' }, async () => {
    const { rig, path } = await exported();
    const bytes = readFileSync(path);
    bytes.fill(0x55, 0, 200);
    writeFileSync(path, bytes);
    await expect(rig.replayInto()).rejects.toMatchObject({ exitCode: 6 });
    await expect(checkArchives(rig.settings)).rejects.toMatchObject({ exitCode: 6 });
  });

  test('nothing is thinned out while an answer cannot be read', async () => {
    const { rig, path } = await exported();
    const { id } = await usersOf(path, '2026-01-27');
    await changeFile(path, `UPDATE answers SET checksum = checksum + 1 WHERE id = ${id}`);
    const before = (await contentsOf(path)).answers.length;
    const prune = thinArchive(
      rig.settings,
      { olderThan: { count: 1, unit: 'd' }, isDryRun: false },
      contextOf(today),
    );
    await expect(prune).rejects.toMatchObject({ exitCode: 6, reason: 'archive-damaged' });
    expect((await contentsOf(path)).answers.length).toBe(before);
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
  test('keeps what a later replay needs, gives space back, and refuses an instant before it', {
    tags: 'ci/variant',
  }, async () => {
    const rig = await archivedRig(SMALL, sqlite);
    const path = join(rig.folder, 'archive.db');
    const digests = new Map<string, string>();
    for (const now of ['2026-01-27', '2026-01-28', '2026-01-29', '2026-01-30'].map(parseDay)) {
      await rig.run({ now });
      digests.set(now, await rig.digest());
      rig.emulator.revise({ kind: 'restate', day: shiftDay(now, -1) });
      rig.emulator.revise({ kind: 'change-report' });
      rig.emulator.revise({ kind: 'add-reports', count: 1 });
    }
    // What was needed once, and takes whole pages.
    await changeFile(
      path,
      "INSERT INTO objects (sha256, codec, bytes) VALUES (randomblob(32), 'zstd', randomblob(300000))",
    );
    const prune = (isDryRun: boolean) =>
      thinArchive(rig.settings, { olderThan: { count: 2, unit: 'd' }, isDryRun }, contextOf(today));
    const before = statSync(path).size;
    const planned = await prune(true);
    expect(statSync(path).size).toBe(before);
    const pruned = await prune(false);
    expect(pruned).toEqual(planned);
    expect(pruned.answersRemoved).toBeGreaterThan(0);
    expect(pruned.objectsRemoved).toBeGreaterThan(1);
    expect(before - statSync(path).size).toBeGreaterThan(250_000);
    expect(await prune(false)).toMatchObject({ answersRemoved: 0, objectsRemoved: 0, bytesRemoved: 0 });
    expect(await checkArchives(rig.settings)).toMatchObject([{ findings: [], unusedBytes: 0 }]);
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
  test('verify, show and prune say what they found', { tags: 'ci/rare' }, async () => {
    const { rig } = await exported();
    const env = { ...envOf(rig), DAYWALK_ARCHIVE: rig.folder, DAYWALK_NOW: `${today}T05:00:00Z` };
    const said = async (...args: string[]) => {
      const { code, stdout, stderr } = await daywalkInProcess(args, { env });
      expect(code, stderr).toBe(0);
      return stdout;
    };
    expect(await said('archive', 'verify')).toContain('every answer and every object is sound');
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

describe('a replay while a run writes', () => {
  test('stores what was committed, and waits for nobody', { tags: 'ci/rare' }, async () => {
    const { rig, path } = await exported();
    const digest = await rig.digest();
    const orgId = (await rig.value<string>('SELECT min(org_id) FROM export_units')) ?? '';
    const running = await opened(path);
    await keep(running, {
      orgId,
      text: '{"under":"way"}',
      at: new Date(`${today}T04:00:00Z`),
      outcome: null,
    });
    const { rig: copy, result } = await rig.replayInto();
    expect(result.exitCode).toBe(0);
    expect(await copy.digest()).toBe(digest);
    await running.close();
    // Now it is what a kill leaves.
    await expect(rig.replayInto()).rejects.toMatchObject({ exitCode: 2 });
  });
});
