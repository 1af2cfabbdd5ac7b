import { pathPattern } from './faults/rules.ts';
import type { JournalEntry } from './journal.ts';
import { anything, isRecord, mapOf, object, orNull, type Parsed, text } from './parse.ts';

/** Reads the criteria of requests in the journal. */
export const parseCriteria = object(
  {},
  {
    /** The HTTP method in capitals; `ANY` for all. */
    method: text,
    /** The path: `*` stands for any characters except `/`, `**` for any characters. */
    path: text,
    /** Parameters with their values; null for one that was not sent. */
    query: mapOf(orNull(text)),
    /** A text that the body contains; or JSON whose fields the body has with the same values, perhaps among others. */
    body: anything,
  },
);

/** Which requests to count or find. All given fields must hold. */
export type Criteria = Parsed<typeof parseCriteria>;

/** Selects requests from the journal. */
export function findRequests(entries: readonly JournalEntry[], criteria: Criteria): JournalEntry[] {
  const { method = 'ANY', path = '**', query = {}, body } = criteria;
  const pattern = pathPattern(path);
  return entries.filter((entry) => {
    const sent = new URLSearchParams(entry.query);
    return (
      (method === 'ANY' || method === entry.method) &&
      pattern.test(entry.path) &&
      Object.entries(query).every(([name, value]) => sent.get(name) === value) &&
      (body === undefined || hasContent(entry.body?.text ?? '', body))
    );
  });
}

function hasContent(sent: string, wanted: unknown): boolean {
  if (typeof wanted === 'string') return sent.includes(wanted);
  try {
    return includesJson(JSON.parse(sent), wanted);
  } catch {
    return false;
  }
}

function includesJson(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(value) &&
      value.length === wanted.length &&
      wanted.every((item, index) => includesJson(value[index], item))
    );
  }
  if (!isRecord(wanted)) return value === wanted;
  return (
    isRecord(value) &&
    Object.entries(wanted).every(([key, item]) => Object.hasOwn(value, key) && includesJson(value[key], item))
  );
}

/** Shows a request as WireMock does, so that code written for one reads the other. */
export function toLoggedRequest(entry: JournalEntry): object {
  const { method, path, query, headers, arrivedAt } = entry;
  const url = query === '' ? path : `${path}?${query}`;
  const body = entry.body?.text ?? '';
  return {
    url,
    absoluteUrl: `http://${headers['host'] ?? ''}${url}`,
    method,
    headers,
    body,
    bodyAsBase64: Buffer.from(body).toString('base64'),
    browserProxyRequest: false,
    loggedDate: Date.parse(arrivedAt),
    loggedDateString: arrivedAt,
    queryParams: Object.fromEntries(
      [...new Set(new URLSearchParams(query).keys())].map((key) => [
        key,
        { key, values: new URLSearchParams(query).getAll(key) },
      ]),
    ),
  };
}
