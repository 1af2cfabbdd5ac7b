import type { AnyTable, Column, View } from '../schema/define.ts';
import { allTables, tables, unpublishedTables } from '../schema/tables.ts';
import { allViews } from '../schema/views.ts';

/** Where the warehouse holds data of people: for a privacy officer, and for a role that is to see none of it. */

/** Columns that name a person. Every other column of their rows is about that person. */
const PERSON: ReadonlySet<string> = new Set(['user_id', 'user_email', 'person', 'manager_email']);

/** Columns that hold what people, or programs of theirs, have written. */
const WRITTEN: ReadonlySet<string> = new Set([
  ...['command', 'matcher', 'rationale', 'description', 'branch', 'repo_url', 'commit_hash', 'title'],
  ...['cwd', 'message', 'payload', 'session_settings', 'session_id', 'spellings', 'text'],
]);

/** Columns of the ledger that quote a response. */
const QUOTING: ReadonlySet<string> = new Set([
  'last_error',
  'doubt',
  'watch',
  'cursor',
  'record',
  'sample',
  'path',
  'reason',
]);

/** What a table or view holds of people. */
export interface DataOfPeople {
  readonly relation: AnyTable | View;
  /** Columns that name a person; with any, the whole row is about that person. */
  readonly person: readonly string[];
  /** Columns with texts that may name a person in words. */
  readonly texts: readonly string[];
}

/** What each table and view holds of people, in the order of the documentation. */
export function dataOfPeople(): DataOfPeople[] {
  return [...allTables, ...allViews].map((relation) => {
    const columns = Object.entries<Column>(relation.columns);
    const ofPeople = (name: string) => PERSON.has(name);
    const isText = ([name, { kind }]: [string, Column]) =>
      kind === 'json' || kind === 'record' || WRITTEN.has(name) || QUOTING.has(name);
    return {
      relation,
      person: columns.map(([name]) => name).filter(ofPeople),
      texts: columns.filter(isText).map(([name]) => name),
    };
  });
}

/** The map of data as a table of Markdown: only what holds data of people. */
export function dataMapMarkdown(): string {
  const rows = dataOfPeople()
    .filter(({ person, texts }) => person.length + texts.length > 0)
    .map((data) => {
      const { relation, person, texts } = data;
      const about = person.length > 0 ? `the person in ${shown(person)}, with every number of the row` : '–';
      const [purpose = ''] = relation.doc.split(/(?<=\.) /);
      const read = grantedColumns(data).length > 0 ? 'the other columns' : 'nothing';
      const cells = [
        `\`${relation.name}\``,
        about,
        texts.length > 0 ? shown(texts) : '–',
        ...[limitOf(data), read, purpose],
      ];
      return `| ${cells.join(' | ')} |`;
    });
  return [
    '| table or view | whose data | texts that may name anyone | limit | a role for BI reads | purpose |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** The setting that removes old rows about people, or such texts. */
function limitOf(data: DataOfPeople): string {
  const { relation } = data;
  if (relation === tables.hookEvents) return '`DAYWALK_RETAIN_EVENTS`';
  if (relation === tables.quarantine)
    return '`DAYWALK_RETAIN_QUARANTINE`; of `users`, `DAYWALK_RETAIN_USERS` too';
  return expiresWithUsers(data) || EXPIRING.has(relation.name) ? '`DAYWALK_RETAIN_USERS`' : '–';
}

/** True if `DAYWALK_RETAIN_USERS` removes the old rows of a table or view. */
export function expiresWithUsers({ relation, person }: DataOfPeople): boolean {
  // Who is in which team goes with the next file of people.
  return person.length > 0 && relation.columns['person'] === undefined;
}

/** Relations whose rows name no user, and lose texts with the people of their day. */
const EXPIRING: ReadonlySet<string> = new Set([
  ...[
    tables.toolsDailyByHook,
    tables.restatements,
    tables.schemaDrift,
    tables.exportUnits,
    tables.events,
  ].map(({ name }) => name),
  'coverage',
]);

/** Events, sessions and numbers of a team are about few people, often about one. */
function isKeptBack(relation: AnyTable | View): boolean {
  const isTable = 'role' in relation;
  const ofTeams = relation.columns['team'] !== undefined && (!isTable || relation.role === 'rollup');
  return ofTeams || (isTable && (relation.role === 'event' || unpublishedTables.includes(relation)));
}

/** The columns that a role may read that is to see no data of people; none if they would say nothing. */
function grantedColumns({ relation, person, texts }: DataOfPeople): string[] {
  if (person.length > 0 || isKeptBack(relation)) return [];
  const columns = Object.keys(relation.columns).filter((name) => !texts.includes(name));
  return columns.some((name) => name !== 'org_id' && name !== 'date') ? columns : [];
}

/** Statements that let a role of PostgreSQL read what holds no data of people, and nothing else. */
export function grantsSql(): string {
  const grants = dataOfPeople().flatMap((data) => {
    const columns = grantedColumns(data).map((name) => `"${name}"`);
    if (columns.length === 0) return [];
    return [`GRANT SELECT (${columns.join(', ')}) ON daywalk."${data.relation.name}" TO daywalk_bi;`];
  });
  return [
    '```sql',
    'CREATE ROLE daywalk_bi NOLOGIN;',
    'GRANT USAGE ON SCHEMA daywalk TO daywalk_bi;',
    ...grants,
    '```',
    '',
  ].join('\n');
}

function shown(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
