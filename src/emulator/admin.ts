import type { IncomingMessage, ServerResponse } from 'node:http';
import type { UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { parseRules, type Rule } from './faults/rules.ts';
import type { JournalSnapshot } from './journal.ts';
import { day, integer, object } from './parse.ts';
import { parseQuirks, type Quirks } from './quirks.ts';
import type { Keys } from './request.ts';
import { parseRevision, type RevisionOutcome, type RevisionRequest } from './revise.ts';
import type { EmulatedSession } from './sessions.ts';

/** A repository: the id that filters the readiness list, and the URL that the list shows. */
export interface EmulatedRepository {
  readonly repoId: string;
  readonly repoUrl: string;
}

/** Reads and changes the emulator while it runs. Requests below `/__admin` do the same. */
export interface Controls {
  readonly keys: Keys;
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
  /** Restores all defaults, even of quirks that were set at the start. */
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
  repositories(): readonly EmulatedRepository[];
  /** The created sessions in their current state, the oldest first. */
  sessions(): readonly EmulatedSession[];
}

/** Requests below this path control the emulator. They need no key and bypass faults, latency and journal. */
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
}

const ROUTES: Readonly<Record<RouteName, Route>> = {
  'GET ': { what: 'this list', run: list },
  'GET /keys': { what: 'one API key per role', run: ({ keys }) => keys },
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
  'GET /repositories': {
    what: 'the repository ids by which the readiness list can be filtered',
    run: (controls) => controls.repositories(),
  },
  'GET /sessions': {
    what: 'the created sessions in their current state',
    run: (controls) => controls.sessions(),
  },
};

/** A Host header that means this machine, with any port. */
const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/**
 * Responds to a request below {@link ADMIN_PATH}. An invalid body gets 400 with the remedy in `hint`. A foreign Host or
 * Origin gets 403, so that no web page can read the keys under a domain name that leads here.
 */
export async function answerAdmin(
  controls: Controls,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isLocal(request)) {
    const detail = 'use 127.0.0.1, [::1] or localhost as the host, and no web page of another origin';
    return send(response, 403, { title: 'Forbidden', detail, status: 403 });
  }
  const path = (request.url ?? '').split('?')[0]?.slice(ADMIN_PATH.length) ?? '';
  const methods = list()
    .filter((listed) => listed.path === ADMIN_PATH + path)
    .map(({ method }) => method);
  const detail = `see GET ${ADMIN_PATH}`;
  if (methods.length === 0) return send(response, 404, { title: 'Not Found', detail });
  const route = Object.entries(ROUTES).find(([name]) => name === `${request.method} ${path}`)?.[1];
  if (route === undefined) {
    response.setHeader('allow', methods.join(', '));
    return send(response, 405, { title: 'Method Not Allowed', detail });
  }
  try {
    send(response, 200, route.run(controls, await readJson(request)) ?? { done: true });
  } catch (error) {
    // A client that disconnects while it sends its body gets no response.
    if (request.destroyed && !request.complete) return;
    if (!(error instanceof UsageError)) throw error;
    send(response, 400, { title: 'Bad Request', detail: error.message, status: 400, hint: error.hint });
  }
}

/** True when the Host is this machine and the Origin, which browsers send, is the same host. */
function isLocal({ headers }: IncomingMessage): boolean {
  const { host = '', origin } = headers;
  return (
    LOOPBACK_HOST.test(host) &&
    (origin === undefined || origin.toLowerCase() === `http://${host}`.toLowerCase())
  );
}

function list(): { method: string; path: string; what: string }[] {
  return Object.entries(ROUTES).map(([name, { what }]) => {
    const [method = '', path = ''] = name.split(' ');
    return { method, path: ADMIN_PATH + path, what };
  });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const json = Buffer.from(JSON.stringify(body, null, 2));
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': json.length,
  });
  response.end(json);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    // The rest is read and dropped, because a client that is still sending would not see the response.
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  if (bytes > BODY_BYTES_MAX) {
    throw new UsageError(`the body exceeds ${BODY_BYTES_MAX} bytes`, {
      hint: 'send a smaller body',
    });
  }
  const text = Buffer.concat(chunks).toString();
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError('the body is not JSON', { cause, hint: 'send one JSON value' });
  }
}
