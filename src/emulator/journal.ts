import type { IncomingHttpHeaders } from 'node:http';
import type { ApiCall, Role } from './request.ts';
import type { PreparedResponse } from './response.ts';

/** A body, up to a limit. */
export interface KeptBody {
  /** The beginning, as text. */
  readonly text: string;
  /** The length of the whole body. */
  readonly bytes: number;
}

/** One request. It never contains a key. */
export interface JournalEntry {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Its arrival in the emulated time, ISO 8601. */
  readonly arrivedAt: string;
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null where the service reads none. */
  readonly body: KeptBody | null;
  /** The status that was sent; null when none was sent (yet). */
  readonly status: number | null;
  /** What was sent, before a quirk compressed it; null when no status was sent. */
  readonly answer: { readonly headers: Readonly<Record<string, string>>; readonly body: KeptBody } | null;
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
  sent(response: PreparedResponse): void;
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

type NewRequest = Pick<ApiCall, 'method' | 'target' | 'caller' | 'upload'> & {
  readonly headers: IncomingHttpHeaders;
};

/** Where a journal takes instants and keys from. */
export interface JournalOptions {
  /** How many requests are kept individually. */
  readonly entriesMax: number;
  monotonicMs(): number;
  /** The emulated instant. */
  now(): Date;
  /** The keys of the organization, and the token of the emulator. */
  secrets(): readonly string[];
}

/** Bytes of one request's body that are kept, of one response's body, and of all bodies together. */
const REQUEST_BYTES_MAX = 16 * 1024;
const RESPONSE_BYTES_MAX = 2 * 1024;
const BODIES_BYTES_MAX = 64 * 1024 * 1024;

/** Opens an empty journal. */
export function openJournal(options: JournalOptions): Journal {
  const { entriesMax } = options;
  // Up to twice as many entries are held, see below.
  const share = Math.floor(BODIES_BYTES_MAX / (2 * Math.max(1, entriesMax)));
  let recent: Kept[] = [];
  const totals = openTotals();
  const secretsOf = rememberSecrets(options.secrets);
  const rules = { matches: openCounts(), firings: openCounts(), missed: openCounts() };
  let requests = 0;
  let inFlight = 0;
  let inFlightMax = 0;

  return {
    begin(request, rule) {
      const startedMs = options.monotonicMs();
      requests += 1;
      inFlight += 1;
      inFlightMax = Math.max(inFlightMax, inFlight);
      const { credential } = request.caller;
      const secrets = secretsOf(credential);
      const entry = keep(request, { rule, arrivedAt: options.now(), bytesMax: share / 2, secrets });
      countArrival(totals, request, secrets);
      recent.push(entry);
      // Trimmed in bulk, because trimming at every request would shift the whole list each time.
      if (recent.length > 2 * entriesMax) recent = recent.slice(recent.length - entriesMax);
      return {
        sent({ status, headers, body }) {
          entry.status = status;
          const bytesMax = Math.min(RESPONSE_BYTES_MAX, share / 2);
          entry.answer = { headers, ...cut(body, bytesMax, secretsOf(credential)) };
          totals.byStatus.add(String(status));
        },
        ended() {
          inFlight -= 1;
          entry.ms = Math.round((options.monotonicMs() - startedMs) * 1_000) / 1_000;
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
      recent: recent
        .slice(Math.max(0, recent.length - entriesMax))
        .map((entry) => showEntry(entry, secretsOf(entry.credential).hide)),
    }),
    reset() {
      requests = 0;
      inFlightMax = inFlight;
      recent = [];
      for (const counts of [...Object.values(totals), ...Object.values(rules)]) counts.clear();
    },
  };
}

/** An entry as it is held: with keys, which only {@link showEntry} removes, because showing is rare. */
interface Kept extends Pick<JournalEntry, 'method' | 'arrivedAt' | 'role' | 'rule'> {
  readonly url: string;
  readonly credential: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Cut | null;
  status: number | null;
  ms: number | null;
  answer: (Cut & { readonly headers: Readonly<Record<string, string>> }) | null;
}

interface Cut {
  readonly start: Buffer;
  readonly bytes: number;
}

function keep(
  { method, target, caller, upload, headers }: NewRequest,
  {
    rule,
    arrivedAt,
    bytesMax,
    secrets,
  }: { rule: string | null; arrivedAt: Date; bytesMax: number; secrets: Secrets },
): Kept {
  const body = upload?.body ?? null;
  return {
    method,
    url: target.url,
    credential: caller.credential,
    headers,
    arrivedAt: arrivedAt.toISOString(),
    body: body === null ? null : cut(body, Math.min(REQUEST_BYTES_MAX, bytesMax), secrets),
    status: null,
    ms: null,
    answer: null,
    role: caller.role,
    rule,
  };
}

/**
 * Copies the beginning, because a part of a buffer would hold all of it. A secret that begins before the cut is kept whole,
 * because a part of it would not be found when the entry is shown.
 */
function cut(body: Buffer, bytesMax: number, { spellings }: Secrets): Cut {
  const max = Math.floor(bytesMax);
  let end = max;
  for (const secret of max < body.length ? spellings : []) {
    const from = Math.max(0, max - secret.length + 1);
    const at = body.subarray(from, max + secret.length - 1).indexOf(secret);
    if (at >= 0) end = Math.max(end, from + at + secret.length);
  }
  return { start: Buffer.from(body.subarray(0, end)), bytes: body.length };
}

/** Headers whose values are credentials, whatever they are. */
const CREDENTIALS = new Set(['authorization', 'proxy-authorization', 'cookie']);

function showEntry(entry: Kept, hide: (text: string) => string): JournalEntry {
  const { method, url, arrivedAt, status, ms, role, rule } = entry;
  const showBody = ({ start, bytes }: Cut): KeptBody => ({ text: hide(start.toString()), bytes });
  const showHeaders = (headers: IncomingHttpHeaders) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value = '']) => [
        name,
        CREDENTIALS.has(name) ? '[key]' : hide(String(value)),
      ]),
    );
  const path = url.split('?', 1)[0] ?? '';
  return {
    method,
    path: hide(path),
    query: hide(url.slice(path.length + 1)),
    arrivedAt,
    headers: showHeaders(entry.headers),
    body: entry.body === null ? null : showBody(entry.body),
    status,
    answer:
      entry.answer === null
        ? null
        : { headers: showHeaders(entry.answer.headers), body: showBody(entry.answer) },
    ms,
    role,
    rule,
  };
}

