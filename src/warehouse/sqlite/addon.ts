import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { messageOf, UsageError } from '../../core/errors.ts';

const load = createRequire(import.meta.url);

/** The oldest major version of Node for better-sqlite3 13, which crashes older ones with a segmentation fault. */
const NODE_MIN_OF_13 = 22;
/** The first major version of Node whose header files compile {@link FATAL_CALL} into an addon. */
const NODE_WITH_HOOKS = 24;
/** If the addon of better-sqlite3 12 calls this, Node aborts when its first statement is garbage-collected. */
const FATAL_CALL = 'RemoveEnvironmentCleanupHook';

/** The facts that decide whether better-sqlite3 can be loaded. */
export interface Installation {
  /** The version of better-sqlite3. */
  readonly version: string;
  /** Node's version, without the `v`. */
  readonly node: string;
  /** Reads the compiled part; undefined if it is not in the place that version 12 uses. */
  readonly addon: () => Buffer | undefined;
}

/**
 * Loads the compiled part of better-sqlite3, so that a broken installation is reported before anything is opened.
 * @throws {UsageError} with the remedy when it is missing, does not fit this Node, or would end the process.
 */
export async function requireAddon(): Promise<void> {
  refuseFatal(readInstallation());
  try {
    const { default: Sqlite } = await import('better-sqlite3');
    new Sqlite(':memory:').close();
  } catch (cause) {
    throw installationError(
      messageOf(cause),
      'compile it for this Node with npm rebuild better-sqlite3',
      cause,
    );
  }
}

/** @throws {UsageError} if loading or using better-sqlite3 would end the process without an error. */
export function refuseFatal({ version, node, addon }: Installation): void {
  const sqliteMajor = Number.parseInt(version, 10);
  const nodeMajor = Number.parseInt(node, 10);
  if (sqliteMajor >= 13 && nodeMajor < NODE_MIN_OF_13) {
    const reason = `version ${version} crashes on Node ${node}`;
    throw installationError(
      reason,
      `use Node ${NODE_MIN_OF_13} or newer, or install the locked version with npm ci`,
    );
  }
  if (sqliteMajor < 13 && nodeMajor >= NODE_WITH_HOOKS && addon()?.includes(FATAL_CALL) === true) {
    const reason = `version ${version}, compiled with Node 24.19 or newer, aborts on Node ${node}`;
    throw installationError(
      reason,
      'install the next one with npm install --no-save better-sqlite3@13, or use Node 22',
    );
  }
}

function readInstallation(): Installation {
  try {
    const manifest = load.resolve('better-sqlite3/package.json');
    return {
      version: versionIn(load(manifest)),
      node: process.versions.node,
      addon: () => readIfPresent(join(dirname(manifest), 'build/Release/better_sqlite3.node')),
    };
  } catch (cause) {
    throw installationError(messageOf(cause), 'install the dependencies with npm ci', cause);
  }
}

function versionIn(manifest: unknown): string {
  const known = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return known ? String(manifest.version) : '';
}

function readIfPresent(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function installationError(reason: string, remedy: string, cause?: unknown): UsageError {
  const [first = ''] = reason.split('\n- ').join(' ').split('\nRequire stack');
  return new UsageError(`load better-sqlite3: ${first.replaceAll('\n', ' ')}`, {
    cause,
    hint: `${remedy}, where daywalk is installed (${process.execPath} runs it)`,
  });
}
