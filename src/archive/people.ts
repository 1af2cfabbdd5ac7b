import { resolve } from 'node:path';
import { BusyError, StorageError } from '../core/errors.ts';
import { canonicalJson, parseJson } from '../core/json.ts';
import { joinKeptOut, joinLists, parseKeptOut, readKeptOut } from '../kept-out/index.ts';
import { expectApplied, type NotedPolicy, notedPolicyIn } from '../policy/index.ts';
import type { Warehouse } from '../port/index.ts';
import { type EmailPolicy, type KeptOut, NOBODY, usersOf } from '../privacy/index.ts';
import { readArchives } from '../records/index.ts';
import { checksumOf } from './answers.ts';
import { ArchiveFile, expectWritable, type Patience, withArchive } from './archive-file.ts';
import { fileOfArchive, isWritten } from './archive-place.ts';
import { digestOf } from './objects.ts';

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

/**
 * Who was erased from an archive: kept beside the answers, so that a warehouse that is rebuilt from them knows it.
 * @throws {StorageError} if the list is damaged.
 */
export function keptOutOf(file: ArchiveFile): KeptOut {
  const row = file.query('read', () => file.prepare('SELECT list, checksum FROM erased').get());
  if (!Array.isArray(row)) return NOBODY;
  const [text, checksum] = row;
  const list = checksum === checksumOf(String(text)) ? parseKeptOut(String(text)) : undefined;
  if (list !== undefined) return list;
  throw new StorageError(`read ${file.path}: its list of erased people is damaged`, {
    hint: 'restore it from a backup: without it, a replay could store erased people again',
  });
}

/**
 * Gives the archive and the warehouse the erased of both, so that neither brings anyone back to the other, and the keys: a person has
 * one pseudonym in both, also in a warehouse that is rebuilt from the archive.
 * @returns the list of both.
 * @throws {StorageError} if the list of the archive is damaged or cannot be written.
 */
export async function shareKeptOut(
  file: ArchiveFile,
  warehouse: Pick<Warehouse, 'select' | 'transact'>,
  patience: Patience,
): Promise<KeptOut> {
  const own = await readKeptOut(warehouse);
  const kept = keptOutOf(file);
  const joined = joinLists(own, kept);
  if (isLonger(joined, own) || isLonger(joined, kept))
    await joinKeptOut(warehouse, kept, organizationsHeld(file, joined));
  if (!isLonger(joined, kept)) return kept;
  return file.transact('list the erased in', patience, () => {
    // Another process may have listed somebody meanwhile.
    const all = joinLists(joined, keptOutOf(file));
    writeKeptOut(file, all);
    return all;
  });
}

/** As {@link shareKeptOut}. An archive that has all of it is not written. */
export async function shareListOf(
  archive: string,
  { warehouse, ...patience }: Patience & { readonly warehouse: Warehouse },
): Promise<void> {
  const own = await readKeptOut(warehouse);
  const { kept, holds } = await withArchive(ArchiveFile.read(archive), (file) => {
    const list = keptOutOf(file);
    return { kept: list, holds: organizationsHeld(file, joinLists(own, list)) };
  });
  const joined = await joinKeptOut(warehouse, kept, holds);
  if (isLonger(joined, kept))
    await withArchive(ArchiveFile.write(archive), (file) => shareKeptOut(file, warehouse, patience));
}

/** True if a list that was joined from another one has more than that: people, or keys. */
function isLonger(joined: KeptOut, { keys, entries }: KeptOut): boolean {
  return joined.entries.length > entries.length || joined.keys.length > keys.length;
}

/** Those organizations of a list of which an archive has answers. */
function organizationsHeld(file: ArchiveFile, { entries }: KeptOut): Set<string> {
  const orgs = [...new Set(entries.map(({ orgId }) => orgId))];
  const find = file.prepare('SELECT 1 FROM answers WHERE org = ? LIMIT 1');
  return new Set(orgs.filter((org) => file.query('read', () => find.get(org)) !== undefined));
}

/** Keeps a list. Call it inside a transaction. */
export function writeKeptOut(file: ArchiveFile, list: KeptOut): void {
  const text = canonicalJson(list);
  file
    .prepare('INSERT OR REPLACE INTO erased (id, list, checksum) VALUES (1, ?, ?)')
    .run(text, checksumOf(text));
}

/** Where the archive keeps how many entries of an organization it was swept by. It may outlive the organization. */
function sweptName(org: string): string {
  return `swept ${digestOf(org)}`;
}

/** Notes by which list an archive is swept from now on. Call it inside a transaction, before anything is swept. */
export function noteSwept(file: ArchiveFile, list: KeptOut, org: string): void {
  file.setMeta(sweptName(org), String(countOf(list, org)));
}

/**
 * Makes sure that an archive was not swept by a longer list than the one that a run has read: its answers may name somebody who
 * was erased. Call it in the transaction that keeps them.
 * @throws {BusyError} if it was.
 */
export function expectNotSwept(file: ArchiveFile, list: KeptOut, org: string): void {
  if (Number(file.meta(sweptName(org)) ?? 0) <= countOf(list, org)) return;
  throw new BusyError('somebody was erased from the archive meanwhile; nothing more was stored', {
    hint: 'repeat the command',
  });
}

function countOf({ entries }: KeptOut, org: string): number {
  return entries.filter(({ orgId }) => orgId === org).length;
}

/** Everyone whom the gate keeps out of an archive; nobody if there is none. */
export async function keptOutOfArchive(archive: string): Promise<KeptOut> {
  if (!isWritten(fileOfArchive(archive))) return NOBODY;
  return withArchive(ArchiveFile.read(archive), (file) => keptOutOf(file));
}
