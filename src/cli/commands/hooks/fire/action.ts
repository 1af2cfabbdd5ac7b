import { devNull } from 'node:os';
import { resolve } from 'node:path';
import { UsageError } from '../../../../core/errors.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import { isObject } from '../../../../core/json.ts';
import { firedFieldsOf, wrongFieldsOf } from '../../../../hooks/event.ts';
import { readDocument } from '../../../../hooks/file/document.ts';
import { hooksOf } from '../../../../hooks/file/entries.ts';
import { fire } from '../../../../hooks/fire/fire.ts';
import { readJsonInput } from '../../../arguments/json-input.ts';
import type { Action, CommandContext } from '../../../program/command.ts';
import { readExisting } from '../hooks-file.ts';
import { renderFired } from './screen.ts';

/** The session of every event that this command fires. */
const SESSION = 'daywalk-hooks-fire';

export const act: Action = async (context) => {
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
    ...(tool === null ? {} : { tool_name: tool }),
    ...given,
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
