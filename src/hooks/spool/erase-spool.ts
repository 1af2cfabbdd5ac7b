import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, StorageError } from '../../core/errors.ts';
import { parseJson } from '../../core/json.ts';
import { replaceFile } from '../../core/replace-file.ts';
import type { ErasedPeople } from '../../privacy/erased-people.ts';
import { linesOf } from './lines.ts';

/**
 * Replaces erased people in the files of a spool that a drain has left, or counts them. Call it after a drain: events that are
 * still to be drained must not change, because their IDs depend on their text. Returns the number of lines that named someone.
 * @throws {StorageError} if a file cannot be read or written.
 */
export async function eraseFromSpool(
  directory: string,
  people: ErasedPeople,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<number> {
  if (!existsSync(directory)) return 0;
  let changed = 0;
  const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { name } of files) {
    if (!isDryRun && !name.endsWith('.kept')) continue;
    changed += await eraseFromFile(join(directory, name), people, isDryRun);
  }
  return changed;
}

async function eraseFromFile(path: string, people: ErasedPeople, isDryRun: boolean): Promise<number> {
  const lines: string[] = [];
  let changed = 0;
  try {
    for await (const line of linesOf(path)) {
      const after = parseJson(line) === undefined ? people.text(line) : people.json(line);
      if (after !== line) changed += 1;
      lines.push(after);
    }
  } catch (error) {
    throw new StorageError(`read the spool ${path}: ${messageOf(error)}`, { cause: error });
  }
  if (changed > 0 && !isDryRun) await replaceFile(path, `${lines.join('\n')}\n`);
  return changed;
}
