import { dayOf, daysBetween, FIRST_DAY } from '../../core/day.ts';
import { ulid } from '../dataset/ids.ts';
import { ROLES, type Role } from '../http/auth.ts';

/** What a valid creation asks for. */
export interface SessionRequest {
  readonly computerId: string;
  readonly cwd?: string;
  readonly sessionSettings?: object;
}

/** A session as the service describes it (specification, section 2.3). Instants are Unix milliseconds. */
export interface SessionView {
  readonly sessionId: string;
  readonly title: string;
  readonly status: 'pending' | 'running' | 'idle';
  readonly messageCount: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly completedAt?: number;
  readonly computerId: string;
  readonly sessionSettings?: object;
}

/** A session with what the service does not answer. */
export interface EmulatedSession extends SessionView {
  readonly userId: string;
  readonly cwd: string | null;
}

/** The sessions that were created since the start. */
export interface Sessions {
  /** Creates a session for the user of a key; null when there are {@link SESSIONS_MAX} already. */
  create(wish: SessionRequest, role: Role): SessionView | null;
  /** All sessions as they are now, the oldest first. */
  all(): EmulatedSession[];
  /** How many sessions each user created on a day, which counts from the first day with data. */
  createdOn(day: number): ReadonlyMap<number, number>;
}

/** What sessions need of their surroundings. */
export interface SessionsOptions {
  readonly seed: number;
  /** Users of the organization. */
  readonly users: number;
  /** The emulated instant. */
  now(): Date;
  /** Milliseconds that only grow: they pass even where the emulated time of day stands still. */
  monotonicMs(): number;
  idOf(user: number): string;
}

/** Sessions kept at most. */
export const SESSIONS_MAX = 100_000;

/** A session is pending until this age, then running until the other, then idle. */
export const STATE_ENDS_MS = { pending: 2_000, running: 60_000 } as const;

const NOBODY: ReadonlyMap<number, number> = new Map();

interface Entry {
  readonly id: string;
  readonly wish: SessionRequest;
  readonly user: number;
  readonly createdAtMs: number;
  readonly createdMonotonicMs: number;
}

/** Opens an empty list of sessions. */
export function openSessions(options: SessionsOptions): Sessions {
  const entries: Entry[] = [];
  const byDay = new Map<number, Map<number, number>>();

  /** The emulated time since the creation, or the real one where the emulated one stands still. */
  function ageMs({ createdAtMs, createdMonotonicMs }: Entry): number {
    const emulated = options.now().getTime() - createdAtMs;
    return Math.max(0, emulated, options.monotonicMs() - createdMonotonicMs);
  }

  function count(day: number, user: number): void {
    const users = byDay.get(day) ?? new Map<number, number>();
    users.set(user, (users.get(user) ?? 0) + 1);
    byDay.set(day, users);
  }

  return {
    create(wish, role) {
      if (entries.length >= SESSIONS_MAX) return null;
      const now = options.now();
      const user = userOf(role, options.users);
      const entry: Entry = {
        id: ulid('session_', now.getTime(), options.seed, entries.length),
        wish,
        user,
        createdAtMs: now.getTime(),
        createdMonotonicMs: options.monotonicMs(),
      };
      entries.push(entry);
      count(daysBetween(FIRST_DAY, dayOf(now)), user);
      return viewOf(entry, 0);
    },
    all: () =>
      entries.map((entry) => ({
        ...viewOf(entry, ageMs(entry)),
        userId: options.idOf(entry.user),
        cwd: entry.wish.cwd ?? null,
      })),
    createdOn: (day) => byDay.get(day) ?? NOBODY,
  };
}

/** The user whose key has a role. In an organization with fewer users than roles, one user has several keys. */
function userOf(role: Role, users: number): number {
  return ROLES.indexOf(role) % users;
}

function viewOf({ id, wish, createdAtMs }: Entry, ageMs: number): SessionView {
  const { pending, running } = STATE_ENDS_MS;
  const status = ageMs < pending ? 'pending' : ageMs < running ? 'running' : 'idle';
  const changedMs = { pending: 0, running: pending, idle: running }[status];
  return {
    sessionId: id,
    title: `Session on ${wish.computerId}`,
    status,
    messageCount: 0,
    createdAt: createdAtMs,
    updatedAt: createdAtMs + changedMs,
    ...(status === 'idle' ? { completedAt: createdAtMs + running } : {}),
    computerId: wish.computerId,
    ...(wish.sessionSettings === undefined ? {} : { sessionSettings: wish.sessionSettings }),
  };
}
