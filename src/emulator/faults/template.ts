import type { ApiCall } from '../http/api-call.ts';
import { isRecord } from '../input/parse.ts';

/** Replaces the placeholders in a text of an action. Unknown placeholders stay as they are. */
export function fillTemplate(text: string, { caller, target }: ApiCall): string {
  return text.replace(/\{\{([\w.]+)\}\}/g, (whole, name: string) => {
    if (name === 'apiKey') return caller.credential;
    if (name === 'requestId') return target.requestId;
    if (name === 'path') return target.path;
    if (name === 'url') return target.url;
    return name.startsWith('query.') ? (target.query.get(name.slice('query.'.length)) ?? '') : whole;
  });
}

/** Replaces the placeholders in the value of a header and percent-encodes what HTTP does not allow there. */
export function fillHeader(text: string, call: ApiCall): string {
  return fillTemplate(text, call).replace(/[^\t\x20-\x7e\x80-\xff]+/g, (part) =>
    encodeURIComponent(part.toWellFormed()),
  );
}

/** Replaces the placeholders in every text inside a JSON value. */
export function fillTemplates(value: unknown, call: ApiCall): unknown {
  if (typeof value === 'string') return fillTemplate(value, call);
  if (Array.isArray(value)) return value.map((item: unknown) => fillTemplates(item, call));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillTemplates(item, call)]));
}
