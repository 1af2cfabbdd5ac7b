import { isValid, parse } from 'date-fns';

/**
 * Milliseconds that a `Retry-After` header asks to wait: whole seconds, or an HTTP date read against the server's
 * own clock. Undefined for anything else; a date in the past is 0.
 */
export function parseRetryAfter(header: string | undefined, serverNow: Date): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = parseHttpDate(text);
  return date === undefined ? undefined : Math.max(0, date.getTime() - serverNow.getTime());
}

/** The instant of an HTTP date (RFC 9110, IMF-fixdate); undefined when it is none. */
export function parseHttpDate(text: string): Date | undefined {
  const match = /^\w{3}, (\d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2}) GMT$/.exec(text);
  if (match?.[1] === undefined) return undefined;
  const date = parse(`${match[1]} Z`, 'dd MMM yyyy HH:mm:ss X', 0);
  return isValid(date) ? date : undefined;
}
