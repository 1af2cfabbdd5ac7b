import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import type { WarehouseDigest } from '../../../src/warehouse/digest.ts';
import type { Database, Place } from '../warehouse/each-database.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/warehouses');

/** What a kept warehouse holds, see `scripts/make-warehouse-fixture.ts`. */
export interface KeptFacts {
  readonly service: EmulatorOptions & { readonly today: string };
  readonly digest: WarehouseDigest;
  readonly units: number;
  readonly quarantine: number;
  readonly restatements: number;
  readonly failed: number;
  readonly hookEvents: number;
}

/** The versions of which a warehouse is kept. */
export function keptVersions(): string[] {
  return readdirSync(FOLDER).flatMap((name) =>
    name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : [],
  );
}

export function keptFacts(version: string): KeptFacts {
  return JSON.parse(readFileSync(join(FOLDER, `${version}.json`), 'utf8'));
}

/** Restores the warehouse of an earlier version in a new place. */
export async function restored(version: string, database: Database): Promise<Place> {
  const place = database.place();
  const kept = (kind: string) => gunzipSync(readFileSync(join(FOLDER, `${version}.${kind}.gz`)));
  if (database.name === 'SQLite') {
    writeFileSync(place.location, kept('db'));
    return place;
  }
  const schema = new URL(place.location).searchParams.get('schema') ?? '';
  const dump = kept('postgres.sql').toString('utf8').replaceAll('daywalk_fixture', `"${schema}"`);
  // A dump clears the search path, so it needs a separate connection.
  const restore = await place.connect();
  await restore.execute(dump);
  return place;
}
