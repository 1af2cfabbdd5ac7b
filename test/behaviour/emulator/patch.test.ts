import { expect, test } from 'vitest';
import { pathOf, probe } from '../../support/emulator/probe.ts';

test('a patch that finds nothing is counted as missed, so that a test notices a fault without effect', async () => {
  const at = await probe({
    rules: [
      { id: 'patch', action: { type: 'patch', operations: [{ op: 'remove', path: '/data/*/user_id' }] } },
    ],
  });
  expect((await at.get(pathOf('users', '2026-02-03'))).json.data[0]).not.toHaveProperty('user_id');
  expect(at.emulator.journal().rules).toEqual([{ id: 'patch', matches: 1, firings: 1, missed: 0 }]);
  await at.get(pathOf('tools', '2026-02-03'));
  expect(at.emulator.journal().rules).toEqual([{ id: 'patch', matches: 2, firings: 2, missed: 1 }]);
});

test('hostile names reach the client unchanged', async () => {
  const names = [
    "Robert'); DROP TABLE users;--",
    '\u001b[31mred\u001b[0m',
    '=cmd()',
    'a\nb',
    '__proto__',
    '{{apiKey}}',
  ];
  const at = await probe({
    rules: [
      {
        action: {
          type: 'patch',
          operations: names.map((tool) => ({
            op: 'set' as const,
            path: '/data/0/by_tool/-',
            value: { tool, invocations: 1 },
          })),
        },
      },
    ],
  });
  const [row] = await at.rows('tools', '2026-02-03');
  expect(row.by_tool.slice(-names.length).map((element: { tool: string }) => element.tool)).toEqual([
    ...names.slice(0, -1),
    at.emulator.apiKey,
  ]);
});
