import { createRecordedSession, type NewSession } from '../../../../../jobs/sessions-create.ts';
import { parseKnownIdentifiers } from '../../../../api/sessions/warnings.ts';
import { UsageError } from '../../../../core/errors.ts';
import { EXIT, type ExitCode } from '../../../../core/exit-code.ts';
import { isObject } from '../../../../core/json.ts';
import { readJsonInput } from '../../../arguments/json-input.ts';
import type { CommandContext } from '../../../program/command.ts';
import { type Field, renderFields } from '../../../screens/fields.ts';

/** Flags whose document may come from standard input. */
const DOCUMENTS = ['--request', '--settings', '--known-identifiers'] as const;

/** Reads the request from flags, files and standard input, creates the session, prints it, records it. */
export async function performSessionCreation(context: CommandContext): Promise<ExitCode> {
  const { flags, settings, job, out } = context;
  if (DOCUMENTS.filter((flag) => flags.text(flag) === '-').length > 1) {
    throw new UsageError(`only one of ${DOCUMENTS.join(', ')} can be read from standard input`, {
      hint: 'give the others as files',
    });
  }
  const known = await documentOf(context, '--known-identifiers');
  const creation = {
    request: await requestOf(context),
    orgId: settings.orgId,
    knownIdentifiers: known === undefined ? undefined : parseKnownIdentifiers(known),
  };
  await createRecordedSession(settings, creation, job, (created) => {
    // Printed before it is recorded, so that its id is not lost when that fails.
    if (flags.isOn('--json')) out.json(created);
    else out.print(renderSession(created, out.terminal));
  });
  return EXIT.ok;
}

/** The whole request, if it was given as one, under what the other flags say. */
async function requestOf(context: CommandContext): Promise<unknown> {
  const { flags } = context;
  const whole = (await documentOf(context, '--request')) ?? {};
  const sessionSettings = await documentOf(context, '--settings');
  if (!isObject(whole)) {
    throw new UsageError('--request: the document is not an object', {
      hint: 'write it like {"computerId": "…", "cwd": "…", "sessionSettings": {…}}',
    });
  }
  const computerId = flags.text('--computer-id');
  const cwd = flags.text('--cwd');
  return {
    ...whole,
    ...(computerId === undefined ? {} : { computerId }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(sessionSettings === undefined ? {} : { sessionSettings }),
  };
}

async function documentOf(context: CommandContext, flag: (typeof DOCUMENTS)[number]): Promise<unknown> {
  const path = context.flags.text(flag);
  return path === undefined ? undefined : readJsonInput(flag, path, context);
}

function renderSession(
  { orgId, session, warehouse }: NewSession,
  { columns, style }: CommandContext['out']['terminal'],
): string[] {
  const fields: Field[] = [
    ['session', session.sessionId, style.bold],
    ['status', session.status],
    ['computer', session.computerId ?? ''],
    ['title', session.title ?? ''],
    ['created', new Date(session.createdAt).toISOString()],
    ['organization', orgId],
    ['warehouse', warehouse],
  ];
  const shown = fields.filter(([, value]) => value !== '');
  return renderFields(shown, { width: columns(), style, indent: 0 });
}
