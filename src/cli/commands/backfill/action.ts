import { UsageError } from '../../../core/errors.ts';
import type { EmailPolicy } from '../../../privacy/email.ts';
import type { Action } from '../../program/command.ts';
import { performExport } from '../run/export.ts';

export const act: Action = async (context) => {
  const { flags, settings } = context;
  const force = flags.isOn('--force');
  const newEmailSalt = flags.isOn('--new-email-salt');
  if (newEmailSalt) checkNewSalt(settings.emails, force);
  return performExport(context, {
    command: 'backfill',
    force,
    newestFirst: flags.isOn('--newest-first'),
    newEmailSalt,
  });
};

function checkNewSalt({ mode }: EmailPolicy, force: boolean): void {
  if (mode !== 'hash') {
    throw new UsageError('--new-email-salt: emails are not hashed', {
      hint: 'add --emails hash, or omit --new-email-salt',
    });
  }
  if (!force) {
    throw new UsageError('--new-email-salt: settled days would keep the hashes of the old salt', {
      hint: 'add --force, and choose --from and --until so that they include all days',
    });
  }
}
