import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';

/** After this time, people log in again. */
export const SESSION_MS_MAX = 12 * 60 * 60 * 1000;
/** The oldest session ends if there are more. */
export const SESSIONS_MAX = 1_000;
const SESSION_BYTES = 32;

/** Who is logged in. Lives in memory: a restart of the server ends every session. */
export interface LoginSessions {
  /** Starts a session and returns its secret, if the token is right; otherwise null. Takes the same time in both cases. */
  start(token: string): string | null;
  isValid(session: string): boolean;
  end(session: string): void;
}

/** Creates the sessions of a server with a token. Keeps the hashes of their secrets only. */
export function createLoginSessions(token: string, clock: Pick<Clock, 'monotonicMs'>): LoginSessions {
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
