import { UsageError } from '../../../core/errors.ts';
import type { EmailPolicy } from '../../../privacy/email.ts';
import { exportSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk backfill`: a run over a range of days. */
export const backfill: Command = {
  name: 'backfill',
  summary: 'the same over a range of days; with --force settled ones too',
  description:
    'Does what daywalk run does, over a range of days. With --force it pulls settled days again too: stored days ' +
    'that did not change are not written, and what changed is recorded in the table restatements.',
  uses: exportSettings,
  flags: [
    { syntax: '--from <day>', doc: 'first day, YYYY-MM-DD', required: true },
    { syntax: '--until <day>', doc: 'last day, YYYY-MM-DD', required: true },
    { syntax: '--force', doc: 'pull settled days again too' },
    { syntax: '--newest-first', doc: 'begin with the last day' },
    {
      syntax: '--new-email-salt',
      doc: 'hash emails with another DAYWALK_EMAIL_SALT than before from now on; with --force, over all days',
    },
    {
      syntax: '--streams <list>',
      doc: 'only these, separated by commas: tokens, tools, activity, productivity, users, readiness',
    },
    { syntax: '--dry-run', doc: 'say what it would do; send nothing, write nothing' },
    {
      syntax: '--accept-loss',
      doc: 'accept that doubted rows are gone, where no more is missing now than when they were doubted',
    },
    { syntax: '--wait', doc: 'wait for another run to end instead of exiting with 75' },
    {
      syntax: '--quiet',
      doc: 'print nothing at all where the exit code is 0, so that cron mails only trouble',
    },
    { syntax: '--json', doc: 'print the report as one JSON document' },
  ],
  examples: [
    {
      line: 'daywalk backfill --from 2026-01-14 --until 2026-01-31',
      does: 'one month, whatever of it is not settled',
    },
    {
      line: 'daywalk backfill --from 2026-02-01 --until 2026-02-28 --force --newest-first',
      does: 'February again, after the service said that it corrected it',
    },
  ],
  resultIsOutput: false,
  act: async (context) => {
    const { performExport } = await import('../run/export.ts');
    const { flags, settings } = context;
    if (flags.isOn('--new-email-salt')) expectNewSalt(flags.isOn('--force'), settings.emails);
    return performExport(context, {
      command: 'backfill',
      force: flags.isOn('--force'),
      newestFirst: flags.isOn('--newest-first'),
      newEmailSalt: flags.isOn('--new-email-salt'),
    });
  },
};

function expectNewSalt(force: boolean, { mode }: EmailPolicy): void {
  if (mode !== 'hash') {
    throw new UsageError('--new-email-salt: emails are not hashed', {
      hint: 'add --emails hash, or leave it out',
    });
  }
  if (!force) {
    throw new UsageError('--new-email-salt: settled days would keep the hashes of the old salt', {
      hint: 'add --force, with --from and --until around all days',
    });
  }
}
