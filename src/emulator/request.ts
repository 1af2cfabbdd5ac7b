import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ANALYTICS_PATHS, READINESS_PATH, SESSIONS_PATH } from '../contract/index.ts';
import { formatListenAddress } from '../core/addresses.ts';
import { DAILY_STREAMS, type Stream } from '../core/stream.ts';
import { hashText, randomChars } from './dataset/pseudo-random.ts';
import { Refusal } from './response.ts';

/** Where {@link READINESS_PATH} is known to redirect to, on the same host. */
export const READINESS_MOVED_PATH = '/api/organization/agent-readiness-reports';

/** A request as the service sees it. */
export interface ApiCall {
  readonly method: string;
  readonly target: RequestTarget;
  readonly caller: Caller;
  /** Requests in progress, including this one. */
  readonly inFlight: number;
  /** The body of a request that creates something; null for other requests. */
  readonly upload: Upload | null;
}

/** The path and query of a request, and values derived from them. */
export interface RequestTarget {
  /** Path and query as sent. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** The stream that the path belongs to; null outside analytics and readiness. */
  readonly stream: Stream | null;
  /** The requested days as sent: `2026-02-01`, `2026-02-01..2026-02-07`, or '' when none are named. */
  readonly days: string;
  /** Derived from the URL alone, so that equal requests get equal responses. */
  readonly requestId: string;
}

const STREAM_OF_PATH: ReadonlyMap<string, Stream> = new Map<string, Stream>([
  ...DAILY_STREAMS.map((stream): [string, Stream] => [ANALYTICS_PATHS[stream], stream]),
  [READINESS_PATH, 'readiness'],
  [READINESS_MOVED_PATH, 'readiness'],
]);

/** Reads the URL of a request. The seed decides the request id. */
export function readTarget(url: string, seed: number): RequestTarget {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  const first = query.get('startDate') ?? '';
  const last = query.get('endDate') ?? first;
  return {
    url,
    path,
    query,
    stream: STREAM_OF_PATH.get(path) ?? null,
    days: first === last ? first : `${first}..${last}`,
    requestId: `req_${randomChars(hashText(seed, url), url.length, 24)}`,
  };
}

/** The roles of the emulated organization (specification, section 5). Only the first two may read analytics. */
export const ROLES = ['owner', 'manager', 'user', 'member', 'guest'] as const;

/** One of {@link ROLES}. */
export type Role = (typeof ROLES)[number];

/** One API key per role. */
export type Keys = Readonly<Record<Role, string>>;

/** Who sent a request. */
interface Caller {
  /** As sent; '' without one. */
  readonly credential: string;
  /** Null without a valid key. */
  readonly role: Role | null;
}

/** What the credentials of an organization follow from. */
interface CredentialSource {
  readonly seed: number;
  /** Whoever does not know the token cannot compute a credential. Without one, anybody can. */
  readonly token: string | null;
}

/** Derives the keys of an organization. The owner's key can be given. */
export function deriveKeys(source: CredentialSource, ownerKey: string | undefined): Keys {
  const derive = (role: Role) => {
    const secret =
      source.token === null
        ? randomChars(source.seed, 0x6b00 + ROLES.indexOf(role), 24)
        : sign(source.token, `${source.seed} ${role}`).toString('hex').slice(0, 32);
    return `ak_emulated_${role}_${secret}`;
  };
  return {
    owner: ownerKey ?? derive('owner'),
    manager: derive('manager'),
    user: derive('user'),
    member: derive('member'),
    guest: derive('guest'),
  };
}

/** Derives the JWT that creates sessions: one without a signature, or with one that needs the token. */
export function deriveJwt({ seed, token }: CredentialSource): string {
  const base64url = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
  const content = (alg: string) =>
    `${base64url({ alg, typ: 'JWT' })}.${base64url({ sub: 'emulated-user' })}.`;
  return token === null
    ? content('none')
    : content('HS256') + sign(token, `${seed} ${content('HS256')}`).toString('base64url');
}

function sign(token: string, text: string): Buffer {
  return createHmac('sha256', token).update(text).digest();
}

/** Identifies the caller by the Authorization header. */
export function identifyCaller(authorization: string | undefined, keys: Keys): Caller {
  const credential = /^bearer +(.*)$/i.exec(authorization ?? '')?.[1]?.trim() ?? '';
  return { credential, role: ROLES.find((role) => keys[role] === credential) ?? null };
}

