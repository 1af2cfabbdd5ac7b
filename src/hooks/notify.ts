import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { messageOf } from '../core/errors.ts';
import { programScript } from '../core/files.ts';
import {
  messageFor,
  NOTIFY_EVENTS,
  type Notice,
  type NotifyChannel,
  type NotifyEvent,
} from './notification.ts';

/** Which events to notify of, and how. */
export interface NotifySettings {
  /** @default none */
  readonly channels: readonly NotifyChannel[];
  readonly events: readonly NotifyEvent[];
  /** Text with fields of the event in braces; null for the default sentence of each event. */
  readonly template: string | null;
  /** URL of the webhook; a secret. */
  readonly webhook: string | null;
  /** The setting that holds the URL, for messages. */
  readonly webhookName: string;
  readonly webhookFormat: 'json' | 'chat';
  readonly timeoutMs: number;
}

/** A received event that may be worth a notification. */
interface Notifiable {
  readonly event: Readonly<Record<string, unknown>>;
  readonly receivedAt: string;
  readonly settings: NotifySettings;
  /** Is called with one line for each notification that cannot be sent. */
  warn(line: string): void;
}

const MESSENGER = programScript('src/hooks/messenger');

/**
 * Sends notifications of an event on every configured channel. Desktop and webhook notifications are sent by a separate
 * process, which gives up after `timeoutMs`, so the agent never waits for them.
 */
export async function notify({ event, receivedAt, settings, warn }: Notifiable): Promise<void> {
  const name = NOTIFY_EVENTS.find((known) => known === event['hook_event_name']);
  if (name === undefined || !settings.events.includes(name)) return;

  const text = messageFor(name, event, settings.template);
  if (settings.channels.includes('bell')) ringBell(warn);
  const webhook = webhookOf(settings, { name, event, text, receivedAt }, warn);
  const desktop = settings.channels.includes('desktop');
  if (!desktop && webhook === null) return;
  await dispatch({ title: `Agent: ${name}`, text, desktop, webhook, timeoutMs: settings.timeoutMs }, warn);
}

interface NotifiedEvent {
  readonly name: NotifyEvent;
  readonly event: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly receivedAt: string;
}

function webhookOf(
  { channels, webhook, webhookName, webhookFormat }: NotifySettings,
  { name, event, text, receivedAt }: NotifiedEvent,
  warn: Notifiable['warn'],
): Notice['webhook'] {
  if (!channels.includes('webhook')) return null;
  if (webhook === null) {
    warn(`no webhook is called: ${webhookName} holds no address`);
    return null;
  }
  const field = (key: string) => (typeof event[key] === 'string' ? event[key].slice(0, 1_000) : null);
  const all = {
    hook_event_name: name,
    text,
    session_id: field('session_id'),
    cwd: field('cwd'),
    message: field('message'),
    reason: field('reason'),
    received_at: receivedAt,
  };
  return { url: webhook, body: JSON.stringify(webhookFormat === 'chat' ? { text } : all) };
}

/** Rings the bell of the agent's terminal. Standard output does not reach the terminal, because the client reads it. */
function ringBell(warn: Notifiable['warn']): void {
  try {
    const terminal = openSync('/dev/tty', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      writeSync(terminal, '\x07');
    } finally {
      closeSync(terminal);
    }
  } catch (error) {
    warn(`no bell: there is no terminal (${messageOf(error)})`);
  }
}

// The notice is sent through a pipe, because every user of the machine can read arguments and the webhook's URL is secret.
async function dispatch(notice: Notice, warn: Notifiable['warn']): Promise<void> {
  await new Promise<void>((resolve) => {
    const child = spawn(process.execPath, [MESSENGER], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
    });
    const fail = (error: Error) => {
      warn(`no notification: ${error.message}`);
      resolve();
    };
    child.on('error', fail);
    child.stdin.on('error', fail);
    child.stdin.end(JSON.stringify(notice), () => resolve());
    child.unref();
  });
}
