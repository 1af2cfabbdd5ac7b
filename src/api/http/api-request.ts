/** A request: an origin with its optional path prefix, a path below it, and the query in order. */
export interface ApiRequest {
  readonly origin: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string | number | undefined>>;
  /** Sends the credential of the application host. @default the main credential */
  readonly credential?: 'application';
  /** Makes the request a POST that creates something. @default a GET */
  readonly creation?: Creation;
}

/** The body of a request that creates something. Such a request is not idempotent. */
export interface Creation {
  readonly json: string;
  /** What it creates, for messages: `a session`. */
  readonly creates: string;
}

/** The query of a request, from its question mark on; '' without parameters. */
export function queryOf({ query }: ApiRequest): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** Method, path and query of a request, as messages name it. */
export function nameOf({ creation, path }: ApiRequest, query: string): string {
  return `${creation === undefined ? 'GET' : 'POST'} ${path}${query}`;
}

/** An origin without its path prefix, and the prefix; '' without one. */
export interface SplitOrigin {
  readonly origin: string;
  readonly prefix: string;
}

/** Splits the origin of a request: `https://example.com/proxy` has the prefix `/proxy`. */
export function splitOrigin(text: string): SplitOrigin {
  const { origin, pathname } = new URL(text);
  return { origin, prefix: pathname === '/' ? '' : pathname };
}
