import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { UsageError } from '../../../src/core/errors.ts';
import { parseRules } from '../../../src/emulator/faults/rules.ts';
import { DEFAULT_QUIRKS, parseQuirks } from '../../../src/emulator/quirks.ts';
import { REVISION_KINDS } from '../../../src/emulator/revise.ts';
import { probe } from '../../support/emulator/probe.ts';

const DOCS = readFileSync(new URL('../../../docs/emulator.md', import.meta.url), 'utf8');
const ACTION_TYPES = [
  'status',
  'body',
  'headers',
  'redirect',
  'patch',
  'spoil',
  'cursor',
  'answer-as',
  'gzip-bomb',
  'revise',
  'delay',
  'hang',
  'reset',
  'cut',
  'drip',
  'close',
  'raw',
  'malformed-status-line',
  'oversized-headers',
];

/** The code blocks of the documentation whose fence begins so. */
function blocks(fence: string): string[] {
  return [...DOCS.matchAll(new RegExp(`\`\`\`${fence}\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, code = '']) => code,
  );
}

function hintOf(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (error instanceof UsageError) return error.hint ?? '';
  }
  return '';
}

function documented(names: readonly string[]): string[] {
  return names.filter((name) => !DOCS.includes(`| \`${name}\` |`));
}

test('every quirk is documented with its default', () => {
  for (const [name, value] of Object.entries(DEFAULT_QUIRKS)) {
    const row = new RegExp(`\\| \`${name}\` \\| (.*?) \\|`).exec(DOCS)?.[1];
    expect([name, row?.replaceAll('`', '')]).toEqual([name, JSON.stringify(value)]);
  }
});

test('the documentation lists all actions and kinds of revisions, and no others', () => {
  expect(documented(ACTION_TYPES)).toEqual([]);
  expect(documented(REVISION_KINDS)).toEqual([]);
  expect(() => parseRules([{ action: { type: 'none' } }])).toThrow(
    expect.objectContaining({
      hint: `rules[0].action.type must be ${ACTION_TYPES.map((type) => `"${type}"`).join(' or ')}`,
    }),
  );
});

test('the rule examples are valid, and every action has one', () => {
  const rules = blocks('json rules').flatMap((code) => parseRules(JSON.parse(code)));
  const shown = new Set<string>(rules.flatMap(({ action }) => [action].flat()).map(({ type }) => type));
  expect(ACTION_TYPES.filter((type) => !shown.has(type))).toEqual([]);
});

test('the quirks example is valid', () => {
  const [, quirks = ''] = blocks('json');
  expect(Object.keys(parseQuirks(JSON.parse(quirks)))).toEqual(['modelKey', 'maxRangeDays', 'rateLimit']);
});

test('the lies example has every lie, and the table lists each', () => {
  const [code = ''] = blocks('json lies');
  const lies = Object.keys(parseQuirks(JSON.parse(code)).lies ?? {});
  expect(documented(lies)).toEqual([]);
  const known = /known here: (.*)$/.exec(hintOf(() => parseQuirks({ lies: { none: true } })))?.[1];
  expect(lies.toSorted()).toEqual(known?.split(', ').toSorted());
});

test('every admin request is documented', async () => {
  const { get } = await probe({ users: 1 });
  const { json: routes } = await get('/__admin');
  expect(routes.length).toBeGreaterThan(10);
  for (const { method, path } of routes) expect(DOCS).toContain(`\`${method} ${path}\``);
});
