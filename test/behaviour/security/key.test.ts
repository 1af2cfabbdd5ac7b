import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allTables } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { parseRules } from '../../../src/emulator/faults/rules.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { CANARY_KEY, expectNoCanary, expectNoCanaryIn } from '../../support/rig/canary-key.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const RANGE = { from: parseDay('2026-02-07') };

/** A service that echoes the key wherever it can: in errors, unknown fields, names, and in place of numbers. */
const ECHO = parseRules([
  {
    id: 'error',
    match: { stream: 'tools' },
    action: { type: 'status', status: 400, detail: 'key {{apiKey}}' },
  },
  {
    id: 'row',
    match: { stream: 'users' },
    action: {
      type: 'patch',
      operations: [
        { op: 'set', path: '/data/0/unknown', value: `Bearer ${CANARY_KEY}` },
        { op: 'set', path: '/data/0/primary_model', value: CANARY_KEY },
        { op: 'set', path: '/data/1/sessions', value: CANARY_KEY },
        { op: 'set', path: `/data/0/${CANARY_KEY}`, value: 1 },
      ],
    },
  },
]);

onEachDatabase((database) => {
  test('Z4: a key echoed in errors, names and broken records is stored nowhere', async () => {
    const rig = await createRig({ users: 6, reports: 1, rules: ECHO }, { database });
    const { report } = await rig.run({ ...RANGE, settings: { rangeDays: 1 } });
    expect(report.exitCode).toBe(5);
    const fired = rig.emulator.journal().rules.filter(({ firings, missed }) => firings > missed);
    expect(fired.map(({ id }) => id)).toEqual(['error', 'row']);
    let redacted = 0;
    for (const { name } of allTables) {
      const text = JSON.stringify(await rig.sql(`SELECT * FROM ${name}`));
      expectNoCanary(`the table ${name}`, text);
      redacted += text.split('[redacted]').length - 1;
    }
    // An error, a record in quarantine, a model, an unknown field and its name, and their drift.
    expect(redacted).toBeGreaterThan(6);
  });
});

test('Z4: a key on the command line is refused, and not printed', async () => {
  const rig = await createRig({ users: 2, reports: 0 });
  const env = envOf(rig, { DAYWALK_API_KEY: '' });
  for (const flag of ['--api-key', '--key', '--token']) {
    const { code, stderr } = await daywalkInProcess(['run', flag, 'a-key-that-was-given'], { env });
    expect({ flag, code }).toEqual({ flag, code: 2 });
    expect(stderr).toContain(flag);
  }
  expect(rig.emulator.journal().requests).toBe(0);
});

test('Z4: the search of these tests finds the key in a text and in a file at any depth', () => {
  expect(() => expectNoCanary('a text', `x${CANARY_KEY}x`)).toThrow('the API key stands in a text');
  expectNoCanary('a text', 'sk-canary');
  const folder = tempDir();
  mkdirSync(join(folder, 'a/b'), { recursive: true });
  const path = join(folder, 'a/b/log');
  writeFileSync(path, Buffer.concat([Buffer.from([0xff, 0]), Buffer.from(CANARY_KEY)]));
  expect(() => expectNoCanaryIn(folder)).toThrow(path);
  writeFileSync(path, 'nothing');
  expectNoCanaryIn(folder);
});
