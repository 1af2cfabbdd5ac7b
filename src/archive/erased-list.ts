import { BusyError, StorageError } from '../core/errors.ts';
import { canonicalJson } from '../core/json.ts';
import { joinErased, joinLists, parseErased, readErased } from '../erased/index.ts';
import type { Warehouse } from '../port/index.ts';
import { type ErasedList, NOBODY } from '../privacy/index.ts';
import { checksumOf } from './answers.ts';
import type { ArchiveFile, Patience } from './archive-file.ts';
import { digestOf } from './objects.ts';

/**
 * Who was erased from an archive: kept beside the answers, so that a warehouse that is rebuilt from them knows it.
 * @throws {StorageError} if the list is damaged.
 */
export function readErasedList(file: ArchiveFile): ErasedList {
  const row = file.query('read', () => file.prepare('SELECT list, checksum FROM erased').get());
  if (!Array.isArray(row)) return NOBODY;
  const [text, checksum] = row;
  const list = checksum === checksumOf(String(text)) ? parseErased(String(text)) : undefined;
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
export async function shareErased(
  file: ArchiveFile,
  warehouse: Pick<Warehouse, 'select' | 'transact'>,
  patience: Patience,
): Promise<ErasedList> {
  const own = await readErased(warehouse);
  const kept = readErasedList(file);
  const joined = joinLists(own, kept);
  if (isLonger(joined, own) || isLonger(joined, kept))
    await joinErased(warehouse, kept, organizationsHeld(file, joined));
  if (!isLonger(joined, kept)) return kept;
  return file.transact('list the erased in', patience, () => {
    // Another process may have listed somebody meanwhile.
    const all = joinLists(joined, readErasedList(file));
    writeErasedList(file, all);
    return all;
  });
}

/** True if a list that was joined from another one has more than that: people, or keys. */
export function isLonger(joined: ErasedList, { keys, entries }: ErasedList): boolean {
  return joined.entries.length > entries.length || joined.keys.length > keys.length;
}

/** Those organizations of a list of which an archive has answers. */
export function organizationsHeld(file: ArchiveFile, { entries }: ErasedList): Set<string> {
  const orgs = [...new Set(entries.map(({ orgId }) => orgId))];
  const find = file.prepare('SELECT 1 FROM answers WHERE org = ? LIMIT 1');
  return new Set(orgs.filter((org) => file.query('read', () => find.get(org)) !== undefined));
}

/** Keeps a list. Call it inside a transaction. */
export function writeErasedList(file: ArchiveFile, list: ErasedList): void {
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
export function noteSwept(file: ArchiveFile, list: ErasedList, org: string): void {
  file.setMeta(sweptName(org), String(countOf(list, org)));
}

/**
 * Makes sure that an archive was not swept by a longer list than the one that a run has read: its answers may name somebody who
 * was erased. Call it in the transaction that keeps them.
 * @throws {BusyError} if it was.
 */
export function expectNotSwept(file: ArchiveFile, list: ErasedList, org: string): void {
  if (Number(file.meta(sweptName(org)) ?? 0) <= countOf(list, org)) return;
  throw new BusyError('somebody was erased from the archive meanwhile; nothing more was stored', {
    hint: 'repeat the command',
  });
}

function countOf({ entries }: ErasedList, org: string): number {
  return entries.filter(({ orgId }) => orgId === org).length;
}
