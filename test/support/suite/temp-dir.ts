import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { expectNoCanaryIn } from '../rig/canary-key.ts';

/** Creates an empty folder. When the test ends it is removed; the test fails if a file there contains the API key. */
export function tempDir(): string {
  const path = mkdtempSync(join(tmpdir(), 'daywalk-test-'));
  onTestFinished(() => {
    try {
      expectNoCanaryIn(path);
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  });
  return path;
}

/** Returns an unused path in a new empty folder. */
export function tempFile(name = 'daywalk.db'): string {
  return join(tempDir(), name);
}
