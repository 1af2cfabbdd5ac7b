import { hasCode } from './error-code.ts';
import { DaywalkError, messageOf, StorageError, UsageError } from './errors.ts';

/** What to throw when a file cannot be written: a usage error if its folder does not exist, otherwise a storage error. */
export function explainWriteError(error: unknown, path: string): unknown {
  if (error instanceof DaywalkError || !(error instanceof Error) || !('code' in error)) return error;
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) {
    return new UsageError(`write ${path}: its folder does not exist`, {
      cause: error,
      hint: 'create the folder, or name another file',
    });
  }
  return new StorageError(`write ${path}: ${messageOf(error)}`, {
    cause: error,
    hint: 'free space there, and give this user the right to write in the folder',
  });
}
