import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** Why tests are skipped where there is no Chromium. */
export const NO_CHROMIUM = 'this machine has no Chromium (the variable CHROMIUM may name one)';

/** The path of an installed Chromium; null if there is none. The variable CHROMIUM names another one. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | null {
  const named = env['CHROMIUM'];
  if (named !== undefined && named !== '') return mayRun(named) ? named : null;
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(mayRun) ?? null;
}

/** Starts a browser, which must be closed. */
export function launch(executablePath: string): Promise<Browser> {
  // The sandbox needs rights that containers often lack; every page here comes from this machine.
  return chromium.launch({ executablePath, chromiumSandbox: false, args: ['--disable-dev-shm-usage'] });
}

function mayRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
