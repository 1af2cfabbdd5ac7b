// Builds in a folder beside dist/, and replaces the previous build while programs run from it.
//
// Each file is renamed into place: first the chunks, then the entry points that import them. Renaming the whole folder would
// need two steps; between them there would be no dist/, and a hook call would fail.
import { createHash } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Records the inputs and the files of a build. Written last. */
const STAMP = '.build.json';
/** Inputs of a build; folders include all their files. */
const INPUTS = [
  'src',
  'schema',
  'jobs',
  'scripts/build.mjs',
  'scripts/build-place.mjs',
  'scripts/bundling.mjs',
  'scripts/declarations.mjs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
/** A build takes at most half a minute on a slow machine, so an older lock belongs to a dead process. */
const LOCK_MS_MAX = 300_000;
const LOCK_PAUSE_MS = 100;
/** Chunks of earlier builds stay this long, because running programs may still load them. */
const CHUNK_MS_MIN = 24 * 60 * 60 * 1000;

/** Hash of all inputs of a build. */
export function inputsHash(root) {
  const hash = createHash('sha256');
  for (const input of INPUTS) {
    for (const path of filesIn(root, input)) {
      const content = readFileSync(join(root, path));
      hash.update(`${path}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest('hex');
}

/** Whether dist/ is a complete build from these inputs. */
export function isBuiltFrom(root, inputs) {
  const stamp = stampOf(root);
  return stamp.inputs === inputs && stamp.files.every((path) => existsSync(join(root, 'dist', path)));
}

/**
 * Builds in a temporary folder beside dist/. Only one build runs at a time; others wait up to 5 minutes.
 * @throws {Error} if another build holds the lock for longer.
 */
export async function withBuildLock(root, build) {
  const lock = join(root, 'dist.lock');
  const part = join(root, `dist.part-${process.pid}`);
  await takeLock(lock);
  try {
    // Leftovers of killed builds.
    for (const name of readdirSync(root).filter((entry) => entry.startsWith('dist.part-'))) {
      rmSync(join(root, name), { recursive: true, force: true });
    }
    mkdirSync(part);
    await build(part);
  } finally {
    rmSync(part, { recursive: true, force: true });
    rmSync(lock, { force: true });
  }
}

/** Puts a finished build into place. After a kill at any moment dist/ still works, and the next start builds it again. */
export function putInPlace(root, part, inputs) {
  const dist = join(root, 'dist');
  const files = filesIn(part, '.').sort((a, b) => rankOf(a) - rankOf(b));
  // Running programs may still load them.
  const before = stampOf(root).files.filter(isChunk);
  mkdirSync(dist, { recursive: true });
  stamp(root, part, { inputs: 'half in place', files: [...files, ...before] });
  for (const path of files) {
    mkdirSync(dirname(join(dist, path)), { recursive: true });
    renameSync(join(part, path), join(dist, path));
  }
  const kept = new Set([STAMP, ...files, ...before]);
  for (const path of filesIn(dist, '.')) {
    if (!kept.has(path) && !isYoungChunk(dist, path)) rmSync(join(dist, path), { force: true });
  }
  stamp(root, part, { inputs, files });
}

function stamp(root, part, content) {
  writeFileSync(join(part, STAMP), JSON.stringify(content));
  renameSync(join(part, STAMP), join(root, 'dist', STAMP));
}

function stampOf(root) {
  try {
    const { inputs, files } = JSON.parse(readFileSync(join(root, 'dist', STAMP), 'utf8'));
    if (!Array.isArray(files)) throw new Error('not a stamp');
    return { inputs, files };
  } catch {
    return { inputs: 'not known', files: filesIn(root, 'dist').map((path) => relative('dist', path)) };
  }
}

/** Chunk names contain a hash of their content, so chunks of two builds can coexist. */
function isChunk(path) {
  return path.startsWith(`chunks${sep}`);
}

function isYoungChunk(dist, path) {
  return isChunk(path) && Date.now() - statSync(join(dist, path)).mtimeMs < CHUNK_MS_MIN;
}

/** Imported files come before their importers, and migrations before the list that names them. */
function rankOf(path) {
  if (isChunk(path)) return 0;
  return path.endsWith('.js') || path.endsWith('_journal.json') ? 2 : 1;
}

/** Paths, relative to `root`, of the files in a folder, or of the single file; empty if there is none. */
function filesIn(root, path) {
  const status = statSync(join(root, path), { throwIfNoEntry: false });
  if (status === undefined) return [];
  if (!status.isDirectory()) return [path];
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => filesIn(root, join(path, name)));
}

async function takeLock(lock) {
  const own = `${lock}-${process.pid}`;
  writeFileSync(own, JSON.stringify({ host: hostname(), pid: process.pid }));
  try {
    // A link is created completely or not at all, so no process reads an incomplete lock.
    for (let waited = 0; !link(own, lock); waited += LOCK_PAUSE_MS) {
      if (waited > LOCK_MS_MAX) throw new Error(`another build holds ${lock}; remove it if there is none`);
      if (isLeft(lock)) rmSync(lock, { force: true });
      else await sleep(LOCK_PAUSE_MS);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

function link(own, lock) {
  try {
    linkSync(own, lock);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Whether the process that created a lock has died. For a process of another host, only the age counts. */
function isLeft(lock) {
  try {
    if (Date.now() - statSync(lock).mtimeMs > LOCK_MS_MAX) return true;
    const { host, pid } = JSON.parse(readFileSync(lock, 'utf8'));
    if (host === hostname()) process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
