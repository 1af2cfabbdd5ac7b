/** What is asked: an origin with its optional path prefix, a path below it, and the query in order. */
export interface Target {
  readonly origin: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string | number | undefined>>;
  /** Which credential goes along: that of the application host; the main one without it. */
  readonly credential?: 'application';
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
export function nameOf({ creation, path }: Target, query: string): string {
  return `${creation === undefined ? 'GET' : 'POST'} ${path}${query}`;
}

/** Where the paths of a target begin. */
export interface Place {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The path before every path; '' without one. */
  readonly prefix: string;
}

/** The place of a target. */
export function placeOf(target: Target): Place {
  const { origin, pathname } = new URL(target.origin);
  return { origin, prefix: pathname === '/' ? '' : pathname };
}
