// @module-tag campaign/build

import { expect, test } from 'vitest';
import { createRig } from '../../support/rig/rig.ts';
import {
  type Edit,
  placesFor,
  placesOf,
  type ScratchCopy,
  scratchCopy,
} from '../../support/structure/scratch-copy.ts';

/** Makes a change at exactly the places that CONTRIBUTING.md names for it, in the same order, and generates the pages. */
function change(words: string, edits: readonly Edit[]): ScratchCopy {
  const copy = scratchCopy();
  const places = placesFor(words);
  expect(places.length).toBeGreaterThan(0);
  expect(placesOf(edits, places)).toEqual(places);
  copy.edit(edits);
  expect(copy.run(['scripts/generate-docs.ts'])).toMatchObject({ code: 0, stderr: '' });
  return copy;
}

test('a setting is one entry of the table: it has a type, a flag, help, pages, an entry of daywalk config, and refuses wrong values', () => {
  const copy = change('add a setting', [
    {
      file: 'src/settings/settings-table.ts',
      before: / {2}minGroup: setting/,
      add: `  pauseMs: setting('DAYWALK_PAUSE_MS', {
    group: 'pull',
    flag: '--pause-ms <ms>',
    doc: 'pause between two units',
    fallback: 250,
    parse: wholeNumber({ min: 0, max: 1_000 }),
  }),`,
    },
  ]);
  // Its use: the compiler knows that it is a number.
  const use = `import type { Settings } from './settings.ts';
export const pauseOf = ({ pauseMs }: Settings): [number, string] => [pauseMs, pauseMs];`;
  copy.edit({ file: 'src/settings/use.ts', add: use });
  expect(copy.compile()).toEqual([
    expect.stringMatching(/^src\/settings\/use\.ts.*Type 'number' is not assignable to type 'string'/),
  ]);

  const shown = (...args: string[]) =>
    JSON.parse(copy.daywalk(['config', '--json', ...args]).stdout).settings['DAYWALK_PAUSE_MS'];
  expect(shown()).toEqual({ flag: '--pause-ms', value: '250', source: 'default' });
  expect(shown('--pause-ms', '5')).toEqual({ flag: '--pause-ms', value: '5', source: 'flag' });

  const refused = copy.daywalk(['run', '--log', 'pretty'], { DAYWALK_PAUSE_MS: '1001' });
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(
    'DAYWALK_PAUSE_MS in the environment: "1001" is not a whole number from 0 to 1000',
  );
  expect(refused.stderr).toContain('it is too large: give a number from 0 to 1000');

  const help = (command: string) => copy.daywalk([command, '--help']).stdout.replace(/\s+/g, ' ');
  expect(help('run')).toContain('--pause-ms <ms> pause between two units; 0 to 1000 (default: 250)');
  expect(help('run')).toContain('DAYWALK_PAUSE_MS same as --pause-ms');
  expect(help('status')).not.toContain('DAYWALK_PAUSE_MS');

  expect(copy.read('docs/settings.md')).toContain(
    '| `DAYWALK_PAUSE_MS` | `--pause-ms` | `250` | pause between two units; 0 to 1000 |',
  );
  expect(copy.read('docs/commands.md')).toMatch(/^Settings: .*`DAYWALK_WATCH_REQUESTS`, `DAYWALK_PAUSE_MS`/m);
  expect(copy.read('.env.example')).toContain(
    '# pause between two units; 0 to 1000 (default: 250)\n# DAYWALK_PAUSE_MS=250',
  );
});

