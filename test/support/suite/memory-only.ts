import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import workerThreads from 'node:worker_threads';
import type Sqlite from 'better-sqlite3';
import { vi } from 'vitest';

/** The functions of `node:fs` that change files, in all their forms. */
const WRITES =
  /^(append|chmod|chown|copy|cp|createWrite|fchmod|fchown|ftruncate|lchown|link|lutimes|mkdir|mkdtemp|rename|rm|symlink|truncate|unlink|utimes|write)/;

/** Unit tests work in memory: whatever else they try throws. They may read files, for example of the repository. */
function refuseAllButMemory(): void {
  replace(net.Socket.prototype, /^connect$/, () => refuse('a connection'));
  replace(net.Server.prototype, /^listen$/, () => refuse('a server'));
  replace(dgram, /^createSocket$/, () => refuse('a socket'));
  replace(childProcess, /^(spawn|exec|fork)/, () => refuse('a process'));
  replace(workerThreads, /^Worker$/, () => refuse('a thread'));
  for (const files of [fs, fs.promises]) {
    replace(files, WRITES, () => refuse('writing a file'));
    replace(files, /^open(Sync)?$/, (original, [path, flags = 'r', ...rest]) =>
      flags === 'r' || flags === fs.constants.O_RDONLY
        ? original(path, flags, ...rest)
        : refuse('writing a file'),
    );
  }
  // So that named imports see it.
  syncBuiltinESMExports();
}

/** A function that takes the place of another, which it may call. */
type Replacement = (original: (...args: unknown[]) => unknown, args: unknown[]) => unknown;

function replace(owner: object, names: RegExp, replacement: Replacement): void {
  for (const [name, original] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
    const { value } = original;
    if (!names.test(name) || typeof value !== 'function') continue;
    // A function, not an arrow, so that `new` reaches it.
    const replaced = function (this: unknown, ...args: unknown[]): unknown {
      return replacement((...given) => value.apply(this, given), args);
    };
    Object.defineProperty(owner, name, { ...original, value: replaced });
  }
}

// SQLite opens files by itself.
vi.mock('better-sqlite3', async (importOriginal) => {
  const { default: Original } = await importOriginal<{ default: typeof Sqlite }>();
  return {
    default: new Proxy(Original, {
      construct: (target, [path, ...rest]) =>
        path === ':memory:' ? new target(path, ...rest) : refuse('a database in a file'),
    }),
  };
});

function refuse(what: string): never {
  throw new Error(`${what} is not for test/unit: a test that needs it belongs in test/behaviour`);
}

// A worker runs many test files, and this before each.
const DONE = Symbol.for('daywalk: memory only');
if (!(DONE in process)) {
  Object.assign(process, { [DONE]: true });
  refuseAllButMemory();
}
