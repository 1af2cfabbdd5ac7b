import { sequence } from '../support/random/seed.ts';
import type { World } from './events.ts';
import type { Night } from './truth.ts';

/** A response, or the end of the connection. */
export type Reply =
  | 'reset'
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: Buffer };

/** What happens to a request of a night, counted from 1, instead of an answer; null for an answer. */
export function failureOf({ events }: World, night: Night, count: number): Reply | null {
  for (const { kind, from, until, salt } of events) {
    if (night < from || night > until) continue;
    const random = sequence(salt ^ Math.imul(night, 7919) ^ Math.imul(count, 104_729));
    switch (kind) {
      case 'outage':
        // From some request on, down for the rest of the night.
        if (count > salt % 20) return problem(503);
        break;
      case 'flaky':
        if (random() < 0.3) return problem(random() < 0.5 ? 500 : 502);
        break;
      case 'limited':
        if (random() < 0.3) return problem(429, { 'retry-after': String(1 + (salt % 5)) });
        break;
      case 'reset':
        if (random() < 0.3) return 'reset';
        break;
      case 'key-refused':
        if (count > salt % 12) return problem(401);
        break;
      default:
    }
  }
  return null;
}

function problem(status: number, headers: Readonly<Record<string, string>> = {}): Reply {
  const body = Buffer.from(
    JSON.stringify({
      title: 'Error',
      detail: 'not now, says person.w001@world.example of user_w001',
      status,
      requestId: 'req_1',
    }),
  );
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}
