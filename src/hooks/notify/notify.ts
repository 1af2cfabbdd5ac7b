import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { messageOf } from '../../core/errors.ts';
import { programScript } from '../../core/package.ts';
import { NOTIFY_EVENTS, NOTIFY_SETTINGS, type NotifyEvent } from '../../settings/receiver/hook-settings.ts';
import { type NotifySettings, readNotifySettings } from '../../settings/receiver/notify-settings.ts';
import { createSettingReader } from '../../settings/setting-reader.ts';
import { messageFor } from './message.ts';
import type { Notice } from './notice.ts';

/** A received event that may be worth a notification. */
export interface Notifiable {
  readonly event: Readonly<Record<string, unknown>>;
  readonly receivedAt: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  tell(line: string): void;
}

const NO_DOTENV = { values: {}, readableByOthers: false, faults: [], lineOf: () => undefined };
const MESSENGER = programScript('src/hooks/notify/messenger');

/**
 * Tells of an event on every channel that is switched on. What may take time is handed to a process of its own, which
 * gives up after the set time; the agent waits for none of it.
 */
export async function notify({ event, receivedAt, flags, env, tell }: Notifiable): Promise<void> {
  const name = NOTIFY_EVENTS.find((known) => known === event['hook_event_name']);
  const reader = createSettingReader({ flags, env, dotenv: NO_DOTENV }, Object.values(NOTIFY_SETTINGS));
  const settings = readNotifySettings(reader);
  for (const problem of reader.problems) tell(`${problem.message}; ${problem.hint ?? ''}`);
  if (name === undefined || !settings.events.includes(name)) return;

  const text = messageFor(name, event, settings.template);
  if (settings.channels.includes('bell')) ringBell(tell);
  const webhook = webhookOf(settings, { name, event, text, receivedAt }, tell);
  const desktop = settings.channels.includes('desktop');
  if (!desktop && webhook === null) return;
  await dispatch({ title: `Agent: ${name}`, text, desktop, webhook, timeoutMs: settings.timeoutMs }, tell);
}

interface Told {
  readonly name: NotifyEvent;
  readonly event: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly receivedAt: string;
}

function webhookOf(
  { channels, webhook, webhookFormat }: NotifySettings,
  { name, event, text, receivedAt }: Told,
  tell: Notifiable['tell'],
): Notice['webhook'] {
  if (!channels.includes('webhook')) return null;
  if (webhook === null) {
    tell('no webhook is called: DAYWALK_NOTIFY_WEBHOOK holds no address');
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

/** Rings the bell of the terminal that the agent runs on. Standard output is no way there: the client reads it. */
function ringBell(tell: Notifiable['tell']): void {
  try {
    const terminal = openSync('/dev/tty', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      writeSync(terminal, '\x07');
    } finally {
      closeSync(terminal);
    }
  } catch (error) {
    tell(`no bell: there is no terminal (${messageOf(error)})`);
  }
}

// The notice goes by a pipe: every user of the machine can read arguments, and the webhook's address is a secret.
async function dispatch(notice: Notice, tell: Notifiable['tell']): Promise<void> {
  await new Promise<void>((resolve) => {
    const child = spawn(process.execPath, [MESSENGER], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
    });
    const fail = (error: Error) => {
      tell(`no notification: ${error.message}`);
      resolve();
    };
    child.on('error', fail);
    child.stdin.on('error', fail);
    child.stdin.end(JSON.stringify(notice), () => resolve());
    child.unref();
  });
}
