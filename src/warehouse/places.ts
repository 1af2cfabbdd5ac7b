import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { DaywalkError } from '../core/errors.ts';
import { parseJson } from '../core/json.ts';
import { replaceFile } from '../core/replace-file.ts';
import { isPostgres } from './location.ts';
import type { Warehouse } from './port.ts';

/** Where the folders of archives are remembered. They belong to the warehouse, not to an organization. */
export const ARCHIVES = 'archives';
/** Where the places are noted that a warehouse in PostgreSQL was copied or published to. */
export const PUBLISHED = 'published';
/** The most places that are remembered; the oldest one is forgotten. */
const PLACES_MAX = 100;

/** The folders of the archives that runs have written, in the order in which they were first used. */
export async function readArchives(warehouse: Pick<Warehouse, 'state'>): Promise<string[]> {
  return placesIn(await warehouse.state('', ARCHIVES));
}

/** Remembers the folder of an archive, so that an erasure does not miss it. */
export async function rememberArchive(
  warehouse: Pick<Warehouse, 'state' | 'setState'>,
  folder: string,
): Promise<void> {
  const known = await readArchives(warehouse);
  if (!known.includes(folder)) await warehouse.setState('', ARCHIVES, textOf([...known, folder]));
}

/**
 * Where a warehouse was copied or published to, in the order in which that was first done. It is noted in a file beside a
 * SQLite warehouse, because a publish only reads that; in PostgreSQL in the warehouse itself.
 */
export async function readPublished(
  location: string,
  warehouse: Pick<Warehouse, 'state'>,
): Promise<string[]> {
  const path = noteOf(location);
  if (path === null) return placesIn(await warehouse.state('', PUBLISHED));
  return existsSync(path) ? placesIn(readFileSync(path, 'utf8')) : [];
}

/** Notes where a warehouse is copied or published to. Without the right to write there, nothing is noted. */
export async function notePublished(
  location: string,
  warehouse: Pick<Warehouse, 'state' | 'setState'>,
  place: string,
): Promise<void> {
  const path = noteOf(location);
  const known = await readPublished(location, warehouse);
  if (known.includes(place)) return;
  const text = textOf([...known, place]);
  try {
    await (path === null ? warehouse.setState('', PUBLISHED, text) : replaceFile(path, `${text}\n`));
  } catch (error) {
    if (!(error instanceof DaywalkError)) throw error;
  }
}

function noteOf(location: string): string | null {
  return isPostgres(location) ? null : resolve(`${location}.published.json`);
}

/** The places in two noted texts, without repetitions; null if both are. */
export function joinPlaces(a: string | null, b: string | null): string | null {
  return a === null && b === null ? null : textOf([...new Set([...placesIn(b), ...placesIn(a)])]);
}

function textOf(places: readonly string[]): string {
  return JSON.stringify(places.slice(-PLACES_MAX));
}

function placesIn(text: string | null): string[] {
  const places = text === null ? [] : parseJson(text);
  return Array.isArray(places) ? places.filter((place) => typeof place === 'string') : [];
}
