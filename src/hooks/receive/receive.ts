import type { Readable } from 'node:stream';
import { messageOf } from '../../core/errors.ts';
import type { NotifySettings } from '../notify/notify.ts';
import { appendDurably } from '../spool/append.ts';
import { encodeRecord } from '../spool/record.ts';
import { readEvent } from './input.ts';

/** What the receiver needs of its process and its settings. */
export interface ReceiverHost {
  readonly pid: number;
  stdin(): Readable & { readonly isTTY?: boolean };
  /** Writes one line to standard error. Never throws. */
  warn(line: string): void;
  now(): Date;
  /** Nanoseconds that only grow. */
  ticks(): bigint;
  /** The folder that the event goes to. */
  spoolFolder(): string;
  /** Removes email addresses from a JSON text; null if they may reach the spool. */
  readonly dropEmails: ((json: string) => Promise<string>) | null;
  /** How to notify of the event; null if nobody is to be notified. */
  readonly notification: (() => NotifySettings) | null;
}

/**
 * Receives one hook event: stores it durably in the spool, then notifies (specification, section 6). Never throws and
 * never waits long; reports on standard error what it cannot store.
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
  // Most receivers notify nobody, and must start quickly.
  const { notify } = await import('../notify/notify.ts');
  await notify({ event: input.event, receivedAt, settings: host.notification(), warn: host.warn });
}
