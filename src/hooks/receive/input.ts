import type { Readable } from 'node:stream';
import { isObject } from '../../core/json.ts';
import { EVENT_BYTES_MAX } from '../limits.ts';

/** How long to wait for input. The client sends its event at once. */
const SILENCE_MS_MAX = 2_000;
/** How long to wait for more after a complete object: a client may leave standard input open. */
const SILENCE_AFTER_OBJECT_MS = 50;
/** The longest time that the agent waits for the receiver to read. */
const TOTAL_MS_MAX = 5_000;

const CLOSING_BRACE = 0x7d;

/** An event as the client wrote it, or the reason why there is none. */
export type Input =
  | { readonly text: string; readonly event: Record<string, unknown> }
  | { readonly refusal: string };

/** Reads one JSON object. Never throws, waits for a bounded time, and holds a bounded number of bytes. */
export async function readEvent(stream: Readable): Promise<Input> {
  const { bytes, length, problem } = await readBytes(stream);
  if (length > EVENT_BYTES_MAX) return { refusal: `the event is larger than ${EVENT_BYTES_MAX} bytes` };
  const text = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim();
  if (text === '') return { refusal: problem ?? 'standard input was empty' };
  const event = parsed(text);
  if (isObject(event)) return { text, event };
  const what = event === undefined ? 'the input is not JSON' : 'the input is JSON, but not an object';
  return { refusal: problem === undefined ? what : `${what}, and ${problem}` };
}

interface Read {
  /** At most one byte more than an event may have. */
  readonly bytes: Buffer;
  readonly length: number;
  readonly problem: string | undefined;
}

function readBytes(stream: Readable): Promise<Read> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = (problem?: string) => {
      clearTimeout(silence);
      clearTimeout(total);
      stream.removeAllListeners();
      // A later error must not become an uncaught exception.
      stream.on('error', () => undefined);
      resolve({ bytes: Buffer.concat(chunks), length, problem });
    };
    let silence = setTimeout(() => finish('no more input arrived'), SILENCE_MS_MAX);
    const total = setTimeout(() => finish('the input did not end in time'), TOTAL_MS_MAX);
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length;
      // Excess input is read and dropped: the client would fail if the pipe were closed.
      if (length > EVENT_BYTES_MAX) chunks.length = 0;
      else chunks.push(chunk);
      clearTimeout(silence);
      const waitMs = holdsObject(chunks) ? SILENCE_AFTER_OBJECT_MS : SILENCE_MS_MAX;
      silence = setTimeout(() => finish('no more input arrived'), waitMs);
    });
    stream.on('end', () => finish());
    stream.on('error', (error) => finish(`standard input cannot be read: ${error.message}`));
  });
}

function holdsObject(chunks: readonly Buffer[]): boolean {
  const last = chunks.at(-1)?.toString('latin1').trimEnd() ?? '';
  if (last.charCodeAt(last.length - 1) !== CLOSING_BRACE) return false;
  return isObject(
    parsed(
      Buffer.concat(chunks)
        .toString('utf8')
        .replace(/^\uFEFF/, ''),
    ),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
