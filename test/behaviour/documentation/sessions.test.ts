import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AUTONOMY_LEVELS, INTERACTION_MODES, REASONING_EFFORTS } from '../../../src/api/session-request.ts';
import { parseRules } from '../../../src/emulator/faults/rules.ts';
import { freePort } from '../../support/network/free-port.ts';
import { FIELD_NAMES } from '../../support/sessions/setting-examples.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const PACKAGE = fileURLToPath(new URL('../../../', import.meta.url));
const PAGE = readFileSync(join(PACKAGE, 'docs/sessions.md'), 'utf8');
const PORT = '4010';

/** The blocks of the page in a language, in their order. */
const blocks = (language: string) =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, block = '']) => block);

const has = (program: string) => spawnSync(program, ['--version']).status === 0;

/** A folder in which `npx daywalk` and `import 'daywalk'` are this package. */
function folder(): { cwd: string; path: string } {
  const cwd = tempDir();
  const bin = join(cwd, 'bin');
  mkdirSync(bin);
  mkdirSync(join(cwd, 'node_modules'));
  symlinkSync(PACKAGE, join(cwd, 'node_modules', 'daywalk'));
  const main = join(PACKAGE, 'dist/src/cli/main.js');
  writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(join(bin, 'npx'), 0o755);
  return { cwd, path: `${bin}${delimiter}${process.env['PATH'] ?? ''}` };
}

/** Runs a script to its end, with everything that it left in the background ended too. */
async function run(script: string): Promise<{ code: number | null; output: string }> {
  const { cwd, path } = folder();
  const child = spawn('sh', ['-c', script], {
    cwd,
    env: { PATH: path, TZ: process.env['TZ'] ?? '' },
    detached: true,
  });
  const end = () => {
    try {
      process.kill(-Number(child.pid), 'SIGKILL');
    } catch (error) {
      // The whole group may have ended by itself.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  };
  onTestFinished(end);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  end();
  return { code, output };
}

describe('the page about sessions', () => {
  test('has commands that work in order', { tags: 'ci/upkeep' }, async ({ skip }) => {
    skip(!has('sqlite3') || !has('curl'), 'this machine has no sqlite3, or no curl');
    const [serve = '', ...commands] = blocks('sh');
    const [library = ''] = blocks('js');
    const port = String(await freePort());
    const awaited = `until curl --silent --fail --output /dev/null http://127.0.0.1:${PORT}/openapi.json; do sleep 0.1; done`;
    const script = [
      'set -e',
      serve,
      awaited,
      ...commands.slice(0, -1),
      `cat > library.mjs <<'END'\n${library}END\nnode library.mjs`,
      ...commands.slice(-1),
    ].join('\n');
    const { code, output } = await run(script.replaceAll(PORT, port));
    expect(code, output).toBe(0);
    expect(output.match(/^session +session_/gm)).toHaveLength(4);
    expect(output).toContain('"computerId":"computer-2"');
    expect(output).toContain(
      'computer-1|{"autonomyLevel":"low","interactionMode":"auto","tags":[{"name":"nightly"}]}',
    );
    expect(output).toContain('providerLock \\"servise\\" is not among the known ones');
    expect(output).toMatch(/^session_\w+ pending$/m);
    expect(output).toMatch(/^user_\w+\|\d+\.0$/m);
  });

  test('has fault rules that the emulator accepts', () => {
    const [rules = ''] = blocks('json');
    expect(parseRules(JSON.parse(rules))).toHaveLength(2);
  });

  test('names every setting and every value', () => {
    for (const name of FIELD_NAMES) expect(PAGE).toContain(`\`${name}\``);
    for (const values of [REASONING_EFFORTS, INTERACTION_MODES, AUTONOMY_LEVELS])
      expect(PAGE).toContain(values.join(', '));
  });
});
