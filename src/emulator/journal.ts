import type { Role } from './auth.ts';
import type { Call } from './service.ts';

/** One request as the journal remembers it. It never holds a key. */
export interface JournalEntry {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** The status that was sent; null while nothing was, also when a fault kept it that way. */
  readonly status: number | null;
  /** Milliseconds from the request to the end of the answer or the connection; null while in work. */
  readonly ms: number | null;
  /** Role of the key; null without a valid one. */
  readonly role: Role | null;
  /** The fault rule that fired. */
  readonly rule: string | null;
}

/** How often a fault rule matched and fired, and how often a fired one found nothing that it could change. */
export interface RuleCounts {
  readonly id: string;
  readonly matches: number;
  readonly firings: number;
  readonly missed: number;
}

/** What happened since the start or the last reset. Totals are exact, `recent` is not complete. */
export interface JournalSnapshot {
  readonly requests: number;
  readonly inFlight: number;
  /** Requests in work at the same time at most. */
  readonly inFlightMax: number;
  readonly byPath: Readonly<Record<string, number>>;
  readonly byStream: Readonly<Record<string, number>>;
  /** By stream and the days asked for, for example `users 2026-02-03` or `tokens 2026-02-01..2026-02-07`. */
  readonly byDay: Readonly<Record<string, number>>;
  /** By status sent; `none` where the connection ended without one. */
  readonly byStatus: Readonly<Record<string, number>>;
  /** By role; `none` without a valid key. */
  readonly byRole: Readonly<Record<string, number>>;
  /** In the order of the rules. */
  readonly rules: readonly RuleCounts[];
  /** The last requests, the oldest first. */
  readonly recent: readonly JournalEntry[];
}

/** A request in work. */
export interface OpenEntry {
  /** Records the status as it is being sent: a client may ask for the journal as soon as it has its answer. */
  sent(status: number): void;
  /** Records the end of the answer or of the connection. */
  ended(): void;
}

/** Counts requests. */
export interface Journal {
  /** Records the arrival of a request. */
  begin(call: Pick<Call, 'method' | 'target' | 'caller'>, rule: string | null): OpenEntry;
  /** Requests in work now. */
  inFlight(): number;
  matched(ruleId: string): void;
  fired(ruleId: string): void;
  missed(ruleId: string): void;
  snapshot(ruleIds: readonly string[]): JournalSnapshot;
  reset(): void;
}

/** Different names counted one by one at most; the rest goes to `other`. */
const NAMES_MAX = 50_000;

/** Opens an empty journal that remembers the last `entriesMax` requests one by one. */
export function openJournal(entriesMax: number, monotonicMs: () => number): Journal {
  let recent: JournalEntry[] = [];
  let requests = 0;
  let inFlight = 0;
  let inFlightMax = 0;
  const totals = {
    path: openTally(),
    stream: openTally(),
    day: openTally(),
    status: openTally(),
    role: openTally(),
  };
  const rules = { matches: openTally(), firings: openTally(), missed: openTally() };

  function remember(entry: JournalEntry): void {
    if (entriesMax === 0) return;
    recent.push(entry);
    // Trimmed in bulk, so that a request costs no shift of the whole list.
    if (recent.length >= 2 * entriesMax) recent = recent.slice(-entriesMax);
  }

  return {
    begin({ method, target, caller }, rule) {
      const startedMs = monotonicMs();
      requests += 1;
      inFlight += 1;
      inFlightMax = Math.max(inFlightMax, inFlight);
      const path = withoutKey(target.path, caller.credential);
      totals.path.add(path);
      if (target.stream !== null) {
        totals.stream.add(target.stream);
        totals.day.add(`${target.stream} ${target.days}`.trimEnd());
      }
      totals.role.add(caller.role ?? 'none');
      const query = withoutKey(target.url.slice(target.path.length + 1), caller.credential);
      const entry = { method, path, query, status: null, ms: null, role: caller.role, rule };
      const open: { -readonly [K in keyof JournalEntry]: JournalEntry[K] } = entry;
      remember(open);
      return {
        sent(status) {
          open.status = status;
          totals.status.add(String(status));
        },
        ended() {
          inFlight -= 1;
          open.ms = Math.round((monotonicMs() - startedMs) * 1_000) / 1_000;
          if (open.status === null) totals.status.add('none');
        },
      };
    },
    inFlight: () => inFlight,
    matched: rules.matches.add,
    fired: rules.firings.add,
    missed: rules.missed.add,
    snapshot: (ruleIds) => ({
      requests,
      inFlight,
      inFlightMax,
      byPath: totals.path.all(),
      byStream: totals.stream.all(),
      byDay: totals.day.all(),
      byStatus: totals.status.all(),
      byRole: totals.role.all(),
      rules: ruleIds.map((id) => ({
        id,
        matches: rules.matches.of(id),
        firings: rules.firings.of(id),
        missed: rules.missed.of(id),
      })),
      recent: recent.slice(-Math.max(1, entriesMax)).map((entry) => ({ ...entry })),
    }),
    reset() {
      recent = [];
      requests = 0;
      inFlightMax = inFlight;
      for (const tally of [...Object.values(totals), ...Object.values(rules)]) tally.clear();
    },
  };
}

interface Tally {
  add(name: string): void;
  of(name: string): number;
  all(): Record<string, number>;
  clear(): void;
}

function openTally(): Tally {
  const counts = new Map<string, number>();
  return {
    add(name) {
      const key = counts.size < NAMES_MAX || counts.has(name) ? name : 'other';
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    of: (name) => counts.get(name) ?? 0,
    all: () => Object.fromEntries(counts),
    clear: () => counts.clear(),
  };
}

function withoutKey(query: string, credential: string): string {
  return credential === '' ? query : query.replaceAll(credential, '[key]');
}
