/** A request: an origin with its optional path prefix, a path below it, and the query in order. */
export interface ApiRequest {
  readonly origin: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string | number | undefined>>;
  /** What messages show in place of parameters that may name a person. @default every parameter as it is */
  readonly shown?: Readonly<Record<string, string>> | undefined;
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
export function queryOf({ query }: Pick<ApiRequest, 'query'>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** Method, path and query of a request, as messages name it. @param sent the query of the request */
export function nameOf({ creation, path, query, shown }: ApiRequest, sent: string): string {
  const named = shown === undefined ? sent : queryOf({ query: { ...query, ...shown } });
  return `${creation === undefined ? 'GET' : 'POST'} ${path}${named}`;
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

/** Ends a request early. It has one listener only, because an AbortSignal takes many times as long. */
export interface Cancellation {
  readonly isCancelled: boolean;
  /** Sets the function that ends the request; it replaces the one before. */
  listen(listener: (() => void) | undefined): void;
}

/** A time limit for one request, joined with the caller's own signal. */
export interface Deadline extends Cancellation {
  /** True if the time limit ended the request. */
  expired(): boolean;
  /** Waits for something outside the request; afterwards the time limit starts again. */
  suspendedFor(wait: () => Promise<void>): Promise<void>;
  /** Removes timer and listener. Call it once after each request, also after a failed one. */
  clear(): void;
}

/** Starts a deadline. AbortSignal.any would keep the signal of every request in memory until the run ends. */
export function deadlineOf(timeoutMs: number, signal: AbortSignal): Deadline {
  let expired = false;
  let isCancelled = signal.aborted;
  let listener: (() => void) | undefined;
  const cancel = () => {
    isCancelled = true;
    listener?.();
  };
  const expire = () => {
    expired = true;
    cancel();
  };
  let timer = setTimeout(expire, timeoutMs);
  signal.addEventListener('abort', cancel, { once: true });
  return {
    get isCancelled() {
      return isCancelled;
    },
    listen: (next) => {
      listener = next;
    },
    expired: () => expired,
    suspendedFor: async (wait) => {
      clearTimeout(timer);
      await wait();
      timer = setTimeout(expire, timeoutMs);
    },
    clear: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    },
  };
}
