import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Files that a measurement itself changes. */
const RESULTS = ['bench/results.json', 'bench/peer/results.json', 'docs/performance.md'];
/** The expected counts of `npm run cost`. A commit that changes them may change every other figure. */
const COUNTS = 'bench/cost/expected.json';
const DIRTY = '-dirty';
const HASH_CHARS = 7;

/**
 * The commit of a checkout, followed by `-dirty` if files other than the results differ from it. Null without git.
 */
export function currentCommit(root = ROOT): string | null {
  const commit = git(root, ['rev-parse', 'HEAD']);
  if (commit === null) return null;
  const changed = git(root, ['status', '--porcelain', '--', '.', ...RESULTS.map((path) => `:!${path}`)]);
  return changed === '' ? commit : commit + DIRTY;
}

/** A commit as people read it. */
export function shortCommit(commit: string | null): string {
  if (commit === null) return 'unknown';
  return commit.slice(0, HASH_CHARS) + (commit.endsWith(DIRTY) ? DIRTY : '');
}

/** The reason why a figure that was measured on a commit may be out of date; null if there is none. */
export function whyOutdated(commit: string | null, root = ROOT): string | null {
  if (commit === null) return 'its commit is unknown, so it is older than the counts';
  if (commit.endsWith(DIRTY)) return `measured on ${shortCommit(commit)}, with changes that are in no commit`;
  const since = git(root, ['log', '--format=%h', `${commit}..HEAD`, '--', COUNTS]);
  if (since === null) return `its commit ${shortCommit(commit)} is not in this clone`;
  if (since !== '')
    return `measured on ${shortCommit(commit)}, before the counts changed in ${since.split('\n').join(', ')}`;
  return git(root, ['diff', '--quiet', 'HEAD', '--', COUNTS]) === null
    ? 'the counts have changes that are in no commit'
    : null;
}

/** What git prints; null if it fails. */
function git(root: string, args: readonly string[]): string | null {
  const { status, stdout } = spawnSync('git', ['-C', root, ...args], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}
