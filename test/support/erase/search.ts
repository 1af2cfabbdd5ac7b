import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allTables } from '../../../schema/tables.ts';
import { readContents } from '../../../src/archive/answer-queries.ts';
import { objectsIn } from '../../../src/archive/answers.ts';
import { ArchiveFile, withArchive } from '../../../src/archive/archive-file.ts';
import { fileOfArchive } from '../../../src/archive/archive-place.ts';
import { ObjectReader } from '../../../src/archive/objects.ts';
import { isPostgres } from '../../../src/port/location.ts';
import { rawTexts } from '../archive/raw-texts.ts';
import type { Place } from '../warehouse/each-database.ts';

const DUMP_CHARACTERS_MAX = 256 * 1024 * 1024;

/** Where to look for a value. */
export interface Searched {
  readonly place: Place;
  readonly archive: string;
  readonly spool: string;
  /** Further texts, such as a certificate. */
  readonly texts?: readonly string[];
}

/** Names the places whose bytes hold one of the values, in any letter case. */
export async function placesOf(values: readonly string[], searched: Searched): Promise<string[]> {
  const found: string[] = [];
  for (const [name, text] of await textsOf(searched)) {
    const lower = text.toLowerCase();
    for (const value of values) if (lower.includes(value.toLowerCase())) found.push(`${name}: ${value}`);
  }
  return found;
}

async function textsOf({
  place,
  archive,
  spool,
  texts = [],
}: Searched): Promise<[name: string, text: string][]> {
  return [
    ...(await (isPostgres(place.location) ? postgresTexts(place) : sqliteTexts(place))),
    ...(await archiveTexts(archive)),
    ...filesIn(spool),
    ...texts.map((text, index): [string, string] => [`text ${index + 1}`, text]),
  ];
}

function sqliteTexts({ location }: Place): [string, string][] {
  return ['', '-wal', '-journal']
    .map((suffix) => `${location}${suffix}`)
    .filter((path) => existsSync(path))
    .map((path) => [path, readFileSync(path, 'latin1')]);
}

/** Everything that SQL shows: the rows, and what the planner remembers of them. */
async function postgresTexts(place: Place): Promise<[string, string][]> {
  const texts: [string, string][] = [];
  for (const { name } of allTables) {
    const rows = await place.query<{ row: string }>(
      `SELECT CAST(row_to_json(t) AS text) AS row FROM "${name}" t`,
    );
    texts.push([name, rows.map(({ row }) => row).join('\n')]);
  }
  texts.push(...dumpOf(place.location));
  const stats = await place.query<{ row: string }>(
    'SELECT CAST(row_to_json(s) AS text) AS row FROM pg_stats s WHERE schemaname = current_schema()',
  );
  texts.push(['pg_stats', stats.map(({ row }) => row).join('\n')]);
  return texts;
}

/** A dump of the database; nothing where its program is not installed, because it holds no more than the rows. */
function dumpOf(location: string): [string, string][] {
  const url = new URL(location);
  const schema = url.searchParams.get('schema') ?? 'public';
  url.search = '';
  const { status, stdout } = spawnSync('pg_dump', ['--dbname', url.href, '--schema', `"${schema}"`], {
    encoding: 'utf8',
    maxBuffer: DUMP_CHARACTERS_MAX,
  });
  return status === 0 ? [['pg_dump', stdout]] : [];
}

async function archiveTexts(archive: string): Promise<[string, string][]> {
  const path = archive === '' ? '' : fileOfArchive(archive);
  return existsSync(path) ? [...(await answeredTexts(path)), ...rawTexts(path)] : [];
}

/** The rows of every answer of an archive, by their digests. */
export function answeredTexts(archive: string): Promise<[sha256: string, text: string][]> {
  return withArchive(ArchiveFile.read(archive), async (file) => {
    const read: [string, string][] = [];
    const objects = new ObjectReader(file);
    for (const sha256 of objectsIn(readContents(file).answers))
      read.push([sha256, await objects.get(sha256)]);
    return read;
  });
}

function filesIn(folder: string): [string, string][] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => [join(folder, name), readFileSync(join(folder, name), 'latin1')]);
}
