import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tryFileLock } from '../../../src/core/sqlite-files.ts';
import { daywalk } from '../../support/process/daywalk-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

it('a test of a restore without a folder for temporary files is exit code 6; one removes what a killed one has left', {
  tags: 'ci/rare',
}, async () => {
  const rig = await createRig({ today: '2026-01-16', users: 3, reports: 0 });
  await rig.run();
  const backup = join(tempDir(), 'backup.db');
  const env = { DAYWALK_WAREHOUSE: rig.path, DAYWALK_NOW: '2026-01-16T05:00:00Z' };
  expect((await daywalk(['backup', backup], { env })).code).toBe(0);
  const absent = { ...env, TMPDIR: join(tempDir(), 'absent') };
  const { code, stderr } = await daywalk(['restore', '--test', backup], { env: absent });
  expect([code, stderr]).toEqual([6, expect.stringMatching(/create a folder in .*set TMPDIR/)]);
  const folder = tempDir();
  for (const name of ['daywalk-killed', 'daywalk-in_use', 'daywalk-foreign']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, name === 'daywalk-foreign' ? 'other' : '.lock'), '');
  }
  const lock = tryFileLock(join(folder, 'daywalk-in_use', '.lock'));
  const own = { ...env, TMPDIR: folder };
  expect((await daywalk(['restore', '--test', backup], { env: own })).code).toBe(0);
  lock?.release();
  expect(readdirSync(folder)).toEqual(['daywalk-foreign', 'daywalk-in_use']);
});
