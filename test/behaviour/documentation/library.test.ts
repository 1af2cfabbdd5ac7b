// @module-tag ci/upkeep

import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Rule, startEmulator } from '../../../src/emulator/index.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = readFileSync(join(ROOT, 'docs/library.md'), 'utf8');
const KEY = 'key-of-the-examples';
const run = promisify(execFile);

interface Example {
  readonly heading: string;
  readonly code: string;
}

interface Service {
  readonly rules?: readonly Rule[];
  /** @default 40 */
  readonly users?: number;
}

interface Expected {
  /** What the program prints, on stdout and on stderr. */
  readonly prints: readonly RegExp[];
  /** Faults of the service. */
  readonly rules?: readonly Rule[];
}

const brokenTool: Rule = {
  match: { path: '/api/v1/analytics/tools' },
  action: { type: 'patch', operations: [{ op: 'remove', path: '/data/0/by_tool/0/tool' }] },
};
const refusedOnce: Rule = {
  match: { path: '/api/v1/analytics/activity' },
  when: { nth: 1 },
  action: { type: 'status', status: 500 },
};
const lost: Rule = { match: { method: 'POST' }, action: { type: 'reset', afterBytes: 0 } };

/** The examples by the heading above them. */
const EXAMPLES: Readonly<Record<string, Expected>> = {
  'A program in 30 lines': { prints: [/^2026-02-02 \d+$/m, /^2026-02-08 \d+$/m, /^\S+@\S+ \d+$/m] },
  'Read a range of days': { prints: [/^\S+ \[ \d+, \d+ \]$/m] },
  'Group rows': { prints: [/^[a-z][\w.-]+ \d+/m] },
  'Read all users, page by page, or from a page on': { prints: [/^page of 5$/m, /^rest [1-9]\d*$/m] },
  'Read readiness reports': { prints: [/^https?:\S+ [1-9]\d* criteria$/m] },
  'Handle errors': { prints: [/name: 'CredentialError'/, /reason: 'key-rejected'/, /requestId: 'req_\w+'/] },
  'Accept a part of an answer': {
    rules: [brokenTool],
    prints: [/^data\[0\]\.by_tool\[0\] tool must be a text$/m, /^1 usable, 1 rejected$/m],
  },
  'Limit, cancel and extend one call': { prints: [/^7 days$/m] },
  'See the response': { prints: [/^1 200 application\/json.* req_\w+$/m, /^\d+ 200$/m] },
  'Log requests': {
    rules: [refusedOnce],
    prints: [
      /^→ GET \S+ attempt 1$/m,
      /^← 500 req_\w+ \d+ ms$/m,
      /^again in \d+ ms: /m,
      /^→ GET \S+ attempt 2$/m,
    ],
  },
  'Use certificates of your own, or no network': { prints: [/^3 sessions$/m] },
  'Create a session': { prints: [/^session_\w+ pending$/m] },
};

const sections = PAGE.split(/^## /m).slice(1);
const examples = sections.flatMap((section) => {
  const heading = section.slice(0, section.indexOf('\n'));
  return [...section.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => ({ heading, section, code }));
});
const exampleOf = (heading: string) =>
  examples.find((example) => example.heading === heading) ?? { heading, code: '' };
const fileOf = (heading: string) => `${heading.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.ts`;
let folder = '';

/** Runs an example against a service, and returns what it printed. */
async function outputOf({ heading, code }: Example, { rules = [], users = 40 }: Service = {}) {
  const emulator = await startEmulator({ today: '2026-03-02', users, apiKey: KEY, rules });
  try {
    writeFileSync(join(folder, fileOf(heading)), code);
    const env = { ...process.env, API_KEY: KEY, API_URL: emulator.url };
    const { stdout, stderr } = await run(process.execPath, [fileOf(heading)], { cwd: folder, env });
    return stdout + stderr;
  } finally {
    await emulator.close();
  }
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'daywalk-test-'));
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
  symlinkSync(ROOT, join(folder, 'node_modules/daywalk-client'));
  for (const name of ['undici', '@types/node', 'undici-types'])
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('docs/library.md', () => {
  test('has an example for each task, one below each heading', () => {
    expect(examples.map(({ heading }) => heading)).toEqual(Object.keys(EXAMPLES));
  });

  test('says which other packages an example needs', () => {
    const needs = examples.flatMap(({ section, code }) =>
      Array.from(code.matchAll(/ from '([^']+)'/g), ([, name = '']) => ({ section, name })),
    );
    const others = needs.filter(({ name }) => name !== 'daywalk-client');
    expect(others.map(({ name }) => name)).toEqual(['undici']);
    for (const { section, name } of others) expect(section).toContain(`\`npm install ${name}\``);
  });

  test('has a first program of 30 lines', () => {
    const lines = examples[0]?.code.trimEnd().split('\n') ?? [];
    expect(lines.length).toBeLessThanOrEqual(32);
    expect(lines.filter((line) => line !== '').length).toBeLessThanOrEqual(30);
  });

  test.each(examples)('has an example that works: $heading', async (example) => {
    const { prints = [], rules = [] } = EXAMPLES[example.heading] ?? {};
    const output = await outputOf(example, { rules });
    for (const line of prints) expect(output).toMatch(line);
  });

  test('shows what to do about a session that may have been created', async () => {
    expect(await outputOf(exampleOf('Create a session'), { rules: [lost] })).toMatch(
      /^check before you try again: created undefined req_\w+$/m,
    );
  });

  test('shows how to resume a walk that had one page only: not at all', async () => {
    const example = exampleOf('Read all users, page by page, or from a page on');
    expect(await outputOf(example, { users: 4 })).toMatch(/^page of [1-4]\nrest 0$/m);
  });

  test('has examples that compile strictly, also the declarations of the package', () => {
    for (const { heading, code } of examples) writeFileSync(join(folder, fileOf(heading)), code);
    const options = {
      module: 'nodenext',
      target: 'es2024',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noPropertyAccessFromIndexSignature: true,
      noEmit: true,
      types: ['node'],
    };
    const files = examples.map(({ heading }) => fileOf(heading));
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    expect(stdout).toBe('');
    expect(status).toBe(0);
  });
});
