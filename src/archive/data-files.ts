import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDataFile, type ObjectPlace } from './lines.ts';

/** A file with compressed objects, one after the other. */
export interface StoredFile {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
}

/** The folder of the data files. */
export function objectFolder(archive: string): string {
  return join(archive, 'objects');
}

/** The data files of an archive, in the order of their runs. */
export async function listDataFiles(archive: string): Promise<StoredFile[]> {
  const folder = objectFolder(archive);
  if (!existsSync(folder)) return [];
  const files: StoredFile[] = [];
  for (const name of (await readdir(folder)).filter(isDataFile).sort()) {
    const path = join(folder, name);
    files.push({ name, path, bytes: (await stat(path)).size });
  }
  return files;
}

/** The bytes of a file that none of its objects has: what a kill has left there, or objects that are no longer needed. */
export function unneededBytes({ bytes }: StoredFile, objects: readonly ObjectPlace[] = []): number {
  let [needed, end] = [0, 0];
  for (const { offset, length } of inFileOrder(objects)) {
    const [from, to] = [Math.max(end, offset), Math.min(bytes, offset + length)];
    needed += Math.max(0, to - from);
    end = Math.max(end, to);
  }
  return bytes - needed;
}

/** Objects by the names of their files. */
export function byFile<Place extends ObjectPlace>(places: Iterable<Place>): Map<string, Place[]> {
  const files = new Map<string, Place[]>();
  for (const place of places) {
    const own = files.get(place.file);
    if (own === undefined) files.set(place.file, [place]);
    else own.push(place);
  }
  return files;
}

/** Names the place of an object. */
export function placeKey({ file, offset }: ObjectPlace): string {
  return `${file}:${offset}`;
}

/** Sorts objects as they lie in their files. */
export function inFileOrder<Place extends ObjectPlace>(places: Iterable<Place>): Place[] {
  return [...places].sort((a, b) => (a.file < b.file ? -1 : Number(a.file > b.file)) || a.offset - b.offset);
}
