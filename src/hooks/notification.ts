import { spawn } from 'node:child_process';

/** The ways to notify a person of a hook event. */
export const NOTIFY_CHANNELS = ['desktop', 'bell', 'webhook'] as const;

/** One of {@link NOTIFY_CHANNELS}. */
export type NotifyChannel = (typeof NOTIFY_CHANNELS)[number];

/** The hook events that a person can be notified of (specification, section 6). */
export const NOTIFY_EVENTS = ['Notification', 'Stop', 'SubagentStop', 'SessionEnd'] as const;

/** One of {@link NOTIFY_EVENTS}. */
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

/** A notification to deliver. */
export interface Notice {
  readonly title: string;
  readonly text: string;
  readonly desktop: boolean;
  /** URL and body of the webhook call; null for none. */
  readonly webhook: { readonly url: string; readonly body: string } | null;
  readonly timeoutMs: number;
}

/** The most characters of a notification. */
const TEXT_CHARACTERS_MAX = 500;
const FIELD = /\{([A-Za-z_][A-Za-z0-9_]{0,63})\}/g;
/** Control characters, including line breaks, and characters that change the direction of text. */
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;

const TEMPLATES: Readonly<Record<NotifyEvent, string>> = {
  Notification: '{message}',
  Stop: 'The agent finished a task in {cwd}',
  SubagentStop: 'A subagent finished a task in {cwd}',
  SessionEnd: 'The session in {cwd} ended: {reason}',
};

/**
 * Fills in the template of a notification: names in braces become the fields of the event. Fields that the event lacks, or
 * that are not text, number or boolean, become empty. The result is one line of at most 500 characters without control
 * characters.
 */
export function messageFor(
  name: NotifyEvent,
  event: Readonly<Record<string, unknown>>,
  template: string | null,
): string {
  const filled = (template ?? TEMPLATES[name]).replace(FIELD, (_, field: string) => shown(event, field));
  const line = filled.replace(UNSAFE, ' ').trim();
  const text = line === '' ? name : line;
  return text.length <= TEXT_CHARACTERS_MAX
    ? text
    : `${text.slice(0, TEXT_CHARACTERS_MAX - 1).toWellFormed()}…`;
}

function shown(event: Readonly<Record<string, unknown>>, field: string): string {
  const value = Object.hasOwn(event, field) ? event[field] : undefined;
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isPlain ? String(value).slice(0, TEXT_CHARACTERS_MAX) : '';
}

/** A program that shows a desktop notification. */
interface DesktopCommand {
  readonly program: string;
  readonly args: readonly string[];
}

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Returns the program that shows a notification on this system. Title and text are separate arguments and never part of a
 * script, so that nothing in them is executed.
 */
export function desktopCommand(
  platform: string,
  { title, text }: { readonly title: string; readonly text: string },
): DesktopCommand {
  if (platform === 'darwin') {
    const script = [
      'on run argv',
      'display notification (item 2 of argv) with title (item 1 of argv)',
      'end run',
    ];
    return { program: 'osascript', args: [...script.flatMap((line) => ['-e', line]), title, text] };
  }
  const escaped = text.replace(/[&<>]/g, (character) => MARKUP[character] ?? character);
  return { program: 'notify-send', args: ['--app-name=daywalk', '--', title, escaped] };
}

/** Shows a notification; kills the program if it takes longer than `timeoutMs`. */
export function showOnDesktop({ program, args }: DesktopCommand, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'ignore', timeout: timeoutMs, killSignal: 'SIGKILL' });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} ended with ${signal ?? code}`));
    });
  });
}
