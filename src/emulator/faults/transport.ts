import type { Delivery } from '../http/prepared-response.ts';
import type { ActionOf } from './action.ts';

type TransportAction = ActionOf<
  'hang' | 'reset' | 'cut' | 'drip' | 'close' | 'raw' | 'malformed-status-line' | 'oversized-headers'
>;

const PADDING_CHARS = 1_000;
const OVERSIZED_BYTES = 128 * 1024;

/** Translates a transport action into the delivery of the response. */
export function toDelivery(action: TransportAction): Delivery {
  switch (action.type) {
    case 'hang':
      return { type: 'hang' };
    case 'reset':
      return { type: 'reset', afterBytes: action.afterBytes ?? null };
    case 'cut':
      return { type: 'cut', bytes: action.bytes, framing: action.framing ?? 'length' };
    case 'drip':
      return { type: 'drip', bytes: action.bytes ?? 1, intervalMs: action.intervalMs ?? 100 };
    case 'close':
      return { type: 'fin', announced: action.announced ?? false };
    case 'raw':
      return {
        type: 'raw',
        bytes:
          action.base64 === undefined ? Buffer.from(action.text ?? '') : Buffer.from(action.base64, 'base64'),
      };
    case 'malformed-status-line':
      return { type: 'raw', bytes: message(action.line ?? 'HTTP/1.1 two hundred', []) };
    case 'oversized-headers':
      return { type: 'raw', bytes: message('HTTP/1.1 200 OK', padding(action.bytes ?? OVERSIZED_BYTES)) };
  }
}

function message(firstLine: string, headers: readonly string[]): Buffer {
  const lines = [firstLine, 'content-type: application/json', 'content-length: 2', ...headers];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n{}`, 'latin1');
}

function padding(bytes: number): string[] {
  const count = Math.ceil(bytes / PADDING_CHARS);
  return Array.from({ length: count }, (_, index) => `x-padding-${index}: ${'x'.repeat(PADDING_CHARS)}`);
}