/** A shorter credential is no secret, and to hide it would make other texts unreadable. */
const KEY_CHARS_MIN = 4;

/** Keys that no text may show. */
interface Secrets {
  /** The keys as a body may have them: as they are, as in a URL, and as in JSON. */
  readonly spellings: readonly Buffer[];
  /** Replaces the keys in a text. */
  hide(text: string): string;
}

function openSecrets(keys: readonly string[]): Secrets {
  const texts = keys
    .filter((key) => key.length >= KEY_CHARS_MIN)
    .flatMap((key) => [key, encodeURIComponent(key.toWellFormed()), JSON.stringify(key).slice(1, -1)])
    .sort((a, b) => b.length - a.length);
  const spellings = [...new Set(texts)].map((text) => Buffer.from(text));
  if (texts.length === 0) return { spellings, hide: (text) => text };
  const pattern = new RegExp(texts.map((key) => key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'g');
  return { spellings, hide: (text) => text.replace(pattern, '[key]') };
}

/** Nearly all requests have one of a few credentials, so this many sets of secrets stay open. */
const SECRETS_MAX = 100;

/** Opens the secrets of requests: the credential and the others. */
function rememberSecrets(others: () => readonly string[]): (credential: string) => Secrets {
  const known = new Map<string, Secrets>();
  return (credential) => {
    const keys = [credential, ...others()];
    const name = JSON.stringify(keys);
    const secrets = known.get(name) ?? openSecrets(keys);
    if (known.size >= SECRETS_MAX) known.clear();
    known.set(name, secrets);
    return secrets;
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

function countArrival(
  totals: ReturnType<typeof openTotals>,
  { target, caller }: NewRequest,
  { hide }: Secrets,
): void {
  totals.byPath.add(hide(target.path));
  totals.byRole.add(caller.role ?? 'none');
  if (target.stream === null) return;
  totals.byStream.add(target.stream);
  totals.byDay.add(hide(`${target.stream} ${target.days}`.trimEnd()));
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
