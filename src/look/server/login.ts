import type { Clock } from '../../core/clock.ts';
import { loginHtml } from '../html/message.ts';
import { type Answer, htmlAnswer, redirect } from './answer.ts';
import { ASSETS } from './assets.ts';
import { createLoginAttempts } from './login-attempts.ts';
import { createLoginSessions, SESSION_MS_MAX } from './login-sessions.ts';
import { ownPath } from './own-path.ts';

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
