import type { Readable } from 'node:stream';
import { isObject } from '../../core/json.ts';
import { EVENT_BYTES_MAX } from '../limits.ts';

/** The client writes its event at once. Whoever says nothing for so long has nothing to say. */
const SILENCE_MS_MAX = 2_000;
/** A client that leaves standard input open is not waited for once a whole object is there. */
const SILENCE_AFTER_OBJECT_MS = 50;
/** However input arrives, the agent is not held up longer. */
const TOTAL_MS_MAX = 5_000;

const CLOSING_BRACE = 0x7d;

/** An event as the client wrote it, or why there is none. */
export type Input =
  | { readonly text: string; readonly event: Record<string, unknown> }
  | { readonly refusal: string };

/** Reads one JSON object. Never throws, never waits for ever, and holds a bounded number of bytes. */
export async function readEvent(stream: Readable): Promise<Input> {
  const { bytes, length, problem } = await readBytes(stream);
  if (length > EVENT_BYTES_MAX) return { refusal: `it has more than ${EVENT_BYTES_MAX} bytes` };
  const text = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim();
  if (text === '') return { refusal: problem ?? 'there was nothing on standard input' };
  const event = parsed(text);
  if (isObject(event)) return { text, event };
  const what = event === undefined ? 'it is not JSON' : 'it is JSON, but not an object';
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
      // An error after the end must not become an uncaught one.
      stream.on('error', () => undefined);
      resolve({ bytes: Buffer.concat(chunks), length, problem });
    };
    let silence = setTimeout(() => finish('nothing more came'), SILENCE_MS_MAX);
    const total = setTimeout(() => finish('it did not end in time'), TOTAL_MS_MAX);
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length;
      // What is too much is read and dropped: a client that writes into a closed pipe would fail.
      if (length > EVENT_BYTES_MAX) chunks.length = 0;
      else chunks.push(chunk);
      clearTimeout(silence);
      const waitMs = holdsObject(chunks) ? SILENCE_AFTER_OBJECT_MS : SILENCE_MS_MAX;
      silence = setTimeout(() => finish('nothing more came'), waitMs);
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
