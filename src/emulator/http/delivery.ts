/** How a reply goes onto the wire when it does not go plainly. */
export type Delivery =
  /** Nothing is ever answered. */
  | { readonly type: 'hang' }
  /** A TCP reset: before the headers, or after that many bytes of the body. */
  | { readonly type: 'reset'; readonly afterBytes: number | null }
  /** The connection ends after that many bytes of the body. */
  | { readonly type: 'cut'; readonly bytes: number; readonly framing: Framing }
  /** The body comes in small pieces. */
  | { readonly type: 'drip'; readonly bytes: number; readonly intervalMs: number }
  /** The connection ends after the whole reply, unannounced unless `announced`. */
  | { readonly type: 'fin'; readonly announced: boolean }
  /** These bytes instead of an HTTP message, then the connection ends. */
  | { readonly type: 'raw'; readonly bytes: Buffer };

/** How the end of a body is told: by its length, by a last chunk, or by the end of the connection. */
export type Framing = 'length' | 'chunked' | 'close';

/** True when a client sees the status of the reply, at least. */
export function showsReply(delivery: Delivery | undefined): boolean {
  if (delivery?.type === 'reset') return delivery.afterBytes !== null;
  return delivery?.type !== 'hang' && delivery?.type !== 'raw';
}
