// @module-tag ci/upkeep

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { currentCommit, shortCommit, whyOutdated } from '../../../bench/support/commits.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'daywalk-commits-'));
  mkdirSync(join(root, 'bench/cost'), { recursive: true });
  git('init', '--quiet');
  commit('bench/cost/expected.json', '1');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function git(...args: string[]): void {
  const identity = [
    '-c',
    'user.name=Test',
    '-c',
    'user.email=test@example.com',
    '-c',
    'commit.gpgsign=false',
  ];
  execFileSync('git', ['-C', root, ...identity, ...args], { stdio: 'pipe' });
}

/** Commits a file. Returns the commit. */
function commit(path: string, text: string): string {
  writeFileSync(join(root, path), text);
  git('add', '--all');
  git('commit', '--quiet', '--message', path);
  return currentCommit(root) ?? '';
}

describe('the commit of a figure', () => {
  it('is marked if files differ from it, but not because of the results', () => {
    const clean = currentCommit(root);
    expect(clean).toMatch(/^[0-9a-f]{40}$/);
    writeFileSync(join(root, 'bench/results.json'), '{}');
    expect(currentCommit(root)).toBe(clean);
    writeFileSync(join(root, 'code.ts'), '');
    expect(currentCommit(root)).toBe(`${clean}-dirty`);
    expect(shortCommit(currentCommit(root))).toBe(`${clean?.slice(0, 7)}-dirty`);
  });

  it('is current until the counts change after it', () => {
    const measured = commit('code.ts', '1');
    expect(whyOutdated(measured, root)).toBeNull();
    commit('code.ts', '2');
    expect(whyOutdated(measured, root)).toBeNull();
    const changed = commit('bench/cost/expected.json', '2');
    expect(whyOutdated(measured, root)).toContain(`before the counts changed in ${changed.slice(0, 7)}`);
    expect(whyOutdated(changed, root)).toBeNull();
  });

  it('is not current while the counts have changes that are in no commit', () => {
    const measured = currentCommit(root);
    writeFileSync(join(root, 'bench/cost/expected.json'), '2');
    expect(whyOutdated(measured, root)).toContain('in no commit');
  });

  it('is not current if it is unknown, was not clean, or is in another clone', () => {
    expect(whyOutdated(null, root)).toContain('unknown');
    expect(whyOutdated(`${currentCommit(root)}-dirty`, root)).toContain('in no commit');
    expect(whyOutdated('0'.repeat(40), root)).toContain('not in this clone');
  });
});