test('a command is its entry, its action and its job: it is listed, has help and a section of the page, and runs', async () => {
  const copy = change('add a command', [
    {
      file: 'src/cli/commands/checks.ts',
      before: / {2}\{\n {4}name: 'digest'/,
      add: `  {
    name: 'count',
    summary: 'counts the stored days',
    description: 'Counts the units that are stored. Only reads the warehouse; sends nothing.',
    uses: usesOf('warehouse'),
    flags: jsonFlag,
    examples: { 'daywalk count': 'the number of units', 'daywalk count --json': 'the same, for a script' },
    resultIsOutput: true,
    load: async () => (await import('../actions/count.ts')).countAction,
  },`,
    },
    {
      file: 'src/cli/actions/count.ts',
      add: `import { countUnits } from '../../../jobs/count.ts';
import { EXIT } from '../../core/exit-code.ts';
import type { Action } from '../program/command.ts';

export const countAction: Action = async ({ settings, job, out }) => {
  const units = await countUnits(settings, job);
  out.show({ units }, () => [\`\${units} units\`]);
  return EXIT.ok;
};`,
    },
    {
      file: 'jobs/count.ts',
      add: `import type { JobContext } from '../src/core/clock.ts';
import type { Settings } from '../src/settings/index.ts';
import { readUnits } from '../src/ledger/index.ts';
import { withWarehouse } from '../src/warehouse/index.ts';
import { onlyOrganization } from '../src/organizations/index.ts';

export function countUnits({ warehouse }: Settings, { clock }: Pick<JobContext, 'clock'>): Promise<number> {
  return withWarehouse(warehouse, { clock, create: false }, async (opened) => {
    const units = await readUnits(opened, (await onlyOrganization(opened)) ?? '');
    return units.length;
  });
}`,
    },
  ]);
  expect(copy.compile()).toEqual([]);

  const help = copy.daywalk(['--help']).stdout;
  expect(help).toMatch(/^ {2}verify .*\n {2}count +counts the stored days\n {2}digest /m);
  expect(copy.daywalk(['count', '--help']).stdout).toContain('--warehouse <path or url>');
  expect(copy.read('docs/commands.md')).toContain('## daywalk count\n\nCounts the units that are stored.');

  const rig = await createRig();
  await rig.run();
  const [units = 0] = await rig.column<number>('SELECT COUNT(*) FROM export_units');
  expect(units).toBeGreaterThan(20);
  const { code, stdout, stderr } = copy.daywalk(['count', '--json', '--warehouse', rig.path]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({ units });
});

/** Runs a command of the copy that fails with the new error, and prints which of two causes counts. */
const FAIL = `
import { commands } from './src/cli/commands.ts';
import { runCli } from './src/cli/program/run-cli.ts';
import { EXIT, worstExit } from './src/core/exit-code.ts';
import { QuotaError } from './src/core/errors.ts';
const failing = { ...commands[0], load: async () => async () => { throw new QuotaError('pull users: the quota is used up') } };
const { stdout, stderr } = process;
process.exitCode = await runCli({
  argv: ['run', '--log', 'pretty'], env: {}, directory: () => process.cwd(), stdin: () => process.stdin, stdout, stderr,
  commands: [failing], version: () => '', self: () => '', onDefect: () => undefined,
  control: { on: () => undefined, off: () => undefined, leave: () => undefined, exit: () => undefined },
});
console.log(JSON.stringify([EXIT.upstream, EXIT.quarantine].map((other) => worstExit([other, EXIT.overQuota]))));
`;

test('an exit code is its number and its words, which the compiler asks for: it is in the help and on the page, and ends a command', () => {
  const [number, ...words]: readonly Edit[] = [
    { file: 'src/core/exit-code.ts', before: / {2}\/\*\* The service failed/, add: '  overQuota: 7,' },
    {
      file: 'src/core/exit-code.ts',
      before: / {2}\[EXIT\.storage\]: /,
      add: "  [EXIT.overQuota]: { ofAny: 'the quota is used up' },",
    },
    {
      file: 'scripts/exit-codes-table.ts',
      before: / {2}\[EXIT\.storage\]: /,
      add: "  [EXIT.overQuota]: { remedy: 'wait until tomorrow' },",
    },
    {
      file: 'src/core/errors.ts',
      before: /\/\*\* The warehouse cannot be read or written/,
      add: `export class QuotaError extends DaywalkError {
  constructor(message: string, options: DaywalkErrorOptions = {}) {
    super(message, { ...options, exitCode: EXIT.overQuota, effect: 'run' });
  }
}`,
    },
  ];
  if (number === undefined) throw new Error('there is no first edit');
  const unexplained = scratchCopy();
  unexplained.edit(number);
  const missing = (file: string) => expect.stringMatching(new RegExp(`^${file}.*'7' is missing`));
  expect(unexplained.compile()).toEqual([
    missing('scripts/exit-codes-table.ts'),
    missing('src/core/exit-code.ts'),
  ]);

  const copy = change('add an exit code', [number, ...words]);
  expect(copy.compile()).toEqual([]);
  expect(copy.daywalk(['--help']).stdout).toMatch(/^ {3}6 .*\n {3}7 {2}the quota is used up\n {2}75 /m);
  expect(copy.read('docs/operations.md')).toContain('| 7 | the quota is used up | wait until tomorrow |');
  expect(copy.read('docs/operations.md')).toContain('precedence is 1, 6, 3, 2, 75, 143, 130, 5, 7, 4.');

  copy.edit({ file: 'fail.mts', add: FAIL });
  const { code, stdout, stderr } = copy.run(['fail.mts']);
  expect({ code, stdout: stdout.trim() }).toEqual({ code: 7, stdout: '[7,5]' });
  expect(stderr).toContain('pull users: the quota is used up');
});

test('a metric is its declaration and its example: it is listed, documented, and answers', async () => {
  const copy = change('add a metric', [
    {
      file: 'schema/metrics/user-metrics.ts',
      before: / {2}ratio\('thinking_share'/,
      add: `  ratio('hooks_per_session', {
    title: 'Hooks per session',
    unit: 'invocations per session',
    doc: 'Invocations of hooks divided by sessions.',
    of: sum('hooks'),
    to: sum('sessions'),
  }),`,
    },
    {
      file: 'schema/reference/metric-examples.ts',
      before: / {2}thinking_share: monthly/,
      add: "  hooks_per_session: monthly('How many hooks did a session run?', 'hooks / NULLIF(sessions, 0)'),",
    },
  ]);
  expect(copy.compile()).toEqual([]);
  expect(copy.read('docs/metrics.md')).toContain('hooks_per_session');
  expect(copy.read('docs/warehouse.md')).toContain('How many hooks did a session run?');
  expect(copy.daywalk(['metric']).stdout).toContain('hooks_per_session');

  const rig = await createRig();
  await rig.run();
  const expected = await rig.sql<{ month: string; value: number }>(
    'SELECT substr(date, 1, 7) AS month, 1.0 * SUM(hooks) / SUM(sessions) AS value FROM user_daily GROUP BY 1 ORDER BY 1',
  );
  expect(expected.length).toBeGreaterThan(1);
  const asked = ['metric', 'hooks_per_session', '--by', 'month', '--json', '--warehouse', rig.path];
  const { code, stdout, stderr } = copy.daywalk(asked);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout).rows).toEqual(expected);
});
