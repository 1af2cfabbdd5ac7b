import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const textsIn = (folder: string, extension: RegExp) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => extension.test(path))
    .map((path) => join(folder, path));

const MANIFEST: { engines: { node: string }; devDependencies: Record<string, string> } = JSON.parse(
  read('package.json'),
);
/** The Node that `npm ci` installs. */
const INSTALLED = MANIFEST.devDependencies['node'] ?? '';
const [INSTALLED_MAJOR = ''] = INSTALLED.split('.');
/** `^22.19 || ^24 || >=26` in words. */
const IN_WORDS = 'Node 22.19 or newer (not 23 or 25)';

/** Everything that tells people which Node they need. */
const TEXTS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'Dockerfile',
  '.env.example',
  ...textsIn('deploy', /./).filter((path) => !path.endsWith('prometheus')),
  ...textsIn('docs', /\.(md|ts|mjs|sh|csv|json|jsonc)$/),
];

describe('the versions of Node', () => {
  test('are the same in package.json, in words, in types and in the compiler of the bundles', () => {
    expect(MANIFEST.engines.node).toBe('^22.19 || ^24 || >=26');
    expect(MANIFEST.devDependencies['@types/node']).toMatch(new RegExp(`^\\^${INSTALLED_MAJOR}\\.`));
    expect(read('scripts/bundling.mjs')).toContain("target: 'node22.19'");
  });

  test.each(TEXTS)('in %s are those of package.json', (path) => {
    const text = read(path).replaceAll(/\n(# *)?/g, ' ');
    for (const [mention] of text.matchAll(/\bNode(?:\.js)? v?\d.{0,40}/g)) {
      expect(
        mention.startsWith(IN_WORDS) || mention.startsWith(`Node ${INSTALLED_MAJOR} for npm scripts`),
        mention,
      ).toBe(true);
    }
    for (const [image, major] of text.matchAll(/\bnode:(\d+)[\w.-]*/g))
      expect(major, image).toBe(INSTALLED_MAJOR);
    for (const [label, version] of text.matchAll(/\bnode="([\d.]+)"/g))
      expect(version, label).toBe(INSTALLED);
  });

  test('are named in the README, for the nightly job, and in docs/operations.md', () => {
    const [, nightly = ''] = read('README.md').split('## The nightly job');
    expect(nightly.replaceAll('\n', ' ')).toContain(IN_WORDS);
    expect(read('docs/operations.md')).toContain(IN_WORDS);
  });

  test('are never changed by a driver that is installed aside', () => {
    for (const path of [...TEXTS, 'scripts/image-app.mjs'])
      expect(read(path), path).not.toMatch(/npm (i|install) .*--no-save/);
  });
});
