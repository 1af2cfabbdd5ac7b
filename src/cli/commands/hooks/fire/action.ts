import { readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { resolve } from 'node:path';
import { messageOf, UsageError } from '../../../../core/errors.ts';
import { isObject } from '../../../../core/json.ts';
import { firedFieldsOf, wrongFieldsOf } from '../../../../hooks/event.ts';
import { readDocument } from '../../../../hooks/file/document.ts';
import { hooksOf } from '../../../../hooks/file/entries.ts';
import { readStored } from '../../../../hooks/file/storage.ts';
import { type Fired, type FiredHook, fire } from '../../../../hooks/fire/fire.ts';
import { EVENT_BYTES_MAX } from '../../../../hooks/limits.ts';
import type { CommandContext } from '../../../program/command.ts';
import type { Paint, Style } from '../../../text/style.ts';
import { renderTable } from '../../../text/table.ts';

/** Names the session of an event that was fired by hand. */
const SESSION = 'daywalk-hooks-fire';

/** Fires an event at the hooks of a file and prints what came of it. */
export async function performFire(context: CommandContext): Promise<void> {
  const { flags, operands, directory, job, log, out } = context;
  const [event = ''] = operands;
  const file = resolve(directory, flags.text('--file') ?? '');
  const stored = readStored(file);
  if (!stored.exists)
    throw new UsageError(`there is no hooks file ${file}`, { hint: 'daywalk hooks install makes one' });
  const configured = hooksOf(readDocument(stored.text, file));
  const tool = flags.text('--tool') ?? null;
  const given = await payloadOf(context);
  const payload = {
    session_id: SESSION,
    cwd: directory,
    // There was no conversation; hooks that read it find it empty.
    ...firedFieldsOf(event, devNull),
    ...(tool === null ? {} : { tool_name: tool }),
    ...given,
    hook_event_name: event,
  };
  for (const field of wrongFieldsOf(payload)) {
    log.write({ level: 'warn', event: 'hooks', message: `the client tool sends ${field} of another type` });
  }
  const named = given['tool_name'];
  const fired = await fire(configured, {
    event,
    tool: tool ?? (typeof named === 'string' ? named : null),
    payload,
    directory,
    signal: job.signal,
  });
  job.signal.throwIfAborted();
  for (const message of fired.problems) log.write({ level: 'warn', event: 'hooks', message });
  if (flags.isOn('--json')) out.json(fired);
  else out.print(renderFired(fired, out.terminal));
}

async function payloadOf({ flags, directory, input }: CommandContext): Promise<Record<string, unknown>> {
  const source = flags.text('--payload');
  if (source === undefined) return {};
  const name = source === '-' ? 'standard input' : source;
  try {
    const bytes = source === '-' ? await readBounded(input()) : readFileSync(resolve(directory, source));
    const payload: unknown = JSON.parse(bytes.toString('utf8'));
    if (isObject(payload)) return payload;
  } catch (error) {
    throw refused(name, messageOf(error), error);
  }
  throw refused(name, 'it is not a JSON object');
}

async function readBounded(input: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of input) {
    length += chunk.length;
    if (length > EVENT_BYTES_MAX) throw new Error(`it has more than ${EVENT_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refused(name: string, reason: string, cause?: unknown): UsageError {
  return new UsageError(`read the event from ${name}: ${reason}`, {
    cause,
    hint: 'give one JSON object, for example {"message":"hello"}',
  });
}

function renderFired(
  { event, blocked, hooks }: Fired,
  terminal: { readonly style: Style; columns(): number },
): string[] {
  if (hooks.length === 0) return [`no hook is configured for ${event}`];
  const { style } = terminal;
  const paints: Readonly<Record<FiredHook['verdict'], Paint>> = {
    proceeds: style.green,
    blocks: style.red,
    failed: style.yellow,
    'timed out': style.yellow,
  };
  const columns = [
    { header: 'verdict' },
    { header: 'exit', align: 'right' as const },
    { header: 'ms', align: 'right' as const },
    { header: 'command', shrinks: true },
    { header: 'said', shrinks: true },
  ];
  const rows = hooks.map(({ verdict, exitCode, durationMs, command, stdout, stderr }) => [
    { content: verdict, paint: paints[verdict] },
    exitCode,
    durationMs,
    command,
    `${stderr}${stdout}`.trim(),
  ]);
  const conclusion = blocked ? 'blocked: the agent would not go on' : 'the agent goes on';
  return [...renderTable(columns, rows, { width: terminal.columns(), style }), '', conclusion];
}
