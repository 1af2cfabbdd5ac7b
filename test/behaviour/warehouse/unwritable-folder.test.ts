// @module-tag database-specific

import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MAIN } from '../../support/process/daywalk-process.ts';
import { command, loadFiles, readingCommands } from '../../support/reading/reading-commands.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { type Rig, rigOver } from '../../support/rig/rig.ts';
import { leftOut } from '../../support/suite/left-out.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { sqlitePlace } from '../../support/warehouse/sqlite-place.ts';

const isRoot = process.getuid?.() === 0;
/** A person in the group of readers. */
const PERSON = 65_533;
const GROUP = 65_534;

interface Readable {
  readonly rig: Rig;
  readonly folder: string;
  /** Ends or begins the right of its owner to write there. Root passes every check of rights, and reads as another user. */
  close(): void;
  open(): void;
}

/** A filled warehouse in a folder of its own, to which docs/operations.md gives a group the right to read. */
async function readableRig(): Promise<Readable> {
  const filled = await exportedRig({ users: 6, reports: 2 });
  await loadFiles(filled);
  const outer = tempDir();
  chmodSync(outer, 0o755);
  const folder = join(outer, 'data');
  mkdirSync(folder);
  const path = join(folder, 'daywalk.db');
  copyFileSync(filled.path, path);
  if (isRoot) chownSync(folder, 0, GROUP);
  if (isRoot) chownSync(path, 0, GROUP);
  chmodSync(path, 0o640);
  const open = () => chmodSync(folder, 0o2750);
  open();
  onTestFinished(open);
  return {
    rig: rigOver(filled.emulator, sqlitePlace(path)),
    folder,
    open,
    close: () => chmodSync(folder, isRoot ? 0o2750 : 0o550),
  };
}

/** Runs a command as a person who may only read. */
function asReader({ rig, close, open }: Readable, args: readonly string[]) {
  close();
  try {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
      cwd: '/',
      ...(isRoot ? { uid: PERSON, gid: GROUP } : {}),
      encoding: 'utf8',
      env: {
        DAYWALK_WAREHOUSE: rig.path,
        DAYWALK_NOW: `${rig.today}T03:00:00Z`,
        DAYWALK_LOG: 'pretty',
        DAYWALK_API_KEY: rig.emulator.apiKey,
        DAYWALK_BASE_URL: rig.emulator.url,
        TMPDIR: '/tmp',
      },
    });
    return { code: status, stdout, stderr };
  } finally {
    open();
  }
}

const filesIn = (folder: string) =>
  readdirSync(folder).map((name) => {
    const { mtimeMs, size, mode } = statSync(join(folder, name));
    return [name, mtimeMs, size, mode];
  });

const TOTAL = ['metric', 'billable_tokens', '--csv'];

