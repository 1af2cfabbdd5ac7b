import { createRecordedSession, type NewSession } from '../../../jobs/sessions.ts';
import { parseKnownIdentifiers } from '../../api/index.ts';
import { UsageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { isObject } from '../../core/json.ts';
import type { Action, CommandContext } from '../program/command.ts';
import { readJsonInput } from '../program/flag-values.ts';
import { type Field, renderFields, type TableFrame } from '../screens/table.ts';

/** Flags with a JSON document, which may come from standard input. */
const DOCUMENTS = ['--request', '--settings', '--known-identifiers'] as const;

export const createAction: Action = async (context) => {
  const { flags, settings, job, out } = context;
  if (DOCUMENTS.filter((flag) => flags.text(flag) === '-').length > 1) {
    throw new UsageError(`only one of ${DOCUMENTS.join(', ')} can be read from standard input`, {
      hint: 'give the others as files',
    });
  }
  const known = await documentOf(context, '--known-identifiers');
  const creation = {
    request: await requestOf(context),
    orgId: settings.orgId ?? undefined,
    organization: flags.text('--organization'),
    knownIdentifiers: known === undefined ? undefined : parseKnownIdentifiers(known),
  };
  await createRecordedSession(settings, creation, job, (created) => {
    // Printed before it is recorded, so that its ID is not lost if recording fails.
    out.show(created, (frame) => renderSession(created, frame));
  });
  return EXIT.ok;
};

/** The request of `--request`, with what the other flags override. */
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

function renderSession({ orgId, session, warehouse }: NewSession, frame: TableFrame): string[] {
  const fields: Field[] = [
    ['session', session.sessionId, frame.style.bold],
    ['status', session.status],
    ['computer', session.computerId ?? ''],
    ['title', session.title ?? ''],
    ['created', new Date(session.createdAt).toISOString()],
    ['organization', orgId],
    ['warehouse', warehouse],
  ];
  const shown = fields.filter(([, value]) => value !== '');
  return renderFields(shown, { ...frame, indent: 0 });
}
