import { expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const DAY = parseDay('2026-02-09');

/** Names that mean something to a database, a terminal, a spreadsheet or a JavaScript object. */
const HOSTILE = [
  "'; DROP TABLE tokens_daily; --",
  '"); DELETE FROM export_units; --',
  '$1 ? %s :name @name',
  '\u001b[2J\u001b[31mred\u0007',
  'a line\nanother\r\n',
  '\u202egnp.exe',
  "=cmd()|'/c calc'!A1",
  '+1-1@SUM(A1)',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  'NULL',
  '🦀 \u{10ffff}',
];

onEachDatabase((database) => {
  test('Z5: hostile names are read back as they were sent, and have no effect on the way', async () => {
    const rows = HOSTILE.map((tool, index) => ({ tool, invocations: index + 1 }));
    const rules = [
      {
        id: 'names',
        match: { stream: 'tools' as const },
        action: {
          type: 'patch' as const,
          operations: [{ op: 'set' as const, path: '/data/0/by_tool', value: rows }],
        },
      },
    ];
    const rig = await createRig({ users: 4, reports: 1, rules }, { database });
    const { report } = await rig.run({ from: DAY });
    expect(report).toMatchObject({ exitCode: 0, unitsDone: 6 });
    expect(rig.emulator.journal().rules).toMatchObject([{ id: 'names', firings: 1, missed: 0 }]);
    const stored = await rig.sql('SELECT tool, invocations FROM tools_daily_by_tool');
    expect(new Map(stored.map(({ tool, invocations }) => [tool, invocations]))).toEqual(
      new Map(rows.map(({ tool, invocations }) => [tool, invocations])),
    );
    // Found by name too, with the value as a parameter; the tables are all there, and so is the object of all objects.
    for (const { tool, invocations } of rows) {
      const sql = 'SELECT invocations FROM tools_daily_by_tool WHERE tool = ?';
      expect(await rig.value<number>(sql, tool)).toBe(invocations);
    }
    expect(await rig.value<number>('SELECT COUNT(*) FROM export_units')).toBe(6);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

test('Z5: hostile text in an error reaches a terminal as plain text', async () => {
  const detail = `${HOSTILE.join(' ')}`;
  const rules = [
    { match: { stream: 'tools' as const }, action: { type: 'status' as const, status: 400, detail } },
  ];
  const rig = await createRig({ users: 4, reports: 1, rules });
  for (const format of ['pretty', 'json']) {
    const env = envOf(rig, { DAYWALK_LOG: format });
    const ran = await daywalkInProcess(['run', '--from', DAY], { env });
    expect(ran.code).toBe(4);
    const shown = await daywalkInProcess(['status'], { env });
    for (const text of [ran.stdout, ran.stderr, shown.stdout]) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
    expect(ran.stdout).toContain('DROP TABLE');
  }
});
