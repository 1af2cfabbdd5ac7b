import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { expectNoCanaryIn } from '../rig/canary-key.ts';

/** A new empty folder. It is removed when the test ends, which fails when the API key stands in a file there. */
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

/** A path in a new empty folder; nothing is there yet. */
export function tempFile(name = 'daywalk.db'): string {
  return join(tempDir(), name);
}
