import type { IncomingMessage, ServerResponse } from 'node:http';
import { UsageError } from '../../core/errors.ts';
import type { Emulator } from '../emulator.ts';
import { parseRules } from '../faults/rules.ts';
import { day, integer, object } from '../input/parse.ts';
import { parseQuirks } from '../quirks/quirks.ts';
import { parseRevision } from '../world/revision-request.ts';

/** Everything under this path steers the emulator and needs no key. It passes by faults, latency and journal. */
export const ADMIN_PATH = '/__admin';

/** Bytes of a request body at most. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;

interface AdminRoute {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  readonly what: string;
  /** Gets the body as JSON (null without one) and answers JSON. */
  readonly run: (emulator: Emulator, body: unknown) => unknown;
}

const ROUTES: readonly AdminRoute[] = [
  { method: 'GET', path: '', what: 'this list', run: () => list() },
  { method: 'GET', path: '/keys', what: 'one API key per role', run: (emulator) => emulator.keys },
  { method: 'GET', path: '/rules', what: 'the fault rules', run: (emulator) => emulator.rules() },
  {
    method: 'PUT',
    path: '/rules',
    what: 'replaces the fault rules; body: a list of rules',
    run(emulator, body) {
      emulator.setRules(parseRules(body));
      return emulator.rules();
    },
  },
  {
    method: 'GET',
    path: '/quirks',
    what: 'all quirks with their values',
    run: (emulator) => emulator.quirks(),
  },
  {
    method: 'PUT',
    path: '/quirks',
    what: 'changes the quirks that the body names, leaves the others',
    run(emulator, body) {
      emulator.setQuirks(parseQuirks(body));
      return emulator.quirks();
    },
  },
  {
    method: 'DELETE',
    path: '/quirks',
    what: 'back to the default quirks',
    run: (emulator) => emulator.resetQuirks(),
  },
  {
    method: 'GET',
    path: '/journal',
    what: 'totals and the last requests',
    run: (emulator) => emulator.journal(),
  },
  {
    method: 'DELETE',
    path: '/journal',
    what: 'counts from 0 again',
    run: (emulator) => emulator.resetJournal(),
  },
  {
    method: 'GET',
    path: '/today',
    what: 'the emulated day',
    run: (emulator) => ({ today: emulator.today() }),
  },
  {
    method: 'PUT',
    path: '/today',
    what: 'sets the emulated day; body: {"today": "2026-03-01"}',
    run(emulator, body) {
      emulator.setToday(object({ today: day }, {})(body, 'body').today);
      return { today: emulator.today() };
    },
  },
  {
    method: 'PUT',
    path: '/latency',
    what: 'milliseconds before each answer; body: {"ms": 100}',
    run(emulator, body) {
      const { ms } = object({ ms: integer(0) }, {})(body, 'body');
      emulator.setLatency(ms);
      return { ms };
    },
  },
  {
    method: 'POST',
    path: '/revisions',
    what: 'changes past data; body: {"kind": "restate", "day": "2026-02-03"}',
    run: (emulator, body) => emulator.revise(parseRevision(body)),
  },
  {
    method: 'DELETE',
    path: '/revisions',
    what: 'takes back all revisions',
    run: (emulator) => emulator.revise({ kind: 'revert' }),
  },
  {
    method: 'GET',
    path: '/repositories',
    what: 'the repository ids that the readiness list can be filtered by',
    run: (emulator) => emulator.repositories(),
  },
  {
    method: 'GET',
    path: '/sessions',
    what: 'the sessions that were created, as they are now',
    run: (emulator) => emulator.sessions(),
  },
];

/** A Host header that names this machine, with any port. */
const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/**
 * Answers a request under {@link ADMIN_PATH}. A refused body is answered 400 with the remedy in `hint`. A foreign Host
 * or Origin gets 403: a web page that a name of its own leads here must not read the keys.
 */
export async function answerAdmin(
  emulator: Emulator,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isFromHere(request)) {
    const detail = 'ask by 127.0.0.1, [::1] or localhost, and not from a web page of another origin';
    return send(response, 403, { title: 'Forbidden', detail, status: 403 });
  }
  const path = (request.url ?? '').split('?')[0]?.slice(ADMIN_PATH.length) ?? '';
  const atPath = ROUTES.filter((route) => route.path === path);
  const route = atPath.find(({ method }) => method === request.method);
  if (atPath.length === 0) {
    return send(response, 404, { title: 'Not Found', detail: `see GET ${ADMIN_PATH}` });
  }
  if (route === undefined) {
    response.setHeader('allow', atPath.map(({ method }) => method).join(', '));
    return send(response, 405, { title: 'Method Not Allowed', detail: `see GET ${ADMIN_PATH}` });
  }
  try {
    send(response, 200, route.run(emulator, await readJson(request)) ?? { done: true });
  } catch (error) {
    // A client that goes away in the middle of its body gets no answer.
    if (request.destroyed && !request.complete) return;
    if (!(error instanceof UsageError)) throw error;
    send(response, 400, { title: 'Bad Request', detail: error.message, status: 400, hint: error.hint });
  }
}

/** True for a Host of this machine and, where a browser tells one, an Origin that is this very host. */
function isFromHere({ headers }: IncomingMessage): boolean {
  const { host = '', origin } = headers;
  return (
    LOOPBACK_HOST.test(host) &&
    (origin === undefined || origin.toLowerCase() === `http://${host}`.toLowerCase())
  );
}

function list(): readonly Omit<AdminRoute, 'run'>[] {
  return ROUTES.map(({ method, path, what }) => ({ method, path: ADMIN_PATH + path, what }));
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
    // What is too much is read and dropped, because a client that is still sending would not see the answer.
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  if (bytes > BODY_BYTES_MAX) {
    throw new UsageError(`a body above ${BODY_BYTES_MAX} bytes is not accepted`, {
      hint: 'send less at once',
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
