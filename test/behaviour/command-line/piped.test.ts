import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { parseRules } from '../../../src/emulator/faults/rules.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { createRig } from '../../support/rig/rig.ts';

describe('nothing is cut when the output is not a terminal', () => {
  test('digest prints all 64 hexadecimal digits of every digest', async () => {
    const rig = await createRig({ users: 4, reports: 2 });
    await rig.run({ from: parseDay('2026-02-08') });
    const { stdout } = await daywalkInProcess(['digest'], { env: envOf(rig) });
    expect(stdout).not.toContain('…');
    expect(stdout).toContain(await rig.digest());
    const json = await daywalkInProcess(['digest', '--json'], { env: envOf(rig) });
    const digests = [...json.stdout.matchAll(/"([0-9a-f]{64})"/g)].map(([, digest]) => digest);
    expect(digests.length).toBeGreaterThan(20);
    for (const digest of digests) expect(stdout).toContain(digest);
  });

  test('status prints reasons and errors in full, however long', async () => {
    const detail = 'the reason for it is long '.repeat(10).trim();
    const rules = parseRules([
      {
        match: { stream: 'tools', day: '2026-02-09' },
        action: { type: 'status', status: 422, detail },
      },
    ]);
    const rig = await createRig({ users: 4, reports: 0, rules });
    await rig.run({ from: parseDay('2026-02-08'), settings: { attempts: 1 } });
    const { stdout } = await daywalkInProcess(['status'], { env: envOf(rig) });
    expect(stdout).toContain(detail);
    expect(stdout).not.toContain('…');
  });
});
