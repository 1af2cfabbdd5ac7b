import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { MAIN } from '../../support/process/daywalk-process.ts';

const NEEDED: string = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  .engines.node;

/** Starts the program with a Node that says that it has another version. */
function startOn(version: string, ...args: string[]) {
  const versions = `{ ...process.versions, node: '${version}' }`;
  const disguise = `Object.defineProperty(process, 'versions', { value: ${versions} })`;
  const options = ['--import', `data:text/javascript,${encodeURIComponent(disguise)}`];
  return spawnSync(process.execPath, [...options, MAIN, ...args], { encoding: 'utf8', input: '{}' });
}

describe('the program starts only on the versions of Node that package.json names', () => {
  test('these are 22.19 and newer, 24, and 26 and newer', () => {
    expect(NEEDED).toBe('^22.19 || ^24 || >=26');
  });

  test.each(['18.20.8', '20.20.2', '22.18.0', '23.11.0', '25.9.0'])(
    'Node %s exits with 2 and one line',
    (version) => {
      const line = `daywalk: needs Node ${NEEDED}; this is Node ${version} (${process.execPath})\n`;
      expect(startOn(version, 'run')).toMatchObject({ status: 2, stdout: '', stderr: line });
    },
  );

  test.each(['22.19.0', '22.23.3', '24.0.0', '26.0.0', '27.1.0'])('Node %s starts it', (version) => {
    expect(startOn(version, '--version')).toMatchObject({ status: 0, stderr: '' });
  });

  test('a hook call exits with 0, because 2 would block the agent, and says that it stores nothing', () => {
    const { status, stdout, stderr } = startOn('20.20.2', 'hook');
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    expect(stderr).toBe(`daywalk hook: needs Node ${NEEDED}; this is Node 20.20.2 (${process.execPath})\n`);
    expect(startOn('20.20.2', 'hook', '--help').status).toBe(2);
  });

  test('the entry imports no other file before, because an old Node could not parse it', () => {
    expect(readFileSync(MAIN, 'utf8')).not.toMatch(/^import\b/m);
  });
});
