// @module-tag campaign/build

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { setOutcome } from '../../../src/archive/answer-queries.ts';
import { ArchiveFile, withArchive } from '../../../src/archive/archive-file.ts';
import { contentsOf } from '../../support/archive/archived-rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const ROOT = join(import.meta.dirname, '../../..');
const TODAY = '2026-01-30';

const DAYWALK = ['src/cli/main.ts'];
const COLUMNS = "    reviews: metric('reviews written'),\n    reviewer: label('who reviews'),\n";
const SHAPES = '  reviews: Metric,\n  reviewer: Label,\n';

/** The emulated service in its own process. */
const SERVE = `
import { startEmulator } from './src/emulator/index.ts';
const { url, apiKey, setQuirks } = await startEmulator({ realistic: true, today: '${TODAY}', users: 40, reports: 4 });
setQuirks({ unknownFields: true });
console.log(JSON.stringify({ DAYWALK_BASE_URL: url, DAYWALK_API_KEY: apiKey }));
`;

/** A copy of the sources that can be run. */
function version(from: string) {
  const folder = tempDir();
  for (const name of ['src', 'schema', 'jobs', 'scripts', 'package.json'])
    cpSync(join(from, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return {
    folder,
    change: (file: string, before: RegExp, after: string) => {
      const text = readFileSync(join(folder, file), 'utf8');
      expect(text).toMatch(before);
      writeFileSync(join(folder, file), text.replace(before, after));
    },
    run: (args: readonly string[], env: Record<string, string> = {}) => {
      const { PATH = '' } = process.env;
      const ended = spawnSync(process.execPath, args, {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH, ...env },
      });
      expect(ended.status, `${args.join(' ')}: ${ended.stderr}`).toBe(0);
      return ended.stdout;
    },
  };
}

async function serve(folder: string): Promise<Record<string, string>> {
  writeFileSync(join(folder, 'serve.mts'), SERVE);
  const child: ChildProcess = spawn(process.execPath, ['serve.mts'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  if (child.stdout === null) throw new Error('the service has no output');
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line);
  throw new Error('the service ended before it listened');
}

/** Forgets what became of the answers about days, as if a kill had kept it from being noted. */
async function forgetOutcomes(archive: string): Promise<void> {
  const days = (await contentsOf(archive)).answers.filter(({ kind }) => kind === 'day');
  await withArchive(ArchiveFile.write(archive), (file) => {
    for (const { id } of days) setOutcome(file, id, 'undecided');
  });
  expect(days.length).toBeGreaterThan(50);
}

onEachDatabase((database) => {
  test('an upgrade that knows a field moves it from extra into its column: the digest is that of a replay', async () => {
    const old = version(ROOT);
    // The service sends a number and a text that no version knows yet.
    old.change(
      'src/emulator/endpoints/envelope.ts',
      /\? \{ \.\.\.known, \.\.\.UNKNOWN_FIELD \}/,
      '? { ...known, ...UNKNOWN_FIELD, reviews: path.length * 1.5, reviewer: path.slice(0, 9) }',
    );
    const [live, empty] = [database.place(), database.place()];
    const env = { DAYWALK_ARCHIVE: tempDir(), DAYWALK_NOW: `${TODAY}T03:00:00Z` };
    const inLive = { ...env, DAYWALK_WAREHOUSE: live.location };
    const inEmpty = { ...env, DAYWALK_WAREHOUSE: empty.location };
    old.run([...DAYWALK, 'run', '--log', 'silent'], { ...inLive, ...(await serve(old.folder)) });
    const sent = await live.query<{ n: number }>(
      "SELECT COUNT(*) AS n FROM user_daily WHERE CAST(extra AS text) LIKE '%reviews%'",
    );
    expect(Number(sent[0]?.n)).toBeGreaterThan(50);
    const before = old.run([...DAYWALK, 'digest'], inLive);

    const upgraded = version(old.folder);
    upgraded.change('schema/tables/daily.ts', /( +assistant_messages: .*\n)/, `$1${COLUMNS}`);
    upgraded.change('src/contract/shapes.ts', /( +assistant_messages: .*\n)/, `$1${SHAPES}`);
    upgraded.run(['scripts/generate-migrations.ts', 'reviews']);
    // Commands that only read do not upgrade.
    upgraded.run([...DAYWALK, 'upgrade'], inLive);
    const digest = upgraded.run([...DAYWALK, 'digest'], inLive);
    expect(digest).not.toBe(before);
    upgraded.run([...DAYWALK, 'verify'], inLive);
    upgraded.run([...DAYWALK, 'replay', '--log', 'silent'], inEmpty);
    expect(upgraded.run([...DAYWALK, 'digest'], inEmpty)).toBe(digest);

    const counts = (place: typeof live) =>
      place.query(`
        SELECT COUNT(*) AS n, COUNT(reviews) AS reviews, COUNT(reviewer) AS reviewers, SUM(reviews) AS total,
          SUM(CASE WHEN CAST(extra AS text) LIKE '%review%' THEN 1 ELSE 0 END) AS left_over,
          SUM(CASE WHEN CAST(extra AS text) LIKE '%emulator_extra%' THEN 1 ELSE 0 END) AS others FROM user_daily`);
    const [row] = await counts(live);
    expect(row).toMatchObject({ reviews: row?.['n'], reviewers: row?.['n'], others: row?.['n'] });
    expect(Number(row?.['left_over'])).toBe(0);
    expect(await counts(empty)).toEqual([row]);
    const ledger = (place: typeof live) =>
      place.query('SELECT stream, date, content_sha256, active_users, rows FROM export_units ORDER BY 1, 2');
    expect(await ledger(empty)).toEqual(await ledger(live));
    // What is stored is what the service says: a replay over it writes nothing.
    const replayed = JSON.parse(upgraded.run([...DAYWALK, 'replay', '--json'], inLive));
    expect(replayed.organizations).toMatchObject([{ stored: 0, newer: [] }]);
    // Nor does a kill before any outcome was noted make the upgrade hide what was committed.
    const killed = tempDir();
    cpSync(env.DAYWALK_ARCHIVE, killed, { recursive: true });
    await forgetOutcomes(killed);
    const decided = upgraded.run([...DAYWALK, 'replay', '--json'], { ...inLive, DAYWALK_ARCHIVE: killed });
    expect(JSON.parse(decided)).toEqual(replayed);
  });
});
