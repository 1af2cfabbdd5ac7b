// @module-tag campaign/faults

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { MAIN } from '../../support/process/daywalk-process.ts';
import { leftOut } from '../../support/suite/left-out.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** A folder that only its owner may enter, below one that all may. */
function closedFolder(): string {
  const folder = tempDir();
  chmodSync(folder, 0o755);
  const closed = join(folder, 'data');
  mkdirSync(closed);
  chmodSync(closed, 0o700);
  return closed;
}

function asNobody(args: readonly string[], cwd: string): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    cwd,
    uid: NOBODY,
    gid: NOBODY,
    encoding: 'utf8',
    env: {
      DAYWALK_API_KEY: 'key-of-nobody',
      DAYWALK_BASE_URL: 'http://127.0.0.1:9',
      DAYWALK_LOG: 'pretty',
    },
  });
  return { status, stderr };
}

describe(
  'S8: an error about a folder that the user cannot enter names the folder and the user ID',
  leftOut(isRoot ? null : 'only root can become another user'),
  () => {
    const expectedMessage = (folder: string) =>
      `uid ${NOBODY}, gid ${NOBODY} may not enter the folder ${folder} (owner 0:0, mode 0700)`;

    testVariants(['run', 'status', 'config'])(
      'S8: as the working folder, daywalk %s reports it with exit code 2',
      (command) => {
        const folder = closedFolder();
        const { status, stderr } = asNobody([command], folder);
        expect(stderr).toContain(`use the working folder: ${expectedMessage(folder)}`);
        expect(stderr).not.toContain('.env');
        expect(status).toBe(2);
      },
    );

    testVariants(['run', 'status'])(
      'S8: as the folder of the warehouse, daywalk %s reports it with exit code 6',
      (command) => {
        const folder = closedFolder();
        const warehouse = join(folder, 'deeper/w.db');
        const { status, stderr } = asNobody([command, '--warehouse', warehouse], '/');
        expect(stderr).toContain(`open the warehouse ${warehouse}: ${expectedMessage(folder)}`);
        expect(stderr).toContain('hint: give that folder to this user with chown');
        expect(status).toBe(6);
      },
    );
  },
);
