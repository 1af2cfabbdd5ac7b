import type { Clock } from '../../../core/clock.ts';
import { UsageError } from '../../../core/errors.ts';
import { HOOK_EVENT_NAMES, isHookEventName } from '../../../hooks/event.ts';
import { type HooksDocument, readDocument } from '../../../hooks/file/document.ts';
import { type Edited, install, remove } from '../../../hooks/file/edit.ts';
import { type ConfiguredHook, hooksOf } from '../../../hooks/file/entries.ts';
import { whileLocked } from '../../../hooks/file/lock.ts';
import { readStored, replaceStored, type StoredFile } from '../../../hooks/file/storage.ts';
import { NOTIFY_EVENTS } from '../../../hooks/notify/channels.ts';
import { escapeForTerminal } from '../../text/escape.ts';

/** The command of a receiver: `daywalk hook …`, or this program's files run by Node. */
const RECEIVER = /(?:^|[\s/\\'"])(?:daywalk(?:\.cmd)?|cli[/\\]main\.[jt]s)['"]?\s+hook(?:\s|$)/;
const EVENT_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** What was done to a hooks file. */
export interface FileResult {
  readonly file: string;
  readonly changed: boolean;
  /** The events whose hooks were added, changed or removed. */
  readonly events: readonly string[];
  /** The file with the previous content; null when nothing was replaced. */
  readonly backup: string | null;
  /** The result in words. */
  readonly lines: readonly string[];
}

/** What to install. */
export interface InstallRequest {
  readonly file: string;
  readonly events: readonly string[];
  readonly command: string;
  readonly timeoutSeconds: number | null;
  readonly clock: Clock;
  warn(message: string, hint: string): void;
}

/**
 * Installs a command for events; for {@link NOTIFY_EVENTS} when none are given.
 * @throws {UsageError} for an impossible event name or a file that is not a hooks file. Nothing is changed then.
 */
export async function installHooks(request: InstallRequest): Promise<FileResult> {
  const { file, events, command, timeoutSeconds, clock, warn } = request;
  if (command.trim() === '')
    throw new UsageError('--command: the command is empty', { hint: 'omit it to install the receiver' });
  const names = namesOf(events);
  for (const name of names.filter((given) => !isHookEventName(given))) {
    warn(`${name} is not a known event; the hook is installed anyway`, knownNames());
  }
  return editFile(file, {
    clock,
    read: readStored,
    edit: (document) =>
      install(document, { events: names.length === 0 ? NOTIFY_EVENTS : names, command, timeoutSeconds }),
    words: { done: 'installed for', nothing: 'already installed; nothing was changed' },
  });
}

/** Removes the hooks with exactly this command, or every receiver of this program when the command is null. */
export async function removeHooks(request: {
  readonly file: string;
  readonly events: readonly string[];
  readonly command: string | null;
  readonly clock: Clock;
}): Promise<FileResult> {
  const names = namesOf(request.events);
  return editFile(request.file, {
    clock: request.clock,
    read: readExisting,
    edit: (document) =>
      remove(
        document,
        ({ event, command }) =>
          (names.length === 0 || names.includes(event)) &&
          (request.command === null ? RECEIVER.test(command) : command === request.command),
      ),
    words: { done: 'removed from', nothing: 'there is no such hook; nothing was changed' },
  });
}

/** Lists the hooks of a file, in its order. */
export function listHooks(file: string): {
  readonly file: string;
  readonly hooks: readonly (ConfiguredHook & { readonly isReceiver: boolean })[];
} {
  const hooks = hooksOf(readDocument(readExisting(file).text, file));
  return { file, hooks: hooks.map((hook) => ({ ...hook, isReceiver: RECEIVER.test(hook.command) })) };
}

/**
 * Reads a hooks file.
 * @throws {UsageError} when it does not exist.
 */
export function readExisting(file: string): StoredFile {
  const stored = readStored(file);
  if (stored.exists) return stored;
  throw new UsageError(`there is no hooks file ${file}`, { hint: 'daywalk hooks install creates one' });
}

interface FileEdit {
  readonly clock: Clock;
  read(file: string): StoredFile;
  edit(document: HooksDocument): Edited;
  readonly words: { readonly done: string; readonly nothing: string };
}

/** Edits a file under a lock. A file that needs no change is not locked, so it may be read-only. */
async function editFile(name: string, { clock, read, edit, words }: FileEdit): Promise<FileResult> {
  const edited = () => {
    const stored = read(name);
    return { stored, ...edit(readDocument(stored.text, name)) };
  };
  const first = edited();
  const { stored, text, events } =
    first.text === first.stored.text
      ? first
      : await whileLocked(first.stored.path, clock, () => {
          const current = edited();
          if (current.text !== current.stored.text) replaceStored(current.stored, current.text);
          return current;
        });
  const file = stored.path;
  const shown = escapeForTerminal(file);
  if (text === stored.text) {
    return { file, changed: false, events: [], backup: null, lines: [`${shown}: ${words.nothing}`] };
  }
  const backup = stored.exists ? `${file}.bak` : null;
  const lines = [`${shown}: ${words.done} ${events.join(', ')}`];
  if (backup !== null) lines.push(`the previous content is in ${escapeForTerminal(backup)}`);
  return { file, changed: true, events, backup, lines };
}

function namesOf(given: readonly string[]): string[] {
  const words = given.flatMap((item) => item.split(',')).map((word) => word.trim());
  const names = words.flatMap<string>((word) => (word === 'all' ? HOOK_EVENT_NAMES : word));
  const wrong = names.find((name) => !EVENT_NAME.test(name));
  if (wrong === undefined) return [...new Set(names)];
  throw new UsageError(`--event: "${wrong}" is not an event name`, { hint: knownNames() });
}

function knownNames(): string {
  return `known events: ${HOOK_EVENT_NAMES.join(', ')}`;
}