/**
 * Returns the role of the caller.
 * @throws {Refusal} 401 without a valid key (section 5, rule 3).
 */
export function requireKey(caller: Caller): Role {
  if (caller.role !== null) return caller.role;
  const what = caller.credential === '' ? 'Missing API key' : 'Invalid API key';
  throw new Refusal(401, `${what}: send the header Authorization: Bearer <API_KEY>`, {
    'www-authenticate': 'Bearer',
  });
}

/**
 * Demands the Manager or Owner role (section 5, rule 2).
 * @throws {Refusal} 401 without a valid key, 403 for lower roles; the message names the role.
 */
export function requireManager(caller: Caller): void {
  const role = requireKey(caller);
  if (role === 'owner' || role === 'manager') return;
  throw new Refusal(403, `The Manager or Owner role is required; this key belongs to a ${role}`);
}

/** Maximum bytes in the body of a request that creates a session; a larger one gets 413. */
export const BODY_BYTES_MAX = 1024 * 1024;

/** The body of a request to create a session. */
export interface Upload {
  readonly contentType: string;
  /** Null when it exceeds {@link BODY_BYTES_MAX}. */
  readonly body: Buffer | null;
}

/**
 * Calls `serve` once with the body of the request, as soon as it is complete or too large. Only a POST to the session
 * endpoint has its body read; other requests are served at once, with null. `serve` is not called when the client
 * disconnects first.
 */
export function receiveUpload(request: IncomingMessage, serve: (upload: Upload | null) => void): void {
  if (request.method !== 'POST' || request.url?.split('?', 1)[0] !== SESSIONS_PATH) {
    serve(null);
    return;
  }
  const contentType = request.headers['content-type'] ?? '';
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isServed = false;
  const finish = (body: Buffer | null): void => {
    if (isServed) return;
    isServed = true;
    serve({ contentType, body });
  };
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    // The rest is read and dropped, because a client that is still sending would not see the response.
    if (bytes > BODY_BYTES_MAX) finish(null);
    else chunks.push(chunk);
  });
  request.once('end', () => finish(Buffer.concat(chunks)));
}

/** Hosts that mean this machine. */
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

function nameOfHost(host: string): string {
  return host.replace(/:\d{1,5}$/, '').toLowerCase();
}

/** Decides who may see and change the emulator itself. */
export interface Access {
  /** 403 for a foreign Host or Origin, 401 without the token, null for a request that may pass. */
  refusalOf(request: IncomingMessage): Refusal | null;
}

/**
 * Without a token, requests must use a name of this machine or the address on which the emulator listens. A browser that was led here by another name, or by a page of
 * another origin, is refused, so that no web page can read the keys. With a token, any name is accepted, and the token is
 * needed: as a bearer credential, or as the password that a browser asks for.
 */
export function openAccess({ token, host: own }: { token: string | null; host: string }): Access {
  const hosts = new Set([...LOOPBACK_HOSTS, nameOfHost(formatListenAddress({ host: own, port: 0 }))]);
  return {
    refusalOf({ headers }) {
      const { host = '', origin, authorization = '' } = headers;
      if ((token === null && !hosts.has(nameOfHost(host))) || !isOwnOrigin(origin, host, token !== null)) {
        const detail = 'use 127.0.0.1, [::1] or localhost as the host, and no web page of another origin';
        return new Refusal(403, detail);
      }
      if (token === null || isSame(credentialOf(authorization), token)) return null;
      return new Refusal(401, 'send the token of the emulator: Authorization: Bearer <TOKEN>', {
        'www-authenticate': 'Basic realm="Daywalk emulator", charset="UTF-8"',
      });
    },
  };
}

/** Browsers send the Origin of a page that sends a form or a script's request. A proxy may serve this host by https. */
function isOwnOrigin(origin: string | undefined, host: string, mayBeHttps: boolean): boolean {
  const own = [`http://${host}`, ...(mayBeHttps ? [`https://${host}`] : [])];
  return origin === undefined || own.some((url) => url.toLowerCase() === origin.toLowerCase());
}

function credentialOf(authorization: string): string {
  const [, scheme = '', value = ''] = /^(\w+) +(.*)$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return value.trim();
  if (scheme.toLowerCase() !== 'basic') return '';
  const pair = Buffer.from(value, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}

/** Compares digests, which have one length, so that the time says nothing about the token. */
function isSame(given: string, token: string): boolean {
  const [first, second] = [given, token].map((text) => createHash('sha256').update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
