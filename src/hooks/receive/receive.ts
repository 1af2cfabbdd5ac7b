import type { Readable } from 'node:stream';
import { messageOf } from '../../core/errors.ts';
import type { NotifySettings } from '../notify/notify.ts';
import { appendDurably } from '../spool/append.ts';
import { encodeRecord } from '../spool/record.ts';
import { readEvent } from './input.ts';

/** The process and the settings of the receiver. */
export interface ReceiverHost {
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
  const { notify } = await import('../notify/notify.ts');
  await notify({ event: input.event, receivedAt, settings: host.notification(), warn: host.warn });
}
