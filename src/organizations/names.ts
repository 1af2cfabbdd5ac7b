import { sql } from '../../schema/query.ts';
import { encoderOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { RunError, UsageError } from '../core/errors.ts';
import { EXIT } from '../core/exit-code.ts';
import { readOrganizationIds } from '../ledger/index.ts';
import type { QueryRow, Steps, Warehouse } from '../port/index.ts';

/** A name of the organizations file, and all names that the file has now, in its order. */
export interface NameInFile {
  readonly name: string;
  readonly names: readonly string[];
}

/** A recorded name and the organization that it belongs to. */
interface RecordedName {
  readonly name: string;
  readonly orgId: string;
}

const { organizations: table } = tables;
const encode = encoderOf(table);
const SELECT = sql`SELECT name, org_id FROM organizations ORDER BY first_seen_at DESC, name`;

/** The names in the organizations file of the settings, in its order; null if there is no file. */
export function namesOf({ organizationsFile: file }: NamingSettings): readonly string[] | null {
  return file?.organizations.map(({ name }) => name) ?? null;
}

interface NamingSettings {
  readonly organizationsFile: { readonly organizations: readonly Pick<NameInFile, 'name'>[] } | null;
}

/** The recorded names, the latest first. An organization that was renamed has several. */
export async function readNames(warehouse: Pick<Warehouse, 'select'>): Promise<RecordedName[]> {
  return namesIn(await warehouse.select(SELECT));
}

/** An organization that a command is about. */
export interface ListedOrganization {
  /** Its name in the organizations file, or else its latest recorded one; null if it has none. */
  readonly name: string | null;
  /** Null if nothing of it is stored. */
  readonly orgId: string | null;
}

/**
 * The organizations of the organizations file, also those of which nothing is stored; without a file, the ones that are in
 * the ledger.
 * @param names the names in the file; null if there is none.
 */
export async function listOrganizations(
  warehouse: Pick<Warehouse, 'select' | 'read'>,
  names: readonly string[] | null,
): Promise<ListedOrganization[]> {
  const stored = await readOrganizationIds(warehouse);
  const recorded = await readNames(warehouse);
  if (names === null) return stored.map((orgId) => ({ name: nameOf(recorded, orgId), orgId }));
  return names.map((name) => {
    const orgId = recorded.find((known) => known.name === name)?.orgId ?? '';
    return { name, orgId: stored.includes(orgId) ? orgId : null };
  });
}

/** The latest recorded name of an organization; null if it has none. */
function nameOf(recorded: readonly RecordedName[], orgId: string): string | null {
  return recorded.find((known) => known.orgId === orgId)?.name ?? null;
}

/**
 * Makes sure that a name may stand for the organization that the service named for its key. Writes nothing.
 * @returns whether the name is recorded already
 * @throws {RunError} with exit code 5 if it belongs to another organization, or another name of the file to this one.
 */
export async function expectName(
  warehouse: Pick<Warehouse, 'select'>,
  named: NameInFile,
  orgId: string,
): Promise<boolean> {
  return isRecorded(await readNames(warehouse), named, orgId);
}

/**
 * Records a name unless it is recorded. Two processes at once agree on one organization.
 * @throws {RunError} as {@link expectName} does; nothing is recorded then.
 */
export async function recordName(
  warehouse: Pick<Warehouse, 'transact' | 'oneAtATime'>,
  named: NameInFile,
  { orgId, now }: { readonly orgId: string; readonly now: Date },
): Promise<void> {
  function* steps(): Steps<void> {
    if (isRecorded(namesIn(yield SELECT), named, orgId)) return;
    const row = { name: named.name, org_id: orgId, first_seen_at: now.toISOString() };
    yield { table, rows: [encode(row)] };
  }
  await warehouse.oneAtATime('organization names', () => warehouse.transact('record a name in', steps));
}

function namesIn(rows: readonly QueryRow[]): RecordedName[] {
  return rows.map((row) => ({ name: String(row['name']), orgId: String(row['org_id']) }));
}

function isRecorded(recorded: readonly RecordedName[], { name, names }: NameInFile, orgId: string): boolean {
  const before = recorded.find((known) => known.name === name)?.orgId;
  if (before !== undefined && before !== orgId) {
    throw new RunError(
      `the key of "${name}" answers for organization "${orgId}", and before it answered for "${before}"`,
      {
        exitCode: EXIT.quarantine,
        hint: 'give it the key of that organization again; another organization needs another name. Nothing was stored',
      },
    );
  }
  // A name that the file no longer has was renamed. Of two that it has, the recorded or else the earlier one counts.
  const others = before === undefined ? names : names.slice(0, names.indexOf(name));
  const other = recorded.find(
    (known) => known.orgId === orgId && known.name !== name && others.includes(known.name),
  );
  if (other !== undefined) {
    throw new RunError(
      `the key of "${name}" answers for organization "${orgId}", which is "${other.name}" already`,
      {
        exitCode: EXIT.quarantine,
        hint: 'correct its key file, or remove one of the two names from the file. Nothing was stored',
      },
    );
  }
  return before !== undefined;
}

/**
 * The organization that a command is about: the one that was asked for, by its ID or a recorded name, or else the only one
 * in the warehouse. An ID wins over a name.
 * @throws {UsageError} if the warehouse does not know it, or if none was asked for and the warehouse has none or several.
 */
export async function chooseOrganization(
  warehouse: Pick<Warehouse, 'read' | 'location' | 'select'>,
  asked: string | undefined,
): Promise<string> {
  const known = await readOrganizationIds(warehouse);
  if (asked !== undefined && known.includes(asked)) return asked;
  const recorded = await readNames(warehouse);
  const named = recorded.find(({ name }) => name === asked)?.orgId;
  if (named !== undefined && known.includes(named)) return named;
  const [only, ...others] = known;
  if (only === undefined) {
    throw new UsageError(`the warehouse ${warehouse.location} knows no organization yet`, {
      hint: 'export the data of an organization first',
      reason: 'no-organization',
    });
  }
  if (asked === undefined && others.length === 0) return only;
  const problem =
    asked === undefined
      ? `the warehouse ${warehouse.location} holds ${known.length} organizations`
      : `the warehouse ${warehouse.location} does not know the organization "${asked}"`;
  const organizations = known.map((orgId) => nameOf(recorded, orgId) ?? orgId).join(', ');
  throw new UsageError(problem, {
    hint: `choose one of ${organizations}`,
    reason: 'organization-unclear',
    facts: { organizations },
  });
}

/** Returns the organization of a warehouse; null when the warehouse has none or several. */
export async function onlyOrganization(warehouse: Warehouse): Promise<string | null> {
  const [only, ...others] = await readOrganizationIds(warehouse);
  return others.length > 0 ? null : (only ?? null);
}
