import { UsageError } from '../core/errors.ts';
import { HOOK_EVENT_NAMES, isHookEventName } from '../hooks/event.ts';
import { readDocument } from '../hooks/file/document.ts';
import { install, remove } from '../hooks/file/edit.ts';
import { type ConfiguredHook, hooksOf } from '../hooks/file/entries.ts';
import { readStored, replaceStored, type StoredFile } from '../hooks/file/storage.ts';
import { NOTIFY_EVENTS } from '../settings/hook-settings.ts';
import { escapeForTerminal } from './text/escape.ts';

/** A receiver of this program: `daywalk hook …`, or its files called by Node. */
const RECEIVER = /(?:^|[\s/\\'"])(?:daywalk(?:\.cmd)?|cli[/\\]main\.[jt]s)['"]?\s+hook(?:\s|$)/;
const EVENT_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** What became of a hooks file. */
export interface FileResult {
  readonly file: string;
  readonly changed: boolean;
  /** The events whose hooks were added, changed or removed. */
  readonly events: readonly string[];
  /** Where the file's content from before is; null where nothing was replaced. */
  readonly backup: string | null;
  /** The same in words. */
  readonly lines: readonly string[];
}

/** What `daywalk hooks install` is asked for. */
export interface InstallRequest {
  readonly file: string;
  readonly events: readonly string[];
  readonly command: string;
  readonly timeoutSeconds: number | null;
  warn(message: string, hint: string): void;
}

/**
 * Installs a command for events.
 * @throws {UsageError} for names that no event can have, and a file that is no hooks file. Nothing was changed then.
 */
export function installHooks({ file, events, command, timeoutSeconds, warn }: InstallRequest): FileResult {
  if (command.trim() === '')
    throw new UsageError('--command: the command is empty', { hint: 'leave it out for the receiver' });
  const names = namesOf(events);
  for (const name of names.filter((given) => !isHookEventName(given))) {
    warn(`${name} is no event that this version knows; it is installed all the same`, knownNames());
  }
  const stored = readStored(file);
  const edited = install(readDocument(stored.text, file), {
    events: names.length === 0 ? NOTIFY_EVENTS : names,
    command,
    timeoutSeconds,
  });
  return write(stored, edited, { done: 'installed for', nothing: 'installed already; nothing was changed' });
}

/** Removes hooks: those with the very command, or every receiver of this program. */
export function removeHooks(request: {
  readonly file: string;
  readonly events: readonly string[];
  readonly command: string | null;
}): FileResult {
  const names = namesOf(request.events);
  const stored = requireStored(request.file);
  const edited = remove(
    readDocument(stored.text, request.file),
    ({ event, command }) =>
      (names.length === 0 || names.includes(event)) &&
      (request.command === null ? RECEIVER.test(command) : command === request.command),
  );
  return write(stored, edited, {
    done: 'removed from',
    nothing: 'there is no such hook; nothing was changed',
  });
}

/** The hooks of a file, in its order. */
export function listHooks(file: string): {
  readonly file: string;
  readonly hooks: readonly (ConfiguredHook & { readonly isReceiver: boolean })[];
} {
  const hooks = hooksOf(readDocument(requireStored(file).text, file));
  return { file, hooks: hooks.map((hook) => ({ ...hook, isReceiver: RECEIVER.test(hook.command) })) };
}

function requireStored(file: string): StoredFile {
  const stored = readStored(file);
  if (stored.exists) return stored;
  throw new UsageError(`there is no hooks file ${file}`, { hint: 'daywalk hooks install makes one' });
}

function write(
  stored: StoredFile,
  { text, events }: { readonly text: string; readonly events: readonly string[] },
  words: { readonly done: string; readonly nothing: string },
): FileResult {
  const file = stored.path;
  const shown = escapeForTerminal(file);
  if (text === stored.text) {
    return { file, changed: false, events: [], backup: null, lines: [`${shown}: ${words.nothing}`] };
  }
  replaceStored(stored, text);
  const backup = stored.exists ? `${file}.bak` : null;
  const lines = [`${shown}: ${words.done} ${events.join(', ')}`];
  if (backup !== null) lines.push(`what it held before is in ${escapeForTerminal(backup)}`);
  return { file, changed: true, events, backup, lines };
}

function namesOf(given: readonly string[]): string[] {
  const words = given.flatMap((item) => item.split(',')).map((word) => word.trim());
  const names = words.flatMap<string>((word) => (word === 'all' ? HOOK_EVENT_NAMES : word));
  const wrong = names.find((name) => !EVENT_NAME.test(name));
  if (wrong === undefined) return [...new Set(names)];
  throw new UsageError(`--event: "${wrong}" is no name of an event`, { hint: knownNames() });
}

function knownNames(): string {
  return `known events are ${HOOK_EVENT_NAMES.join(', ')}`;
}
