import type { Readable } from 'node:stream';
import { messageOf } from '../../core/errors.ts';
import { parseInstant } from '../../settings/parsers/instant.ts';
import { readFlags } from '../../settings/receiver/flags.ts';
import { destinationOf } from '../../settings/receiver/spool-folder.ts';
import { appendDurably } from '../spool/append.ts';
import { encodeRecord } from '../spool/record.ts';
import { readEvent } from './input.ts';

/** The process as the receiver sees it. */
export interface ReceiverHost {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly pid: number;
  stdin(): Readable & { readonly isTTY?: boolean };
  /** Tells one line on standard error. Never throws. */
  tell(line: string): void;
  now(): Date;
  /** Nanoseconds that only grow. */
  ticks(): bigint;
  /** Takes the emails out of a JSON text, where they are not to be stored at all. */
  dropEmails(json: string): Promise<string>;
}

/**
 * Receives one hook event: stores it durably in the spool, then notifies where that is asked for (specification,
 * section 6). Never throws and never waits long; what cannot be stored is told on standard error.
 */
export async function receive(host: ReceiverHost): Promise<void> {
  const { flags, ignored } = readFlags(host.argv);
  if (ignored.length > 0) host.tell(`ignored what is no flag of this command: ${ignored.join(' ')}`);
  const stdin = host.stdin();
  if (stdin.isTTY === true) {
    host.tell('not stored: standard input is a terminal; it takes one JSON object');
    return;
  }
  const input = await readEvent(stdin);
  if ('refusal' in input) {
    host.tell(`not stored: ${input.refusal}`);
    return;
  }
  const receivedAt = instantOf(host).toISOString();
  try {
    const order = `${host.pid}-${host.ticks()}`;
    const text = dropsEmails(host) ? await host.dropEmails(input.text) : input.text;
    appendDurably(destinationOf({ ...host, flags }), encodeRecord({ receivedAt, order, text }));
  } catch (error) {
    host.tell(`not stored: ${messageOf(error)}`);
  }
  if (!asksForNotification(flags, host.env)) return;
  const { notify } = await import('../notify/notify.ts');
  await notify({ event: input.event, receivedAt, flags, env: host.env, tell: host.tell });
}

function instantOf({ env, now }: ReceiverHost): Date {
  const rehearsed = env['DAYWALK_NOW']?.trim() ?? '';
  try {
    return rehearsed === '' ? now() : parseInstant(rehearsed);
  } catch {
    return now();
  }
}

// Hashes are left to the drain: it knows whether the salt is the one that the warehouse's hashes were made with.
function dropsEmails({ env }: ReceiverHost): boolean {
  return env['DAYWALK_EMAILS']?.trim() === 'drop';
}

/** Most receivers notify nobody, and need not load what it takes. */
function asksForNotification(flags: Readonly<Record<string, string>>, env: ReceiverHost['env']): boolean {
  return flags['--notify'] !== undefined || (env['DAYWALK_NOTIFY'] ?? '') !== '';
}
