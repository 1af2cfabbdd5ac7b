import type { NotifyEvent } from './channels.ts';

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
