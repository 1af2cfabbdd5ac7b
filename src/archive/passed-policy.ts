import { resolve } from 'node:path';
import { parseJson } from '../core/json.ts';
import { expectApplied, type NotedPolicy, notedPolicyIn } from '../policy/index.ts';
import type { Warehouse } from '../port/index.ts';
import { type EmailPolicy, usersOf } from '../privacy/index.ts';
import { readArchives } from '../records/index.ts';
import { ArchiveFile, expectWritable, type Patience, withArchive } from './archive-file.ts';
import { fileOfArchive, isWritten } from './archive-place.ts';

/** Under which policy everything in the archive has passed the gate. */
const POLICY = 'policy';

/** An archive that a warehouse with a policy writes, or is about to. */
interface Writing extends Patience {
  readonly archive: string;
  readonly people: EmailPolicy;
  /** Null if there is none yet. */
  readonly warehouse: Pick<Warehouse, 'read'> | null;
}

/**
 * Notes under which policy an archive is written from now on.
 * @throws {UsageError} if it holds what the policy does not keep.
 */
export async function agreePolicy(file: ArchiveFile, { people, ...writing }: Writing): Promise<void> {
  await expectPassed(file, { people, ...writing });
  await notePassed(file, { emails: people.mode, users: usersOf(people) }, writing);
}

/**
 * Makes sure that a run could write an archive, and would agree on a policy with it. Writes nothing, also beside it.
 * @param agreed what is to agree; an archive that is not there agrees. @default nothing is compared
 * @throws {UsageError} as {@link agreePolicy}
 */
export async function expectPlace(
  archive: string,
  agreed?: Pick<Writing, 'people' | 'warehouse'>,
): Promise<void> {
  expectWritable(archive);
  if (agreed === undefined || !isWritten(fileOfArchive(archive))) return;
  await withArchive(ArchiveFile.read(archive, true), (file) => expectPassed(file, { archive, ...agreed }));
}

/** Earlier builds noted none: an archive that runs of this warehouse have written holds what the warehouse holds; others may hold all. */
async function expectPassed(file: ArchiveFile, given: Omit<Writing, keyof Patience>): Promise<void> {
  const { archive, people, warehouse } = given;
  if (file.query('read', () => file.lastId()) === 0) return;
  const noted = notedPolicyIn(parseJson(file.meta(POLICY) ?? ''));
  const known = warehouse === null ? [] : await readArchives(warehouse);
  const isKnown = noted.emails !== null || known.includes(resolve(archive));
  expectApplied(isKnown ? noted : { emails: 'keep', users: 'keep' }, people, file.path);
}

/** Notes that everything in an archive has passed the gate under a policy. */
export async function notePassed(file: ArchiveFile, policy: NotedPolicy, patience: Patience): Promise<void> {
  const text = JSON.stringify(policy);
  if (file.meta(POLICY) === text) return;
  await file.transact('note the policy in', patience, () => file.setMeta(POLICY, text));
}
