import { contentSha256, decodedChunks, type EncodedRows } from '../../schema/digest.ts';
import { positionOfSum, sumsOfStream } from '../../schema/invariants.ts';
import { readerOf } from '../../schema/row.ts';
import { tables as schema } from '../../schema/tables.ts';
import { type Clock, SerialQueue } from '../core/clock.ts';
import { DefectError } from '../core/errors.ts';
import { expectAdmitted } from '../kept-out/index.ts';
import type { Warehouse } from '../port/index.ts';
import type { Gate } from '../privacy/index.ts';
import { listLearned } from '../records/index.ts';
import { type DayCommit, type DayUnit, dayKey, unitName } from '../units/index.ts';
import type { Findings } from './normalize/records.ts';

/** A pulled and normalized day. */
export interface NormalizedDay {
  readonly orgId: string;
  readonly unit: DayUnit;
  readonly tables: readonly EncodedRows[];
  readonly findings: Findings;
  /** Users in the answer who are held and not stored; absent before `withStoredRows`. */
  readonly absentUsers?: number;
}

type Pull = Pick<
  DayCommit,
  'rule' | 'runId' | 'pulledAt' | 'requests' | 'isOwn' | 'answersSha256' | 'basedOn'
>;

/**
 * The commit of a day.
 * @throws {DefectError} if held keys do not have their stored rows yet, see `withStoredRows`.
 */
export function dayCommit(day: NormalizedDay, pull: Pull): DayCommit {
  const { orgId, unit, tables, findings, absentUsers } = day;
  if (findings.held.length > 0 && absentUsers === undefined)
    throw new DefectError(`commit ${unitName(unit)}`, 'stored rows of held keys are missing');
  const { quarantined, drift } = findings;
  const active = isActive(tables) ? 'loaded' : 'awaiting';
  return {
    ...dayKey(orgId, unit),
    tables,
    contentSha256: contentSha256(tables),
    state: quarantined.length > 0 ? 'quarantined' : active,
    activeUsers: activeUsersOf(day),
    figures: quarantined.length > 0 ? undefined : sumsOfDay(day),
    quarantined,
    drift,
    ...pull,
  };
}

/** True if some number shows activity on the day. */
export function isActive(tables: readonly EncodedRows[]): boolean {
  return tables.some(({ active }) => active > 0);
}

/** The sums of a day that identities compare, in the order of `sumsOfStream`; a table without rows adds up to 0. */
export function sumsOfDay({ unit, tables }: NormalizedDay): (number | null)[] {
  return sumsOfStream(unit.stream).map(
    (figure) => tables.find(({ table }) => table === figure.table)?.sums[positionOfSum(figure)] ?? null,
  );
}

const publishedUsers = readerOf(schema.activityDaily, 'daily_active_users');

/**
 * Active users of a day: for `users`, its rows and records in quarantine; for `activity`, the published figure; else
 * null.
 */
export function activeUsersOf({ unit, tables, findings, absentUsers = 0 }: NormalizedDay): number | null {
  const own = tables.find(({ table }) => table === schema.userDaily || table === schema.activityDaily);
  if (own === undefined) return null;
  if (unit.stream === 'users') return own.active + findings.setAside + absentUsers;
  const [[row] = []] = [...decodedChunks(own)];
  const published = row === undefined ? null : publishedUsers(row);
  return typeof published === 'number' ? Math.floor(published) : null;
}

/** The new addresses with which people have come whom the gate keeps out of one organization. They stay away under these too. */
export class NewAddresses {
  readonly #given: NewAddressesOptions;
  readonly #queue = new SerialQueue();
  #waiting: readonly string[] = [];

  private constructor(given: NewAddressesOptions) {
    this.#given = given;
  }

  /**
   * Opens the gate for the organization, and listens for new addresses.
   * @throws {UsageError} if the organization itself is kept out.
   */
  static of(given: NewAddressesOptions): NewAddresses {
    expectAdmitted(given.gate, given.orgId);
    given.gate.passFor(given.orgId);
    return new NewAddresses(given);
  }

  /**
   * Lists what was found so far. Await it before each commit: rows may hold the address alone, and after a kill only the list
   * knows that they are to be swept.
   */
  list(): Promise<void> {
    return this.#queue.add(async () => {
      const { warehouse, clock, gate, orgId } = this.#given;
      const values = [...this.#waiting, ...gate.newlyLearned()];
      this.#waiting = values;
      if (values.length > 0) await listLearned(warehouse, { orgId, values }, clock.now());
      this.#waiting = [];
    });
  }
}

interface NewAddressesOptions {
  readonly warehouse: Pick<Warehouse, 'transact' | 'oneAtATime'>;
  readonly clock: Clock;
  readonly gate: Gate;
  readonly orgId: string;
}
