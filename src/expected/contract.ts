import { type SQL, sql } from '../../schema/query.ts';
import { encoderOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { FIRST_DAY, isDay, shiftDay, type UtcDay } from '../core/day.ts';
import { type DailyStream, isDailyStream, STREAMS, type Stream } from '../core/stream.ts';
import type { QueryRow, Steps, Warehouse } from '../port/index.ts';

const HOUR_SECONDS = 3_600;
/** A day between two nightly runs, and two hours for the run itself. No default is shorter. */
export const AGE_SECONDS_MIN = 26 * HOUR_SECONDS;

/**
 * What is expected of the export of an organization. Each run stores it in the table `contracts`; whoever speaks of a hole or of
 * lateness reads it there, because a dashboard or a BI tool has another environment than the run.
 */
export interface Contract {
  readonly firstDay: UtcDay;
  /** At least one, in the order of the documentation. */
  readonly streams: readonly Stream[];
  /** Streams that would be expected if something were kept of users. */
  readonly leftOut: readonly Stream[];
  /** The first day whose people are kept: older ones have expired, or expire with the present run. Null if none has. */
  readonly usersFrom: UtcDay | null;
  /** How long after its last complete export the organization counts as late. */
  readonly maxAgeSeconds: number;
}

/** What holds until a run has stored something else: every day and every stream. */
export const WHOLE: Contract = {
  firstDay: FIRST_DAY,
  streams: STREAMS,
  leftOut: [],
  usersFrom: null,
  maxAgeSeconds: AGE_SECONDS_MIN,
};

/** What the settings of a run say about the contract. Null keeps what is stored. */
export interface AskedContract {
  readonly firstDay: UtcDay | null;
  readonly streams: readonly Stream[] | null;
  readonly maxAgeSeconds: number | null;
  /** Nothing is kept of users, so their stream is not expected. @default false */
  readonly withoutUsers?: boolean;
  /** The first day whose people are kept. @default the one of the ledger: what has expired stays so */
  readonly usersFrom?: UtcDay | null;
}

/** The contract of a run: what its settings say, else what is stored, else everything. Pure. */
export function contractAfter(stored: Contract | null, asked: AskedContract): Contract {
  const before = stored ?? WHOLE;
  const streams =
    asked.streams ?? STREAMS.filter((name) => [...before.streams, ...before.leftOut].includes(name));
  const isLeftOut = (stream: Stream) => asked.withoutUsers === true && stream === 'users';
  return {
    firstDay: asked.firstDay ?? before.firstDay,
    streams: streams.filter((stream) => !isLeftOut(stream)),
    leftOut: streams.filter(isLeftOut),
    usersFrom: asked.usersFrom ?? before.usersFrom,
    maxAgeSeconds: asked.maxAgeSeconds ?? before.maxAgeSeconds,
  };
}

/**
 * Why something of some streams is not there and never will be, as a clause; null where they are kept. Whatever has no number for this
 * reason says so: such days are neither missing nor 0.
 * @param from the first day that is asked about. @default a day that has not expired
 */
export function whyNotKept(
  { leftOut, usersFrom = null }: Pick<Contract, 'leftOut'> & Partial<Pick<Contract, 'usersFrom'>>,
  streams: readonly Stream[],
  from: UtcDay | null = null,
): string | null {
  if (streams.some((stream) => leftOut.includes(stream))) return 'nothing is kept of single users';
  const isExpired = from !== null && streams.some((stream) => !isKept({ usersFrom }, stream, from));
  return isExpired ? `rows about people before ${usersFrom} have expired` : null;
}

/** False for a day of which nothing of a stream is kept, because it has expired: it is not expected, and nobody asks for it again. */
export function isKept(
  { usersFrom = null }: Partial<Pick<Contract, 'usersFrom'>>,
  stream: Stream,
  day: UtcDay,
): boolean {
  return stream !== 'users' || usersFrom === null || day >= usersFrom;
}

/** The newest day of an organization whose people have expired, by the ledger. */
const expiredOf = (orgId: string): SQL =>
  sql`SELECT MAX(date) FROM export_units WHERE org_id = ${orgId} AND stream = 'users' AND state = 'expired'`;

/** The first day whose people are kept in any organization, as far as the ledger knows of days that have expired; null if none has. */
export function* readUsersFrom(): Steps<UtcDay | null> {
  const [row] = yield sql`
    SELECT MAX(date) AS expired_until FROM export_units WHERE stream = 'users' AND state = 'expired'`;
  return dayAfter(row?.['expired_until']);
}

/** The same, of units of the ledger. */
export function usersFromOf(
  units: readonly { readonly stream: Stream; readonly state: string; readonly day?: UtcDay }[],
): UtcDay | null {
  const days = units.flatMap(({ stream, state, day }) =>
    stream === 'users' && state === 'expired' && day !== undefined ? [day] : [],
  );
  return dayAfter(days.toSorted().at(-1));
}

function dayAfter(day: unknown): UtcDay | null {
  return isDay(day) ? shiftDay(day, 1) : null;
}

/**
 * The first day of a span whose beginning nobody has named: the wanted day, or the first expected one if that is later. A span that
 * ends before the first expected day is about days that are stored and no longer expected, so it begins as wanted. Pure.
 */
export function spanStart(
  wanted: UtcDay,
  until: UtcDay,
  { firstDay = FIRST_DAY }: { readonly firstDay?: UtcDay | undefined },
): UtcDay {
  const least = firstDay > until ? FIRST_DAY : firstDay;
  return wanted < least ? least : wanted;
}

/** The daily streams of a contract. */
export function dailyOf({ streams }: Pick<Contract, 'streams'>): DailyStream[] {
  return streams.filter(isDailyStream);
}

const encode = encoderOf(tables.contracts);

interface StoredContract {
  readonly contract: Contract;
  /** When a run last changed it, as an ISO instant; null if the row says no instant. */
  readonly since: string | null;
  /** False for a row that a run would have written otherwise: it was damaged, and the next run writes it again. */
  readonly isSound: boolean;
}

/** The contract of an organization; null before the first run of this version. */
export function* storedContract(orgId: string): Steps<StoredContract | null> {
  const [row] = yield sql`
    SELECT contracts.*, (${expiredOf(orgId)}) AS expired_until FROM contracts WHERE org_id = ${orgId}`;
  if (row === undefined) return null;
  const contract = parseContract(row);
  const since = Number.isNaN(Date.parse(String(row['changed_at']))) ? null : String(row['changed_at']);
  const { first_day: firstDay, streams, max_age_seconds: seconds } = row;
  const written = [contract.firstDay, streamsText(contract), contract.maxAgeSeconds];
  const isSound = since !== null && [firstDay, streams, Number(seconds)].join(';') === written.join(';');
  return { contract, since, isSound };
}

function streamsText({ streams, leftOut }: Pick<Contract, 'streams' | 'leftOut'>): string {
  return [...streams, ...leftOut.map((stream) => `-${stream}`)].join(',');
}

/** Reads the contract of an organization; before a run has stored one, everything is expected. */
export function* contractOf(orgId: string): Steps<Contract> {
  return (yield* storedContract(orgId))?.contract ?? WHOLE;
}

interface Agreement {
  readonly orgId: string;
  readonly asked: AskedContract;
  readonly now: Date;
  readonly known?: StoredContract | null;
}

/**
 * Stores the contract of a run, unless it is stored already.
 * @param known what was read as stored. @default it is read
 * @returns the contract, and the one before if the run has changed it
 */
export async function agreeContract(
  warehouse: Pick<Warehouse, 'read' | 'transact'>,
  { orgId, asked, now, known }: Agreement,
): Promise<{ readonly contract: Contract; readonly changedFrom: Contract | null }> {
  const found = known ?? (await warehouse.read(() => storedContract(orgId)));
  const stored = found?.contract ?? null;
  const contract = contractAfter(stored, asked);
  const isEqual = describeContract(contract) === describeContract(stored ?? WHOLE);
  if (found?.isSound !== true || !isEqual) {
    const row = encode({
      org_id: orgId,
      first_day: contract.firstDay,
      streams: streamsText(contract),
      max_age_seconds: contract.maxAgeSeconds,
      changed_at: now.toISOString(),
    });
    const steps = function* (): Steps<void> {
      yield { table: tables.contracts, rows: [row] };
    };
    await warehouse.transact('store what is expected in', steps, 'latest');
  }
  return { contract, changedFrom: isEqual ? null : (stored ?? WHOLE) };
}

/** The contract in words: equal contracts have equal words. */
export function describeContract({ firstDay, streams, leftOut, maxAgeSeconds }: Contract): string {
  const every = streams.length === STREAMS.length ? 'all streams' : streams.join(', ');
  const without = leftOut.length === 0 ? '' : ` (without ${leftOut.join(', ')})`;
  return `${every}${without} from ${firstDay}, at most ${Math.round((maxAgeSeconds / HOUR_SECONDS) * 100) / 100} hours old`;
}

/** A row that another version or a person has written may hold anything; what cannot be read is expected as a whole. */
function parseContract(row: QueryRow): Contract {
  const { first_day: firstDay, max_age_seconds: seconds } = row;
  const names = String(row['streams'] ?? '').split(',');
  const streams = STREAMS.filter((stream) => names.includes(stream));
  const leftOut = STREAMS.filter((stream) => names.includes(`-${stream}`));
  return {
    firstDay: isDay(firstDay) && firstDay > FIRST_DAY ? firstDay : FIRST_DAY,
    ...(streams.length + leftOut.length > 0 ? { streams, leftOut } : { streams: STREAMS, leftOut: [] }),
    usersFrom: dayAfter(row['expired_until']),
    maxAgeSeconds: Number(seconds) > 0 ? Number(seconds) : AGE_SECONDS_MIN,
  };
}
