import { RunError } from '../../core/errors.ts';
import { RequestError } from '../errors.ts';
import { REDIRECTS_MAX } from '../limits.ts';
import { headerOf } from '../response/headers.ts';
import type { Connections } from './connections.ts';
import type { Cancellation } from './deadline.ts';
import { exchange, type HttpResponse } from './exchange.ts';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const PERMANENT: ReadonlySet<number> = new Set([301, 308]);

/** A GET that may be redirected. */
export interface RedirectableRequest {
  readonly origin: string;
  readonly path: string;
  /** From its question mark on. */
  readonly query: string;
  /** Method, path and query, for messages. */
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cancellation: Cancellation;
  /** Awaited before each redirect is followed. */
  readonly beforeHop: () => Promise<void>;
  /** Called with the status of each response. @default does nothing */
  readonly onStatus?: (status: number) => void;
}

/**
 * Sends a GET and follows its redirects on the same origin. `movedTo` is the path that the server named as permanent.
 * @throws {RequestError} for more than {@link REDIRECTS_MAX} redirects, or one without a usable location.
 * @throws {RunError} for a redirect to another origin: the key is not sent there, and no data from there is trusted.
 */
export async function followRedirects(
  connections: Connections,
  { origin, path: start, query, name, headers, cancellation, beforeHop, onStatus }: RedirectableRequest,
): Promise<{ readonly response: HttpResponse; readonly movedTo: string | undefined }> {
  let path = start + query;
  let movedTo: string | undefined;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    if (redirects > 0) await beforeHop();
    const response = await exchange(connections, {
      ...{ method: 'GET', path, headers, cancellation },
      ...(onStatus && { onStatus }),
    });
    if (!REDIRECTS.has(response.status)) return { response, movedTo };
    const next = locationOf(response, new URL(path, origin), name);
    const keepsQuery = next.search === '' || next.search === query;
    movedTo = PERMANENT.has(response.status) && keepsQuery ? next.pathname : undefined;
    path = next.pathname + (next.search === '' ? query : next.search);
  }
  throw new RequestError(`${name} was redirected more than ${REDIRECTS_MAX} times`, {
    target: name,
    effect: 'unit',
  });
}

function locationOf({ headers }: HttpResponse, from: URL, name: string): URL {
  const location = headerOf(headers, 'location') ?? '';
  const url = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (url === undefined || location === '') {
    throw new RequestError(`${name} was redirected to nowhere`, { target: name, effect: 'unit' });
  }
  if (url.origin !== from.origin) {
    throw new RunError(`${name} was redirected to another origin, ${url.origin}; not followed`, {
      hint: 'if the service has moved there, change the URL of its host',
      reason: 'moved-away',
    });
  }
  return url;
}
