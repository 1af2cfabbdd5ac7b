import { devNull } from 'node:os';
import { resolve } from 'node:path';
import { drainHooks, warningsOf } from '../../../jobs/drain.ts';
import {
  type ConfiguredHook,
  type Edited,
  type Fired,
  type FiredHook,
  fire,
  type HooksDocument,
  hooksOf,
  install,
  readDocument,
  readStored,
  remove,
  replaceStored,
  type StoredFile,
} from '../../client-hooks/index.ts';
import type { Clock } from '../../core/clock.ts';
import { UsageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { isObject } from '../../core/json.ts';
import { whileLocked } from '../../core/sqlite-files.ts';
import {
  firedFieldsOf,
  HOOK_EVENT_NAMES,
  isHookEventName,
  NOTIFY_EVENTS,
  spoolOf,
  wrongFieldsOf,
} from '../../hooks/index.ts';
import type { Paint } from '../output/terminal.ts';
import type { Action, CommandContext } from '../program/command.ts';
import { readJsonInput } from '../program/flag-values.ts';
import { counted } from '../screens/numbers.ts';
import { renderTable, right, shrinking, type TableFrame } from '../screens/table.ts';
import { escapeForTerminal, shellQuote } from '../screens/text.ts';

const TIMEOUT_SECONDS = { min: 1, max: 86_400 };

export const installAction: Action = async ({ flags, job, settings, directory, self, log, out }) => {
  const spool = spoolOf({ spool: settings.spool, warehouse: settings.warehouse, directory });
  const result = await installHooks({
    clock: job.clock,
    file: resolve(directory, flags.text('--file') ?? ''),
    events: flags.texts('--event'),
    command: flags.text('--command') ?? `${self()} hook --spool ${shellQuote(spool)}`,
    timeoutSeconds: flags.number('--timeout', TIMEOUT_SECONDS) ?? null,
    warn: (message, hint) => log.write({ level: 'warn', event: 'hooks', message, hint }),
  });
  out.show(result, () => result.lines);
  return EXIT.ok;
};

const LISTED_COLUMNS = ['event', 'matcher', right('seconds'), 'receiver', shrinking('command')];

export const listAction: Action = async ({ flags, directory, out }) => {
  const result = listHooks(resolve(directory, flags.text('--file') ?? ''));
  out.show(result, (frame) => {
    if (result.hooks.length === 0) return ['no hook is configured'];
    const rows = result.hooks.map(({ event, matcher, timeout, isReceiver, command }) => [
      event,
      matcher,
      timeout,
      isReceiver ? 'yes' : 'no',
      command,
    ]);
    return renderTable(LISTED_COLUMNS, rows, frame);
  });
  return EXIT.ok;
};

export const removeAction: Action = async ({ flags, job, directory, out }) => {
  const result = await removeHooks({
    clock: job.clock,
    file: resolve(directory, flags.text('--file') ?? ''),
    events: flags.texts('--event'),
    command: flags.text('--command') ?? null,
  });
  out.show(result, () => result.lines);
  return EXIT.ok;
};

/** The command of a receiver: `daywalk hook …`, or this program's files run by Node. */
const RECEIVER = /(?:^|[\s/\\'"])(?:daywalk(?:\.cmd)?|cli[/\\]main\.[jt]s)['"]?\s+hook(?:\s|$)/;
const EVENT_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** What was done to a hooks file. */
interface FileResult {
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
interface InstallRequest {
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
async function installHooks(request: InstallRequest): Promise<FileResult> {
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
async function removeHooks(request: {
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
function listHooks(file: string): {
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
function readExisting(file: string): StoredFile {
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
      : await whileLocked(first.stored.path, clock, async () => {
          const current = edited();
          if (current.text !== current.stored.text) await replaceStored(current.stored, current.text);
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

/** The session of every event that this command fires. */
const SESSION = 'daywalk-hooks-fire';

export const fireAction: Action = async (context) => {
  const { flags, operands, directory, job, log, out } = context;
  const [event = ''] = operands;
  const warn = (message: string) => log.write({ level: 'warn', event: 'hooks', message });
  const file = resolve(directory, flags.text('--file') ?? '');
  const configured = hooksOf(readDocument(readExisting(file).text, file));
  const given = await readPayload(context);
  const tool = flags.text('--tool') ?? null;
  const payload = {
    session_id: SESSION,
    cwd: directory,
    // There is no conversation; hooks that read it find an empty file.
    ...firedFieldsOf(event, devNull),
    ...given,
    // The tool whose hooks are run.
    ...(tool === null ? {} : { tool_name: tool }),
    hook_event_name: event,
  };
  for (const field of wrongFieldsOf(payload))
    warn(`${field} does not have the type that the client tool sends`);
  const named = given['tool_name'];
  const fired = await fire(configured, {
    event,
    tool: tool ?? (typeof named === 'string' ? named : null),
    payload,
    directory,
    signal: job.signal,
  });
  job.signal.throwIfAborted();
  fired.problems.forEach(warn);
  out.show(fired, (frame) => renderFired(fired, frame));
  return EXIT.ok;
};

async function readPayload(context: CommandContext): Promise<Record<string, unknown>> {
  const path = context.flags.text('--payload');
  if (path === undefined) return {};
  const payload = await readJsonInput('--payload', path, context);
  if (isObject(payload)) return payload;
  throw new UsageError('--payload: the document is not a JSON object', {
    hint: 'give one JSON object, for example {"message":"hello"}',
  });
}

const FIRED_COLUMNS = ['verdict', right('exit'), right('ms'), shrinking('command'), shrinking('output')];

/** What each hook did, and whether the agent continues. */
function renderFired({ event, blocked, hooks }: Fired, frame: TableFrame): string[] {
  if (hooks.length === 0) return [`no hook is configured for ${event}`];
  const { green, red, yellow } = frame.style;
  const paints: Readonly<Record<FiredHook['verdict'], Paint>> = {
    proceeds: green,
    blocks: red,
    failed: yellow,
    'timed out': yellow,
  };
  const rows = hooks.map(({ verdict, exitCode, durationMs, command, stdout, stderr }) => [
    { content: verdict, paint: paints[verdict] },
    exitCode,
    durationMs,
    command,
    `${stderr}${stdout}`.trim(),
  ]);
  const conclusion = blocked ? 'blocked: the agent would not continue' : 'the agent continues';
  return [...renderTable(FIRED_COLUMNS, rows, frame), '', conclusion];
}

export const drainAction: Action = async ({ settings, job, log, out }) => {
  const report = await drainHooks(settings, job);
  for (const warning of warningsOf(report)) log.write({ level: 'warn', event: 'drain', ...warning });
  out.show(report, () => {
    const known = report.events - report.stored;
    const others = known === 0 ? '' : `, ${counted(known, 'event')} known already`;
    return [`${counted(report.stored, 'event')} stored${others}, from ${escapeForTerminal(report.spool)}`];
  });
  return EXIT.ok;
};
