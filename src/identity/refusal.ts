import { resolve } from 'node:path';
import { StorageError } from '../core/errors.ts';
import { isPostgres } from '../port/index.ts';
import type { Comparison, Marks, Mismatch } from './meeting.ts';

/** Where both sides are, for messages. */
interface Places {
  readonly warehouse: string;
  readonly archive: string;
}

type Words = (places: Places, found: Comparison) => readonly [expected: string, found: string];

const WORDS: Readonly<Record<Mismatch, Words>> = {
  'archive-not-named': (_, { id }) => [`the archive ${id}`, 'no archive is named'],
  'archive-absent': ({ archive }, { id }) => [`the archive ${id}`, `${archive} is absent or empty`],
  'archive-unknown': ({ archive }, { id }) => [
    'an archive that knows this warehouse',
    `${archive} is the archive ${id} of other warehouses`,
  ],
  'archive-lacks-acts': ({ archive }, { lostBy }) => [
    `an archive with the last acts (${kindsIn(lostBy.archive)})`,
    `${archive} is an older copy without them`,
  ],
  'archive-forked': ({ archive }) => [
    'the archive that runs have written since',
    `${archive} is another copy of it, which was written too`,
  ],
  'warehouse-absent': ({ warehouse }, { id }) => [`the warehouse ${id}`, `${warehouse} is absent or empty`],
  'warehouse-unknown': ({ warehouse, archive }, { id }) => [
    `a warehouse that ${archive} knows`,
    `${warehouse} is the warehouse ${id}, which it does not know`,
  ],
  'warehouse-lacks-acts': ({ warehouse }, { lostBy }) => [
    `a warehouse with the last acts (${kindsIn(lostBy.warehouse)})`,
    `${warehouse} is an older copy without them`,
  ],
  'warehouse-forked': ({ warehouse }) => [
    'the warehouse that runs have written since',
    `${warehouse} is another copy of it, which was written too`,
  ],
};

/** The kinds of marks, for a message. */
export function kindsIn(marks: Marks): string {
  return Object.keys(marks).join(', ');
}

/** The places as facts for the command that accepts what is there. The URL of a server has lost its password: it comes from the settings. */
export function placeFacts({ warehouse, archive }: Places): Record<string, string> {
  return {
    ...(isPostgres(warehouse) ? {} : { warehouse: resolve(warehouse) }),
    ...(archive === '' ? {} : { archive: resolve(archive) }),
  };
}

/**
 * @throws {StorageError} with the reason `identity` if a comparison has found a mismatch.
 */
export function expectMatch(comparison: Comparison, places: Places): void {
  const { mismatch, id } = comparison;
  if (mismatch === null) return;
  const [expected, found] = WORDS[mismatch](places, comparison);
  throw new StorageError(`expected ${expected}, and ${found}; nothing was written`, {
    hint: 'put back what was there, or accept what is there now',
    reason: mismatch === 'archive-not-named' ? 'archive-not-named' : 'identity',
    facts: { id, ...placeFacts(places) },
  });
}
