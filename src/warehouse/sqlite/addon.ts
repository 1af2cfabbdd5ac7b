import { messageOf, UsageError } from '../../core/errors.ts';

/**
 * Loads the compiled part of better-sqlite3, so that a broken installation is reported before anything is opened.
 * @throws {UsageError} with the remedy when a file is missing or does not fit this platform.
 */
export async function requireAddon(): Promise<void> {
  // The driver asks Node for a report to learn the C library. Reports look up the names of open connections, which can take long.
  Reflect.set(process.report, 'excludeNetwork', true);
  try {
    const { default: Sqlite } = await import('better-sqlite3');
    new Sqlite(':memory:').close();
  } catch (cause) {
    const [first = ''] = messageOf(cause).split('\n- ').join(' ').split('\nRequire stack');
    throw new UsageError(`load better-sqlite3: ${first.replaceAll('\n', ' ')}`, {
      cause,
      hint: `install daywalk again, with npm ci in a clone (${process.execPath} runs it)`,
    });
  }
}
