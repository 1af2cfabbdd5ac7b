import type { Readable } from 'node:stream';
import { messageOf } from '../core/errors.ts';
import { isObject, parseJson } from '../core/json.ts';
import type { NotifySettings } from './notify.ts';
import { appendDurably, EVENT_BYTES_MAX, encodeRecord } from './spool.ts';

/** The process and the settings of the receiver. */
interface ReceiverHost {
  readonly pid: number;
  stdin(): Readable & { readonly isTTY?: boolean };
  /** Writes one line to standard error. Never throws. */
  warn(line: string): void;
  now(): Date;
  /** The monotonic clock, in nanoseconds. */
  ticks(): bigint;
  /** The folder in which the event is stored. */
  spoolFolder(): string;
  /** Removes email addresses from a JSON text; null if they may reach the spool. */
  readonly dropEmails: ((json: string) => Promise<string>) | null;
  /** Returns the settings of notifications; null if notifications are off. */
  readonly notification: (() => NotifySettings) | null;
}

/**
 * Receives one hook event: stores it durably in the spool, then sends notifications (specification, section 6). Never
 * throws, and reads for at most five seconds. Reports an event that it cannot store on standard error.
 */
export async function receive(host: ReceiverHost): Promise<void> {
  const stdin = host.stdin();
  if (stdin.isTTY === true) {
    host.warn('not stored: standard input is a terminal; it takes one JSON object');
    return;
  }
  const input = await readEvent(stdin);
  if ('refusal' in input) {
    host.warn(`not stored: ${input.refusal}`);
    return;
  }
  const receivedAt = host.now().toISOString();
  try {
    const order = `${host.pid}-${host.ticks()}`;
    const text = host.dropEmails === null ? input.text : await host.dropEmails(input.text);
    appendDurably(host.spoolFolder(), encodeRecord({ receivedAt, order, text }));
  } catch (error) {
    host.warn(`not stored: ${messageOf(error)}`);
  }
  if (host.notification === null) return;
  // Loaded only when needed, because notifications are off by default and the receiver must start quickly.
  const { notify } = await import('./notify.ts');
  await notify({ event: input.event, receivedAt, settings: host.notification(), warn: host.warn });
}

/** How long to wait for input. The client sends its event at once. */
const SILENCE_MS_MAX = 2_000;
/** How long to wait for more input after a complete object. A client may leave standard input open. */
const SILENCE_AFTER_OBJECT_MS = 50;
/** The longest time that the agent waits for the receiver to read. */
const TOTAL_MS_MAX = 5_000;

/** An event as the client wrote it, or the reason why there is none. */
type Input =
  | { readonly text: string; readonly event: Record<string, unknown> }
  | { readonly refusal: string };

/** Reads one JSON object. Never throws, takes at most five seconds, and keeps at most {@link EVENT_BYTES_MAX} bytes. */
export async function readEvent(stream: Readable): Promise<Input> {
  const { bytes, length, problem } = await readBytes(stream);
  if (length > EVENT_BYTES_MAX) return { refusal: `the event is larger than ${EVENT_BYTES_MAX} bytes` };
  const text = textOf(bytes);
  if (text === '') return { refusal: problem ?? 'standard input was empty' };
  const event = parseJson(text);
  if (isObject(event)) return { text, event };
  const what = event === undefined ? 'the input is not JSON' : 'the input is JSON, but not an object';
  return { refusal: problem === undefined ? what : `${what}, and ${problem}` };
}

interface Read {
  /** Empty if the input was too large. */
  readonly bytes: Buffer;
  /** The number of bytes read, including dropped ones. */
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
    const waitOn = (ms: number) => setTimeout(() => finish('no more input arrived'), ms);
    let silence = waitOn(SILENCE_MS_MAX);
    const total = setTimeout(() => finish('the input did not end in time'), TOTAL_MS_MAX);
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length;
      // Excess input is read and dropped: the client would fail if the pipe were closed.
      if (length > EVENT_BYTES_MAX) chunks.length = 0;
      else chunks.push(chunk);
      clearTimeout(silence);
      // Parsed only in a pause: parsing everything again after each chunk would take longer than the input may.
      silence = setTimeout(() => {
        if (holdsObject(chunks)) finish();
        else silence = waitOn(SILENCE_MS_MAX - SILENCE_AFTER_OBJECT_MS);
      }, SILENCE_AFTER_OBJECT_MS);
    });
    stream.on('end', () => finish());
    stream.on('error', (error) => finish(`standard input cannot be read: ${error.message}`));
  });
}

function holdsObject(chunks: readonly Buffer[]): boolean {
  const last = chunks.at(-1);
  if (last === undefined || !textOf(last).endsWith('}')) return false;
  return isObject(parseJson(textOf(Buffer.concat(chunks))));
}

function textOf(bytes: Buffer): string {
  return bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim();
}
