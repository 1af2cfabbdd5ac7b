import { UTCDateMini } from '@date-fns/utc/date/mini';
import { isValid } from 'date-fns/isValid';
import { parse } from 'date-fns/parse';

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

/** The forms of an HTTP date (RFC 9110, section 5.6.7): one to send, and two older ones that recipients accept. */
const FORMS: readonly (readonly [shape: RegExp, format: string])[] = [
  [/^\w{3}, (\d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2}) GMT$/, 'dd MMM yyyy HH:mm:ss X'],
  [/^\w{6,9}, (\d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2}) GMT$/, 'dd-MMM-yy HH:mm:ss X'],
  [/^\w{3} (\w{3} \d{1,2} \d{2}:\d{2}:\d{2} \d{4})$/, 'MMM d HH:mm:ss yyyy X'],
];

/** Without the formats of the library's larger class, which take ten milliseconds to create. */
const utc = (value: Date | number | string) => new UTCDateMini(value);

/** Years of two digits are those of this century. */
const CENTURY_MS = Date.UTC(2050, 0);

/** The instant of an HTTP date; undefined when it is none. */
export function parseHttpDate(text: string): Date | undefined {
  const words = text.replace(/ +/g, ' ');
  for (const [shape, format] of FORMS) {
    const match = shape.exec(words)?.[1];
    const date = match === undefined ? undefined : parse(`${match} Z`, format, CENTURY_MS, { in: utc });
    if (date !== undefined && isValid(date)) return date;
  }
  return undefined;
}
