import type { ApiCall } from '../http/api-call.ts';
import { isRecord } from '../input/parse.ts';

/** Replaces the placeholders of an action's text; one that is not known stays as it is. */
export function fillTemplate(text: string, { caller, target }: Pick<ApiCall, 'caller' | 'target'>): string {
  return text.replace(/\{\{([\w.]+)\}\}/g, (whole, name: string) => {
    if (name === 'apiKey') return caller.credential;
    if (name === 'requestId') return target.requestId;
    if (name === 'path') return target.path;
    if (name === 'url') return target.url;
    return name.startsWith('query.') ? (target.query.get(name.slice('query.'.length)) ?? '') : whole;
  });
}

/** The same for the value of a header, in which what HTTP does not allow there is percent-encoded. */
export function fillHeader(text: string, call: Pick<ApiCall, 'caller' | 'target'>): string {
  return fillTemplate(text, call).replace(/[^\t\x20-\x7e\x80-\xff]+/g, (part) =>
    encodeURIComponent(part.toWellFormed()),
  );
}

/** The same in every text inside a JSON value. */
export function fillTemplates(value: unknown, call: Pick<ApiCall, 'caller' | 'target'>): unknown {
  if (typeof value === 'string') return fillTemplate(value, call);
  if (Array.isArray(value)) return value.map((item: unknown) => fillTemplates(item, call));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillTemplates(item, call)]));
}
