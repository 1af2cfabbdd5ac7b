import type { Role } from '../http/auth.ts';
import type { Call } from '../http/incoming-request.ts';
import { openTally, type Tally } from './counts.ts';

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

/** Opens an empty journal that remembers the last `entriesMax` requests one by one. */
export function openJournal(entriesMax: number, monotonicMs: () => number): Journal {
  const recent = openRecent(entriesMax);
  const totals = {
    path: openTally(),
    stream: openTally(),
    day: openTally(),
    status: openTally(),
    role: openTally(),
  };
  const rules = { matches: openTally(), firings: openTally(), missed: openTally() };
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
      for (const tally of [...Object.values(totals), ...Object.values(rules)]) tally.clear();
    },
  };
}

/** An entry as long as its request is in work. */
type Unfinished = { -readonly [Field in keyof JournalEntry]: JournalEntry[Field] };
type NewRequest = Pick<Call, 'method' | 'target' | 'caller'>;

function entryOf({ method, target, caller }: NewRequest, rule: string | null): Unfinished {
  const path = withoutKey(target.path, caller.credential);
  const query = withoutKey(target.url.slice(target.path.length + 1), caller.credential);
  return { method, path, query, status: null, ms: null, role: caller.role, rule };
}

function countArrival(
  totals: Readonly<Record<'path' | 'stream' | 'day' | 'role', Tally>>,
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
      // Trimmed in bulk, so that a request costs no shift of the whole list.
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
