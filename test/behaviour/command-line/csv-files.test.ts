import { execFileSync } from 'node:child_process';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const BYTES_MAX = 64 * 1024 * 1024;

test.each(['people', 'prices', 'budget'])(
  'daywalk %s load refuses a FIFO, a device, a folder and a large file before it reads them',
  async (group) => {
    const cwd = tempDir();
    execFileSync('mkfifo', [join(cwd, 'fifo.csv')]);
    writeFileSync(join(cwd, 'large.csv'), '');
    truncateSync(join(cwd, 'large.csv'), BYTES_MAX + 1);
    const irregular = 'it is not a regular file';
    for (const [file, message] of [
      ['fifo.csv', irregular],
      ['/dev/zero', irregular],
      ['.', irregular],
      ['large.csv', `it has ${BYTES_MAX + 1} bytes, more than ${BYTES_MAX}`],
    ] as const) {
      const { code, stdout, stderr } = await daywalkInProcess([group, 'load', file], { cwd });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(`daywalk: read ${file}: ${message}\n`);
      expect(stderr).toContain(
        'hint: give the path of a CSV file, 64 MiB at most; a FIFO, a device or a folder',
      );
    }
  },
);