describe('a person who may only read the file of a warehouse', () => {
  it('uses every command that only reads, without a run under way, and leaves nothing', {
    tags: 'ci/variant',
  }, async () => {
    const readable = await readableRig();
    const { rig, folder } = readable;
    const [files, bytes] = [filesIn(folder), readFileSync(rig.path)];
    expect(files.map(([name]) => name)).toEqual(['daywalk.db']);
    const own = tempDir();
    chmodSync(own, 0o777);
    const commands = readingCommands(own);
    for (const name of ['people.csv']) chmodSync(join(own, name), 0o644);
    for (const [name, args] of Object.entries(commands)) {
      const { code, stderr } = asReader(readable, args);
      expect([name, code, stderr]).toEqual([name, 0, expect.anything()]);
    }
    expect(filesIn(folder)).toEqual(files);
    expect(readFileSync(rig.path).equals(bytes)).toBe(true);
    const { stdout } = await command(rig, ['digest', '--json']);
    expect(JSON.parse(asReader(readable, ['digest', '--json']).stdout)).toEqual(JSON.parse(stdout));
  });

  it('sees what a run commits while it is under way', { tags: 'ci/rare' }, async () => {
    const readable = await readableRig();
    const before = asReader(readable, TOTAL).stdout;
    const writer = new Sqlite(readable.rig.path);
    onTestFinished(() => void writer.close());
    writer.exec('UPDATE tokens_daily SET billable_tokens = billable_tokens + 1');
    writer.exec('UPDATE user_daily SET billable_tokens = billable_tokens + 1');
    writer.exec('UPDATE team_daily SET billable_tokens = billable_tokens + 1');
    expect(filesIn(readable.folder).map(([name]) => name)).toEqual([
      'daywalk.db',
      'daywalk.db-shm',
      'daywalk.db-wal',
    ]);
    const during = asReader(readable, TOTAL);
    expect([during.code, during.stderr]).toEqual([0, expect.not.stringContaining('hint')]);
    expect(during.stdout).not.toBe(before);
    expect(during.stdout).toBe((await command(readable.rig, TOTAL)).stdout);
  });

  it('sees what a run had committed when it was killed', { tags: 'ci/rare' }, async () => {
    const readable = await readableRig();
    const writer = new Sqlite(readable.rig.path);
    writer.exec('UPDATE user_daily SET billable_tokens = 7');
    const killed = await readableRig();
    for (const end of ['', '-wal', '-shm']) {
      copyFileSync(`${readable.rig.path}${end}`, `${killed.rig.path}${end}`);
      if (isRoot) chownSync(`${killed.rig.path}${end}`, 0, GROUP);
      chmodSync(`${killed.rig.path}${end}`, 0o640);
    }
    writer.close();
    const { code, stdout } = asReader(killed, ['metric', 'billable_tokens', '--by', 'user', '--csv']);
    expect([code, stdout]).toEqual([
      0,
      asReader(readable, ['metric', 'billable_tokens', '--by', 'user', '--csv']).stdout,
    ]);
    const orphaned = join(killed.folder, 'daywalk.db-shm');
    spawnSync('rm', [orphaned]);
    const without = asReader(killed, ['status']);
    expect([without.code, without.stderr]).toEqual([6, expect.stringContaining('open it once')]);
  });

  it('is told of published copies for a file above 1 GiB', { tags: 'ci/rare' }, async () => {
    const readable = await readableRig();
    truncateSync(readable.rig.path, 1024 ** 3 + 4096);
    const { code, stderr } = asReader(readable, ['status']);
    expect([code, stderr]).toEqual([6, expect.stringMatching(/above 1 GiB[\s\S]*daywalk publish --sqlite/)]);
  });

  it(
    'is told which file is closed',
    leftOut(isRoot ? null : 'only root can become another user'),
    async () => {
      const readable = await readableRig();
      chmodSync(readable.rig.path, 0o600);
      const { code, stderr } = asReader(readable, ['status']);
      expect([code, stderr]).toEqual([6, expect.stringContaining(`the right to read ${readable.rig.path}`)]);
    },
  );

  it('never sees half of a change, although a program opens, changes and closes the file all the time', {
    tags: 'ci/variant',
  }, async () => {
    const readable = await readableRig();
    const { path } = readable.rig;
    const writer = new Sqlite(path);
    // Many pages, of which each transaction changes all.
    writer.exec(
      `UPDATE user_daily SET extra = '{"x":"' || hex(randomblob(3000)) || '"}', billable_tokens = 1`,
    );
    writer.close();
    const script = `const Sqlite = require(${JSON.stringify(createRequire(import.meta.url).resolve('better-sqlite3'))});
      for (let n = 2; ; n += 1) {
        const db = new Sqlite(${JSON.stringify(path)}, { timeout: 10000 });
        db.prepare(\`UPDATE user_daily SET billable_tokens = ?, extra = '{"x":"' || hex(randomblob(3000)) || '"}'\`).run(n);
        db.close();
      }`;
    const child = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    let read = 0;
    for (let n = 0; n < 12; n += 1) {
      const { code, stdout, stderr } = asReader(readable, [
        ...[
          'metric',
          'billable_tokens',
          '--by',
          'user',
          '--from',
          '2026-02-02',
          '--until',
          '2026-02-02',
          '--csv',
        ],
      ]);
      expect([code === 0 || code === 75, stderr]).toEqual([true, expect.anything()]);
      if (code !== 0) continue;
      read += 1;
      const values = stdout
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split(',').at(-1));
      expect(values.length).toBeGreaterThan(1);
      expect(new Set(values).size).toBe(1);
    }
    expect(read).toBeGreaterThan(0);
  });
});
