import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageVersion } from '../../../src/core/files.ts';

describe('the version', () => {
  it('is that of the package', () => {
    const file = join(import.meta.dirname, '../../../package.json');
    expect({ version: packageVersion() }).toEqual({
      version: JSON.parse(readFileSync(file, 'utf8')).version,
    });
  });
});
