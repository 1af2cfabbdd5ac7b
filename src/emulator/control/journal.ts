import type { ApiCall } from '../http/api-call.ts';
import type { Role } from '../http/auth.ts';
import { type Counts, openCounts } from './counts.ts';

/** One request. It never contains a key. */
export interface JournalEntry {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** The status that was sent; null when none was sent (yet). */
  readonly status: number | null;
  /** Milliseconds from the request to the end of the response or connection; null while in progress. */
  readonly ms: number | null;
  /** Role of the key; null without a valid one. */
  readonly role: Role | null;
  /** The id of the fault rule that fired. */
  readonly rule: string | null;
}

/** How often a fault rule matched, fired, and fired without finding anything to change. */
export interface RuleCounts {
  readonly id: string;
  readonly matches: number;
  readonly firings: number;
  readonly missed: number;
}

/** What happened since the start or the last reset. Totals are exact; `recent` is limited. */
export interface JournalSnapshot {
  readonly requests: number;
  readonly inFlight: number;
  /** The highest number of requests in progress at the same time. */
  readonly inFlightMax: number;
  readonly byPath: Readonly<Record<string, number>>;
  readonly byStream: Readonly<Record<string, number>>;
  /** By stream and requested days, for example `users 2026-02-03` or `tokens 2026-02-01..2026-02-07`. */
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

/** Records the progress of one request. */
export interface OpenEntry {
  /** Call it before the status is sent: a client may read the journal as soon as it has its response. */
  sent(status: number): void;
  /** Call it when the response or the connection has ended. */
  ended(): void;
}

/** Records requests. */
export interface Journal {
  /** Records the arrival of a request. */
  begin(call: Pick<ApiCall, 'method' | 'target' | 'caller'>, rule: string | null): OpenEntry;
  /** The number of requests in progress. */
  inFlight(): number;
  matched(ruleId: string): void;
  fired(ruleId: string): void;
  missed(ruleId: string): void;
  snapshot(ruleIds: readonly string[]): JournalSnapshot;
  reset(): void;
}

/** Opens an empty journal that keeps the last `entriesMax` requests. */
export function openJournal(entriesMax: number, monotonicMs: () => number): Journal {
  const recent = openRecent(entriesMax);
  const totals = {
    path: openCounts(),
    stream: openCounts(),
    day: openCounts(),
    status: openCounts(),
    role: openCounts(),
  };
  const rules = { matches: openCounts(), firings: openCounts(), missed: openCounts() };
  let requests = 0;
  let inFlight = 0;
  let inFlightMax = 0;

  return {
    begin(call, rule) {
      const startedMs = monotonicMs();
      requests += 1;
      inFlight += 1;
      inFlightMax = Math.max(inFlightMax, inFlight);
      const entry = entryOf(call, rule);
      recent.add(entry);
      countArrival(totals, call, entry);
      return {
        sent(status) {
          entry.status = status;
          totals.status.add(String(status));
        },
        ended() {
          inFlight -= 1;
          entry.ms = Math.round((monotonicMs() - startedMs) * 1_000) / 1_000;
          if (entry.status === null) totals.status.add('none');
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
      recent: recent.all(),
    }),
    reset() {
      requests = 0;
      inFlightMax = inFlight;
      recent.clear();
      for (const counts of [...Object.values(totals), ...Object.values(rules)]) counts.clear();
    },
  };
}

/** An entry whose request is in progress. */
type Unfinished = { -readonly [Field in keyof JournalEntry]: JournalEntry[Field] };
type NewRequest = Pick<ApiCall, 'method' | 'target' | 'caller'>;

function entryOf({ method, target, caller }: NewRequest, rule: string | null): Unfinished {
  const path = withoutKey(target.path, caller.credential);
  const query = withoutKey(target.url.slice(target.path.length + 1), caller.credential);
  return { method, path, query, status: null, ms: null, role: caller.role, rule };
}

function countArrival(
  totals: Readonly<Record<'path' | 'stream' | 'day' | 'role', Counts>>,
  { target, caller }: NewRequest,
  entry: JournalEntry,
): void {
  totals.path.add(entry.path);
  totals.role.add(caller.role ?? 'none');
  if (target.stream === null) return;
  totals.stream.add(target.stream);
  totals.day.add(`${target.stream} ${target.days}`.trimEnd());
}

function openRecent(entriesMax: number) {
  let entries: JournalEntry[] = [];
  return {
    add(entry: JournalEntry): void {
      entries.push(entry);
      // Trimmed in bulk, so that no request shifts the whole list.
      if (entries.length > 2 * entriesMax) entries = entries.slice(entries.length - entriesMax);
    },
    all: (): JournalEntry[] =>
      entries.slice(Math.max(0, entries.length - entriesMax)).map((entry) => ({ ...entry })),
    clear(): void {
      entries = [];
    },
  };
}

function withoutKey(query: string, credential: string): string {
  return credential === '' ? query : query.replaceAll(credential, '[key]');
}
