import type { Framing } from '../http/delivery.ts';
import type { RevisionRequest } from '../world/revise.ts';

/**
 * What a fault rule does with the answer. Texts may hold placeholders: `{{apiKey}}` is the credential as the request
 * presented it, `{{requestId}}`, `{{path}}`, `{{url}}`, and `{{query.NAME}}` the parameter of that name.
 */
export type Action =
  | StatusAction
  | BodyAction
  | HeadersAction
  | RedirectAction
  | PatchAction
  | SpoilAction
  | CursorAction
  | AnswerAsAction
  | GzipBombAction
  | ReviseAction
  | TransportAction;

/** Answers with a status and the service's error body, or with the body given. */
export interface StatusAction {
  readonly type: 'status';
  /** 200 to 599. */
  readonly status: number;
  readonly title?: string;
  readonly detail?: string;
  /** Any JSON instead of the error body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Seconds; or an HTTP date so many seconds from now; or any text. */
  readonly retryAfter?: number | { readonly dateInSeconds: number } | string;
}

/** Answers with a text, bytes, or a page of HTML as a captive portal does. */
export interface BodyAction {
  readonly type: 'body';
  /** Exactly one of the three is given; `html: true` is a page of the emulator's. */
  readonly text?: string;
  readonly base64?: string;
  readonly html?: true;
  /** 200 unless given. */
  readonly status?: number;
  /** JSON unless given; text/html for `html`. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sets headers of the answer, or removes those whose value is null. */
export interface HeadersAction {
  readonly type: 'headers';
  readonly set: Readonly<Record<string, string | null>>;
}

/** Redirects to any URL. */
export interface RedirectAction {
  readonly type: 'redirect';
  readonly location: string;
  /** 302 unless given. */
  readonly status?: number;
}

/** Changes the JSON of the answer. The journal counts a patch that found nothing to change. */
export interface PatchAction {
  readonly type: 'patch';
  readonly operations: readonly PatchOperation[];
}

/** One change. `path` is a JSON pointer in which `*` stands for every element, and a final `-` for a new last one. */
export type PatchOperation =
  | { readonly op: 'set'; readonly path: string; readonly value: unknown }
  /** JSON text that stands in the answer as it is, for example `1e400` or `9007199254740993`. */
  | { readonly op: 'raw'; readonly path: string; readonly text: string }
  | { readonly op: 'remove'; readonly path: string }
  /** Repeats a list element right after itself. */
  | { readonly op: 'duplicate'; readonly path: string };

/** Makes the bytes of the body invalid. */
export interface SpoilAction {
  readonly type: 'spoil';
  readonly how: 'invalid-json' | 'invalid-utf8' | 'bom' | 'truncated';
}

/**
 * Breaks the paging: `repeat` hands out the request's own cursor, `cycle` one that begins the walk again, `missing`,
 * `null` and `empty` say that there is more without a usable cursor, `endless` always has another cursor. On the
 * readiness list, `repeat` and `cycle` serve the first page again.
 */
export interface CursorAction {
  readonly type: 'cursor';
  readonly mode: 'repeat' | 'cycle' | 'missing' | 'null' | 'empty' | 'endless';
}

/** Answers as if other parameters had been sent; null takes one away. */
export interface AnswerAsAction {
  readonly type: 'answer-as';
  readonly query?: Readonly<Record<string, string | null>>;
  readonly path?: string;
}

/** A gzip body that grows to so many bytes of spaces, about a thousand times its size. */
export interface GzipBombAction {
  readonly type: 'gzip-bomb';
  readonly bytes: number;
}

/** Revises the data before the request is answered, so that a walk sees them change. */
export interface ReviseAction {
  readonly type: 'revise';
  readonly revision: RevisionRequest;
}

/** Disturbs the connection. */
export type TransportAction =
  /** Waits before the answer. */
  | { readonly type: 'delay'; readonly ms: number }
  /** Never answers. */
  | { readonly type: 'hang' }
  /** TCP reset: before the headers, or after so many bytes of the body. */
  | { readonly type: 'reset'; readonly afterBytes?: number }
  /** Ends the connection after so many bytes of the body; its end is told by `length` unless given. */
  | { readonly type: 'cut'; readonly bytes: number; readonly framing?: Framing }
  /** Sends the body in pieces: 1 byte each 100 ms unless given. */
  | { readonly type: 'drip'; readonly bytes?: number; readonly intervalMs?: number }
  /** Ends the connection after the answer; unannounced unless `announced`. */
  | { readonly type: 'close'; readonly announced?: boolean }
  /** Bytes instead of an HTTP message, then the end of the connection. */
  | { readonly type: 'raw'; readonly text?: string; readonly base64?: string }
  /** A first line that is not HTTP. */
  | { readonly type: 'malformed-status-line'; readonly line?: string }
  /** Headers of so many bytes; 131,072 unless given. */
  | { readonly type: 'oversized-headers'; readonly bytes?: number };
