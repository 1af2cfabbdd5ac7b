import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * The API key of every rig. Every check of files and output also searches for it: it
 * may appear only in the Authorization header.
 */
export const CANARY_KEY = 'sk-canary-7d1f0e9b4c5a48b2';

/** Files into which a test writes a key, so that the program reads it. */
const KEY_FILE = /^(\.env|key|api-key|.*\.key)$/;
/** Larger files are made by campaigns that have no service. */
const FILE_BYTES_MAX = 32 * 1024 * 1024;

/** @throws {Error} when a text holds the key. */
export function expectNoCanary(what: string, text: string | Buffer): void {
  const at = text.indexOf(CANARY_KEY);
  if (at < 0) return;
  const around = text
    .toString()
    .slice(Math.max(0, at - 80), at)
    .toWellFormed();
  throw new Error(`the API key stands in ${what}, after ${JSON.stringify(around)}`);
}

/** @throws {Error} when a file in a folder, or below it, holds the key. */
export function expectNoCanaryIn(folder: string): void {
  // Not `recursive`, which follows links, for example to this package.
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) expectNoCanaryIn(path);
    if (!entry.isFile() || KEY_FILE.test(basename(path))) continue;
    const { size, mode } = statSync(path);
    if (size <= FILE_BYTES_MAX && (mode & 0o400) !== 0) expectNoCanary(path, readFileSync(path));
  }
}
