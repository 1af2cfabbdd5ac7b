/** What is asked: an origin with its optional path prefix, a path below it, and the query in order. */
export interface Target {
  readonly origin: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string | number | undefined>>;
  /** What makes the request a POST that creates something; a GET without it. */
  readonly creation?: Creation;
}

/** A request that creates something. It is not idempotent. */
export interface Creation {
  /** The body. */
  readonly json: string;
  /** What it creates, for messages: `a session`. */
  readonly creates: string;
}

/** The query of a target, from its question mark on; '' without parameters. */
export function queryOf({ query }: Target): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** Method, path and query of a target, as messages name it. */
export function nameOf(target: Target): string {
  return `${target.creation === undefined ? 'GET' : 'POST'} ${target.path}${queryOf(target)}`;
}
