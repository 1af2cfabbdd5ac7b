import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { type Answer, ASSETS, htmlAnswer, loginHtml, redirect } from './answer.ts';

/** What the login needs to know of a request. */
export interface LoginRequest {
  /** The session in the cookie; '' without one. */
  readonly session: string;
  /** The address that the request came from. */
  readonly address: string;
  /** The browser reached the server by https, as far as a proxy says. */
  readonly isHttps: boolean;
}

/** The login of a server with a token. */
export interface Login {
  readonly cookie: string;
  isLoggedIn(session: string): boolean;
  /** The form. */
  ask(next: string | undefined, session: string): Answer;
  /** Checks what the form sent. */
  enter(form: URLSearchParams, request: LoginRequest): Answer;
  leave(request: LoginRequest): Answer;
}

/** The path of the login. */
export const LOGIN_PATH = '/login';
/** Where a form ends the session. */
export const LOGOUT_PATH = '/logout';

/**
 * Creates the login.
 * @param port is part of the cookie's name, because servers on one machine share their cookies.
 */
export function createLogin(token: string, clock: Pick<Clock, 'monotonicMs'>, port: number): Login {
  const sessions = createLoginSessions(token, clock);
  const attempts = createLoginAttempts(clock);
  const cookie = `daywalk_session_${port}`;
  const form = (status: number, next: string, problem?: string, headers = {}) =>
    htmlAnswer(status, String(loginHtml({ next, problem, style: ASSETS.style })), headers);
  // A proxy that serves https says so. A forged header could only make the cookie stricter.
  const setCookie = (value: string, seconds: number, isHttps: boolean) => ({
    'set-cookie': `${cookie}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}`,
  });
  return {
    cookie,
    isLoggedIn: sessions.isValid,
    ask: (next, session) => (sessions.isValid(session) ? redirect(ownPath(next)) : form(200, ownPath(next))),
    enter: (fields, { address, isHttps }) => {
      const next = ownPath(fields.get('next') ?? undefined);
      const seconds = attempts.waitSeconds(address);
      if (seconds > 0) {
        const problem = `There were too many attempts. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
        return form(429, next, problem, { 'retry-after': String(seconds) });
      }
      const session = sessions.start(fields.get('token') ?? '');
      if (session === null) {
        attempts.fail(address);
        return form(403, next, 'This is not the token.');
      }
      return redirect(next, setCookie(session, SESSION_MS_MAX / 1000, isHttps));
    },
    leave: ({ session, isHttps }) => {
      sessions.end(session);
      return redirect(LOGIN_PATH, setCookie('', 0, isHttps));
    },
  };
}

/** After this time, people log in again. */
const SESSION_MS_MAX = 12 * 60 * 60 * 1000;
/** The oldest session ends if there are more. */
const SESSIONS_MAX = 1_000;
const SESSION_BYTES = 32;

/** Who is logged in. Lives in memory: a restart of the server ends every session. */
interface LoginSessions {
  /** Starts a session and returns its secret, if the token is right; otherwise null. Takes the same time in both cases. */
  start(token: string): string | null;
  isValid(session: string): boolean;
  end(session: string): void;
}

/** Creates the sessions of a server with a token. Keeps the hashes of their secrets only. */
function createLoginSessions(token: string, clock: Pick<Clock, 'monotonicMs'>): LoginSessions {
  const key = randomBytes(SESSION_BYTES);
  const digestOf = (text: string) => createHmac('sha256', key).update(text).digest();
  const expected = digestOf(token);
  /** By the hash of the secret: when the session ends. In the order of their starts. */
  const ends = new Map<string, number>();
  const forgetOld = () => {
    const now = clock.monotonicMs();
    for (const [session, end] of ends) {
      if (end > now && ends.size < SESSIONS_MAX) return;
      ends.delete(session);
    }
  };
  return {
    start: (asked) => {
      // Digests have one length, and say nothing about the length of the token.
      if (!timingSafeEqual(digestOf(asked), expected)) return null;
      forgetOld();
      const session = randomBytes(SESSION_BYTES).toString('base64url');
      ends.set(hashOf(session), clock.monotonicMs() + SESSION_MS_MAX);
      return session;
    },
    isValid: (session) => (ends.get(hashOf(session)) ?? Number.NEGATIVE_INFINITY) > clock.monotonicMs(),
    end: (session) => void ends.delete(hashOf(session)),
  };
}

function hashOf(session: string): string {
  return createHash('sha256').update(session).digest('base64url');
}

/** Failed attempts that count are at most this old. */
const WINDOW_MS = 60_000;
/** Failed attempts from one address, and from all together, within the window. */
const ATTEMPTS_MAX = { perAddress: 5, overall: 30 } as const;

/** Limits how often people may try to log in. */
interface LoginAttempts {
  /** The seconds after which another attempt from this address is allowed; 0 for now. */
  waitSeconds(address: string): number;
  /** Records a failed attempt. */
  fail(address: string): void;
}

/** Creates the limit of a server. Remembers at most {@link ATTEMPTS_MAX}.overall attempts. */
function createLoginAttempts(clock: Pick<Clock, 'monotonicMs'>): LoginAttempts {
  let failures: { readonly address: string; readonly atMs: number }[] = [];
  const recent = () => {
    const since = clock.monotonicMs() - WINDOW_MS;
    failures = failures.filter(({ atMs }) => atMs > since);
    return failures;
  };
  return {
    waitSeconds: (address) => {
      const all = recent();
      const own = all.filter((failure) => failure.address === address);
      const waits = [waitOf(own, ATTEMPTS_MAX.perAddress), waitOf(all, ATTEMPTS_MAX.overall)];
      const until = Math.max(...waits) - clock.monotonicMs();
      return Math.max(0, Math.ceil(until / 1000));
    },
    fail: (address) => {
      failures = [...recent(), { address, atMs: clock.monotonicMs() }];
    },
  };
}

/** The instant from which there are fewer failures than the limit. */
function waitOf(failures: readonly { readonly atMs: number }[], most: number): number {
  const oldest = failures.at(-most);
  return oldest === undefined ? Number.NEGATIVE_INFINITY : oldest.atMs + WINDOW_MS;
}

/** A path of this server, for a redirect; `/` for anything that leads, or could lead, elsewhere: `//evil`, `/\\evil`. */
function ownPath(text: string | undefined): string {
  if (text === undefined || !OWN_PATH.test(text) || !URL.canParse(text, OWN_ORIGIN)) return '/';
  const { origin, pathname, search } = new URL(text, OWN_ORIGIN);
  // Dots in a path may hide two slashes at its start: `/.//evil`.
  return origin === OWN_ORIGIN && OWN_PATH.test(pathname) ? `${pathname}${search}` : '/';
}

/** One slash, then nothing that a browser would drop or read as a second slash. */
const OWN_PATH = /^\/(?![/\\])[\x21-\x7e]*$/;
/** Stands for the own address. */
const OWN_ORIGIN = 'http://own.invalid';
