import { RunError } from '../../core/errors.ts';
import { RequestError } from '../errors.ts';
import { type Headers, headerOf } from '../response/headers.ts';

/** Statuses that send a GET elsewhere. */
export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Statuses that say that the new place is the place for good. */
export const PERMANENT: ReadonlySet<number> = new Set([301, 308]);

/**
 * Where a redirect leads.
 * @throws {RunError} for another origin: the key is not carried there, and nothing from there is trusted.
 * @throws {RequestError} when it leads nowhere.
 */
export function locationOf(headers: Headers, from: URL, name: string): URL {
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
