import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { refuseFatal } from '../../../src/warehouse/sqlite/addon.ts';
import { leftOut } from '../../support/suite/left-out.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Version 12 is compiled during installation; version 13 contains a file for each platform. */
const ADDON =
  ['build/Release/better_sqlite3.node', `prebuilds/${process.platform}-${process.arch}.node`].find((path) =>
    existsSync(join(ROOT, 'node_modules/better-sqlite3', path)),
  ) ?? '';
const NODE_MAJOR = Number.parseInt(process.versions.node, 10);

/** Installs the program with a separate copy of better-sqlite3, which the test can break. */
function installation(breakIt: (folder: string) => void) {
  const folder = tempDir();
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules')).filter((entry) => entry !== 'better-sqlite3')) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const driver = join(folder, 'node_modules/better-sqlite3');
  for (const part of ['package.json', 'lib', ADDON]) {
    cpSync(join(ROOT, 'node_modules/better-sqlite3', part), join(driver, part), { recursive: true });
  }
  breakIt(driver);
  return spawnSync(process.execPath, [join(folder, 'dist/src/cli/main.js'), 'run'], {
    cwd: folder,
    encoding: 'utf8',
    env: { DAYWALK_API_KEY: 'key-of-nobody', DAYWALK_BASE_URL: 'http://127.0.0.1:9', DAYWALK_LOG: 'pretty' },
  });
}

describe('a broken installation of better-sqlite3 is reported with a remedy and exit code 2', () => {
  test.each([
    ['compiled part missing', (driver: string) => rmSync(join(driver, ADDON)), 'npm rebuild better-sqlite3'],
    [
      'compiled part of another platform',
      (driver: string) => writeFileSync(join(driver, ADDON), 'MZ this is for another platform'),
      'npm rebuild better-sqlite3',
    ],
    ['package missing', (driver: string) => rmSync(driver, { recursive: true }), 'npm ci'],
  ])('%s', (_, breakIt, remedy) => {
    const { status, stderr } = installation(breakIt);
    expect(stderr).toMatch(/^daywalk: load better-sqlite3: .+\nhint: .+\n$/);
    expect(stderr).toContain(remedy);
    expect(status).toBe(2);
  });

  test(
    'version 13, which crashes on this Node',
    leftOut(NODE_MAJOR < 22 ? null : 'it works on this Node'),
    () => {
      const { status, stderr } = installation((driver) => {
        const manifest = JSON.parse(readFileSync(join(driver, 'package.json'), 'utf8'));
        writeFileSync(join(driver, 'package.json'), JSON.stringify({ ...manifest, version: '13.2.0' }));
      });
      expect(stderr).toContain(`version 13.2.0 crashes on Node ${process.versions.node}`);
      expect(stderr).toContain('use Node 22 or newer');
      expect(status).toBe(2);
    },
  );
});

test('better-sqlite3 is refused only if it would crash the process', () => {
  const calls = (text: string) => () => Buffer.from(`\0${text}\0`);
  const fatal = calls('_ZN4node28RemoveEnvironmentCleanupHookEPN2v87IsolateEPFvPvES3_');
  const harmless = calls('_ZN4node25AddEnvironmentCleanupHookEPN2v87IsolateEPFvPvES3_');
  const refused = [
    ['12.11.1', '24.21.0', fatal],
    ['12.11.1', '26.10.0', fatal],
    ['13.2.0', '20.19.6', harmless],
  ] as const;
  for (const [version, node, addon] of refused) {
    expect(() => refuseFatal({ version, node, addon })).toThrow(/better-sqlite3/);
  }
  const accepted = [
    ['12.11.1', '20.19.6', harmless],
    ['12.11.1', '22.23.3', harmless],
    ['12.11.1', '24.18.1', harmless],
    // Downloaded, so compiled with an older Node 24.
    ['12.11.1', '24.21.0', harmless],
    ['13.2.0', '22.23.3', () => undefined],
    ['13.2.0', '24.21.0', fatal],
  ] as const;
  for (const [version, node, addon] of accepted) {
    expect(() => refuseFatal({ version, node, addon })).not.toThrow();
  }
});
