import { dayOf, daysBetween, FIRST_DAY } from '../core/day.ts';
import type { DailyStream } from '../core/stream.ts';
import { ulid } from './dataset/pseudo-random.ts';
import type { DayVariant } from './dataset/variant.ts';
import { ROLES, type Role } from './request.ts';

/** A valid request to create a session. */
export interface SessionRequest {
  readonly computerId: string;
  readonly cwd?: string;
  readonly sessionSettings?: object;
}

/** A session as responses show it (specification, section 2.3). Instants are Unix milliseconds. */
interface SessionView {
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

/** A session with the fields that responses do not show. */
export interface EmulatedSession extends SessionView {
  readonly userId: string;
  readonly cwd: string | null;
}

/** The sessions created since the start. */
export interface Sessions {
  /** Creates a session for the user of a key; null when there are already {@link SESSIONS_MAX}. */
  create(request: SessionRequest, role: Role): SessionView | null;
  /** All sessions in their current state, the oldest first. */
  all(): EmulatedSession[];
  /** The number of sessions that each user created on a day. Days count from the first day with data. */
  createdOn(day: number): ReadonlyMap<number, number>;
}

interface SessionsOptions {
  readonly seed: number;
  /** Users of the organization. */
  readonly users: number;
  /** The emulated instant. */
  now(): Date;
  /** Monotonic milliseconds. They pass even while the emulated time of day stands still. */
  monotonicMs(): number;
  idOf(user: number): string;
}

/** Maximum number of sessions. */
const SESSIONS_MAX = 100_000;

/** A session is pending until the first age, running until the second, then idle. */
const STATE_ENDS_MS = { pending: 2_000, running: 60_000 } as const;

const NOBODY: ReadonlyMap<number, number> = new Map();

interface Entry {
  readonly id: string;
  readonly request: SessionRequest;
  readonly user: number;
  readonly createdAtMs: number;
  readonly createdMonotonicMs: number;
}

/** Opens an empty list of sessions. */
export function openSessions(options: SessionsOptions): Sessions {
  const entries: Entry[] = [];
  const byDay = new Map<number, Map<number, number>>();

  /** The emulated time since the creation, or the real time while the emulated time stands still. */
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
    create(request, role) {
      if (entries.length >= SESSIONS_MAX) return null;
      const now = options.now();
      const user = userOf(role, options.users);
      const entry: Entry = {
        id: ulid('session_', now.getTime(), options.seed, entries.length),
        request,
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
        cwd: entry.request.cwd ?? null,
      })),
    createdOn: (day) => byDay.get(day) ?? NOBODY,
  };
}

/** The user who owns the key of a role. With fewer users than roles, one user owns several keys. */
function userOf(role: Role, users: number): number {
  return ROLES.indexOf(role) % users;
}

function viewOf({ id, request, createdAtMs }: Entry, ageMs: number): SessionView {
  const { pending, running } = STATE_ENDS_MS;
  const status = ageMs < pending ? 'pending' : ageMs < running ? 'running' : 'idle';
  const changedMs = { pending: 0, running: pending, idle: running }[status];
  return {
    sessionId: id,
    title: `Session on ${request.computerId}`,
    status,
    messageCount: 0,
    createdAt: createdAtMs,
    updatedAt: createdAtMs + changedMs,
    ...(status === 'idle' ? { completedAt: createdAtMs + running } : {}),
    computerId: request.computerId,
    ...(request.sessionSettings === undefined ? {} : { sessionSettings: request.sessionSettings }),
  };
}

/** Adds the created sessions to the days, equally in every stream. */
export function withSessions(
  variantOf: (day: number, stream: DailyStream) => DayVariant,
  sessions: Pick<Sessions, 'createdOn'>,
): (day: number, stream: DailyStream) => DayVariant {
  return (day, stream) => {
    const created = sessions.createdOn(day);
    const variant = variantOf(day, stream);
    if (created.size === 0 || variant.empty) return variant;
    const total = [...created.values()].reduce((sum, count) => sum + count, 0);
    return { ...variant, key: `${variant.key} sessions-${total}`, createdSessions: created };
  };
}
