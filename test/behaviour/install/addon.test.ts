import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';

const ROOT = join(import.meta.dirname, '../../..');
const ADDON = `prebuilds/${process.platform}-${process.arch}.node`;

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
  testVariants([
    ['compiled part missing', (driver: string) => rmSync(join(driver, ADDON))],
    [
      'compiled part of another platform',
      (driver: string) => writeFileSync(join(driver, ADDON), 'MZ this is for another platform'),
    ],
    ['package missing', (driver: string) => rmSync(driver, { recursive: true })],
  ])('%s', (_, breakIt) => {
    const { status, stderr } = installation(breakIt);
    expect(stderr).toMatch(/^daywalk: load better-sqlite3: .+\nhint: .*npm ci.*\n$/);
    expect(status).toBe(2);
  });
});
