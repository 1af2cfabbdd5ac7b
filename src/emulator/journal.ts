import type { ApiCall, Role } from './request.ts';

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

/** How often a fault rule matched, fired, and fired without an effect. */
export interface RuleCounts {
  readonly id: string;
  readonly matches: number;
  readonly firings: number;
  readonly missed: number;
}

/** The requests since the start or the last reset. Totals are exact; `recent` is limited. */
export interface JournalSnapshot {
  readonly requests: number;
  readonly inFlight: number;
  /** The highest number of requests in progress at the same time. */
  readonly inFlightMax: number;
  readonly byPath: Readonly<Record<string, number>>;
  readonly byStream: Readonly<Record<string, number>>;
  /** By stream and requested days, for example `users 2026-02-03` or `tokens 2026-02-01..2026-02-07`. */
  readonly byDay: Readonly<Record<string, number>>;
  /** By status sent; `none` if the connection ended without a status. */
  readonly byStatus: Readonly<Record<string, number>>;
  /** By role; `none` without a valid key. */
  readonly byRole: Readonly<Record<string, number>>;
  /** In the order of the rules. */
  readonly rules: readonly RuleCounts[];
  /** The last requests, the oldest first. */
  readonly recent: readonly JournalEntry[];
}

/** Records the progress of one request. */
interface OpenEntry {
  /** Call it before the status is sent, because a client may read the journal as soon as it has its response. */
  sent(status: number): void;
  /** Call it when the response or the connection has ended. */
  ended(): void;
}

/** Records requests. */
export interface Journal {
  /** Records the arrival of a request. */
  begin(request: NewRequest, rule: string | null): OpenEntry;
  /** The number of requests in progress. */
  inFlight(): number;
  matched(ruleId: string): void;
  fired(ruleId: string): void;
  missed(ruleId: string): void;
  snapshot(ruleIds: readonly string[]): JournalSnapshot;
  reset(): void;
}

type NewRequest = Pick<ApiCall, 'method' | 'target' | 'caller'>;
/** An entry whose request is in progress. */
type OpenJournalEntry = { -readonly [Field in keyof JournalEntry]: JournalEntry[Field] };

/** Opens an empty journal that keeps the last `entriesMax` requests. */
export function openJournal(entriesMax: number, monotonicMs: () => number): Journal {
  let recent: OpenJournalEntry[] = [];
  const totals = openTotals();
  const rules = { matches: openCounts(), firings: openCounts(), missed: openCounts() };
  let requests = 0;
  let inFlight = 0;
  let inFlightMax = 0;

  return {
    begin(request, rule) {
      const startedMs = monotonicMs();
      requests += 1;
      inFlight += 1;
      inFlightMax = Math.max(inFlightMax, inFlight);
      const entry = createEntry(request, rule);
      countArrival(totals, request, entry.path);
      recent.push(entry);
      // Trimmed in bulk, because trimming at every request would shift the whole list each time.
      if (recent.length > 2 * entriesMax) recent = recent.slice(recent.length - entriesMax);
      return {
        sent(status) {
          entry.status = status;
          totals.byStatus.add(String(status));
        },
        ended() {
          inFlight -= 1;
          entry.ms = Math.round((monotonicMs() - startedMs) * 1_000) / 1_000;
          if (entry.status === null) totals.byStatus.add('none');
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
      byPath: totals.byPath.all(),
      byStream: totals.byStream.all(),
      byDay: totals.byDay.all(),
      byStatus: totals.byStatus.all(),
      byRole: totals.byRole.all(),
      rules: ruleIds.map((id) => ({
        id,
        matches: rules.matches.of(id),
        firings: rules.firings.of(id),
        missed: rules.missed.of(id),
      })),
      recent: recent.slice(Math.max(0, recent.length - entriesMax)).map((entry) => ({ ...entry })),
    }),
    reset() {
      requests = 0;
      inFlightMax = inFlight;
      recent = [];
      for (const counts of [...Object.values(totals), ...Object.values(rules)]) counts.clear();
    },
  };
}

function openTotals() {
  return {
    byPath: openCounts(),
    byStream: openCounts(),
    byDay: openCounts(),
    byStatus: openCounts(),
    byRole: openCounts(),
  };
}

function createEntry({ method, target, caller }: NewRequest, rule: string | null): OpenJournalEntry {
  const path = hideKey(target.path, caller.credential);
  const query = hideKey(target.url.slice(target.path.length + 1), caller.credential);
  return { method, path, query, status: null, ms: null, role: caller.role, rule };
}

function countArrival(
  totals: ReturnType<typeof openTotals>,
  { target, caller }: NewRequest,
  path: string,
): void {
  totals.byPath.add(path);
  totals.byRole.add(caller.role ?? 'none');
  if (target.stream === null) return;
  totals.byStream.add(target.stream);
  totals.byDay.add(`${target.stream} ${target.days}`.trimEnd());
}

function hideKey(text: string, credential: string): string {
  return credential === '' ? text : text.replaceAll(credential, '[key]');
}

/** Maximum number of different names; further ones count as `other`. */
const NAMES_MAX = 50_000;

/** Counts by name. */
interface Counts {
  add(name: string): void;
  of(name: string): number;
  all(): Record<string, number>;
  clear(): void;
}

/** Opens counts that are all 0. */
function openCounts(): Counts {
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
