import type { IncomingMessage, ServerResponse } from 'node:http';
import type { UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { isDeeperThan, parseJson } from '../core/json.ts';
import type { DaysDescription } from './days.ts';
import type { EmulatedRepository } from './endpoints/readiness.ts';
import { parseRules, type Rule } from './faults/rules.ts';
import { findRequests, parseCriteria, toLoggedRequest } from './find-requests.ts';
import type { JournalEntry, JournalSnapshot } from './journal.ts';
import { DEPTH_MAX, day, integer, object } from './parse.ts';
import { parseQuirks, type Quirks } from './quirks.ts';
import type { Access, Keys } from './request.ts';
import { titleOf } from './response.ts';
import { parseRevision, type RevisionOutcome, type RevisionRequest } from './revise.ts';
import type { EmulatedSession } from './sessions.ts';

/** Reads and changes the emulator while it runs. Requests below `/__admin` do the same. */
export interface Controls {
  readonly keys: Keys;
  /** Restores everything as it was at the start: data, sessions, rules with their counters, quirks, day, latency, journal. */
  reset(): void;
  journal(): JournalSnapshot;
  /** Sets the counts to 0. The counters of the rules, which decide when they fire, are kept. */
  resetJournal(): void;
  rules(): readonly Rule[];
  /**
   * Replaces the fault rules; their counters start from 0.
   * @throws {UsageError} for an invalid rule.
   */
  setRules(rules: readonly Rule[]): void;
  today(): UtcDay;
  /**
   * Moves the emulated day.
   * @throws {UsageError} when it is not after the first day with data.
   */
  setToday(day: UtcDay): void;
  quirks(): Quirks;
  /**
   * Changes the given quirks and leaves the others.
   * @throws {UsageError} for an unknown quirk or value.
   */
  setQuirks(changes: Partial<Quirks>): void;
  /** Restores all defaults (`realistic` ones, if that was asked for), even of quirks that were set at the start. */
  resetQuirks(): void;
  /**
   * Sets the delay before each response in milliseconds, 0 to 600,000.
   * @throws {UsageError} when it is out of range.
   */
  setLatency(ms: number): void;
  /**
   * Changes data that was already served.
   * @throws {UsageError} when the request names something that does not exist.
   */
  revise(request: RevisionRequest): RevisionOutcome;
  /** The days whose rows are given, and what was removed from them on purpose. */
  days(): DaysDescription;
  /**
   * Gives the rows of days: lines of JSON, as docs/emulator.md describes them. Days that were given before stay.
   * @throws {UsageError} for an invalid line; then nothing changes.
   */
  putDays(lines: string): void;
  /** Takes back {@link putDays}; days that were given at the start stay. */
  clearDays(): void;
  repositories(): readonly EmulatedRepository[];
  /** The created sessions in their current state, the oldest first. */
  sessions(): readonly EmulatedSession[];
}

/** Requests below this path control the emulator. They need no API key and bypass faults, latency and journal. */
export const ADMIN_PATH = '/__admin';

/** Maximum bytes of a request body. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;

/** Method and path. */
type RouteName = `${'GET' | 'PUT' | 'POST' | 'DELETE'} ${string}`;

interface Route {
  /** Its description in the list of routes. */
  readonly what: string;
  /** Receives the body as JSON (null without one) and returns the JSON of the response. */
  run(controls: Controls, body: unknown): unknown;
  /** The body is handed over as text. */
  readonly takesText?: true;
}

const ROUTES: Readonly<Record<RouteName, Route>> = {
  'GET ': { what: 'this list', run: list },
  'POST /reset': {
    what: 'restores everything as it was at the start, sessions and journal too',
    run: (controls) => controls.reset(),
  },
  'GET /keys': {
    what: 'one API key per role, and the JWT that creates sessions',
    run: (controls) => ({ ...controls.keys, jwt: controls.quirks().sessionsJwt }),
  },
  'GET /rules': { what: 'the fault rules', run: (controls) => controls.rules() },
  'PUT /rules': {
    what: 'replaces the fault rules; body: a list of rules',
    run(controls, body) {
      controls.setRules(parseRules(body));
      return controls.rules();
    },
  },
  'GET /quirks': { what: 'all quirks with their values', run: (controls) => controls.quirks() },
  'PUT /quirks': {
    what: 'changes the quirks that the body names, leaves the others',
    run(controls, body) {
      controls.setQuirks(parseQuirks(body));
      return controls.quirks();
    },
  },
  'DELETE /quirks': { what: 'restores the default quirks', run: (controls) => controls.resetQuirks() },
  'GET /journal': { what: 'totals and the last requests', run: (controls) => controls.journal() },
  'DELETE /journal': { what: 'starts the counts from 0', run: (controls) => controls.resetJournal() },
  'POST /requests/count': {
    what: 'counts requests in the journal; body: {"method": "GET", "path": "/api/**", "query": {"limit": "100"}}',
    run(controls, body) {
      const found = find(controls, body);
      refuseGaps(controls.journal());
      return { count: found.length, requestJournalDisabled: false };
    },
  },
  'POST /requests/find': {
    what: 'shows these requests with headers and bodies; the same body',
    run: (controls, body) => ({
      requests: find(controls, body).map(toLoggedRequest),
      requestJournalDisabled: false,
    }),
  },
  'GET /today': { what: 'the emulated day', run: (controls) => ({ today: controls.today() }) },
  'PUT /today': {
    what: 'sets the emulated day; body: {"today": "2026-03-01"}',
    run(controls, body) {
      controls.setToday(object({ today: day }, {})(body, 'body').today);
      return { today: controls.today() };
    },
  },
  'PUT /latency': {
    what: 'milliseconds before each response; body: {"ms": 100}',
    run(controls, body) {
      const { ms } = object({ ms: integer(0) }, {})(body, 'body');
      controls.setLatency(ms);
      return { ms };
    },
  },
  'POST /revisions': {
    what: 'changes past data; body: {"kind": "restate", "day": "2026-02-03"}',
    run: (controls, body) => controls.revise(parseRevision(body, 'revision')),
  },
  'DELETE /revisions': {
    what: 'takes back all revisions',
    run: (controls) => controls.revise({ kind: 'revert' }),
  },
  'GET /days': {
    what: 'the days whose rows are given, and what was removed from them on purpose',
    run: (controls) => controls.days(),
  },
  'PUT /days': {
    what: 'gives the rows of days; body: lines of {"stream": "users", "date": "2026-03-02", "rows": []}',
    takesText: true,
    run(controls, body) {
      controls.putDays(String(body));
      return controls.days();
    },
  },
  'DELETE /days': {
    what: 'takes back the days that were put',
    run: (controls) => controls.clearDays(),
  },
  'GET /repositories': {
    what: 'the repository ids by which the readiness list can be filtered',
    run: (controls) => controls.repositories(),
  },
  'GET /sessions': {
    what: 'the created sessions in their current state',
    run: (controls) => controls.sessions(),
  },
};

function find(controls: Controls, body: unknown): readonly JournalEntry[] {
  return findRequests(controls.journal().recent, parseCriteria(body ?? {}, 'criteria'));
}

/** A count of requests that the journal no longer has would be too small, and a test would believe it. */
function refuseGaps({ requests, recent }: JournalSnapshot): void {
  if (requests === recent.length) return;
  throw new UsageError(`the journal has only the last ${recent.length} of ${requests} requests`, {
    hint: 'clear it first with DELETE /__admin/journal, or start the emulator with a larger journal',
  });
}

/** Responds to a request below {@link ADMIN_PATH}. An invalid body gets 400 with the remedy in `hint`. */
export async function answerAdmin(
  controls: Controls,
  access: Access,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refusal = access.refusalOf(request);
  if (refusal !== null) {
    const { status, message: detail, headers } = refusal;
    return send(response, status, { title: titleOf(status), detail, status }, headers);
  }
  const path = (request.url ?? '').split('?')[0]?.slice(ADMIN_PATH.length) ?? '';
  const methods = list()
    .filter((listed) => listed.path === ADMIN_PATH + path)
    .map(({ method }) => method);
  const detail = `see GET ${ADMIN_PATH}`;
  if (methods.length === 0) return send(response, 404, { title: 'Not Found', detail });
  const route = Object.entries(ROUTES).find(([name]) => name === `${request.method} ${path}`)?.[1];
  if (route === undefined) {
    return send(response, 405, { title: 'Method Not Allowed', detail }, { allow: methods.join(', ') });
  }
  try {
    const text = await readBody(request);
    const body = route.takesText === true ? text : parseBody(text);
    send(response, 200, route.run(controls, body) ?? { done: true });
  } catch (error) {
    // A client that disconnects while it sends its body gets no response.
    if (request.destroyed && !request.complete) return;
    if (!(error instanceof UsageError)) throw error;
    send(response, 400, { title: 'Bad Request', detail: error.message, status: 400, hint: error.hint });
  }
}

function list(): { method: string; path: string; what: string }[] {
  return Object.entries(ROUTES).map(([name, { what }]) => {
    const [method = '', path = ''] = name.split(' ');
    return { method, path: ADMIN_PATH + path, what };
  });
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const json = Buffer.from(JSON.stringify(body, null, 2));
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': json.length,
    ...headers,
  });
  response.end(json);
}

/**
 * Reads the body of a request as text.
 * @throws {UsageError} when it is too large.
 */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    // The rest is read and dropped, because a client that is still sending would not see the response.
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  if (bytes <= BODY_BYTES_MAX) return withoutMark(Buffer.concat(chunks).toString());
  throw new UsageError(`the body exceeds ${BODY_BYTES_MAX} bytes`, { hint: 'send a smaller body' });
}

/** Some programs write a byte order mark before a text. It is not part of it. */
function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function parseBody(text: string): unknown {
  if (text === '') return null;
  const json = parseJson(text);
  if (json === undefined) throw new UsageError('the body is not JSON', { hint: 'send one JSON value' });
  if (!isDeeperThan(json, DEPTH_MAX)) return json;
  throw new UsageError(`the body has more than ${DEPTH_MAX} levels`, {
    hint: `send JSON with at most ${DEPTH_MAX} lists and objects in each other`,
  });
}
