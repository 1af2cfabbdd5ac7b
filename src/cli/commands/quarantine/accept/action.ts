import { type AcceptRequest, acceptQuarantine } from '../../../../../jobs/quarantine-accept.ts';
import { parseDay } from '../../../../core/day.ts';
import { UsageError } from '../../../../core/errors.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import { STREAMS } from '../../../../core/stream.ts';
import { oneOf } from '../../../../settings/parsers/choice.ts';
import type { Flags } from '../../../arguments/flags.ts';
import type { Action } from '../../../program/command.ts';
import { counted } from '../../../text/quantity.ts';

export const act: Action = async ({ settings, job, flags, out }) => {
  const accepted = await acceptQuarantine(settings, requestOf(flags), job);
  out.show({ accepted }, () => [`${counted(accepted, 'record')} accepted`]);
  return EXIT.ok;
};

function requestOf(flags: Flags): AcceptRequest {
  const stream = flags.parse('--stream', oneOf(STREAMS));
  const day = flags.parse('--date', parseDay);
  const isNarrow = stream !== undefined || day !== undefined;
  if (isNarrow === flags.isOn('--all')) {
    const problem = isNarrow ? '--all cannot be combined with --stream or --date' : 'no records are chosen';
    throw new UsageError(problem, {
      hint: 'give --stream, --date or both, or --all; daywalk quarantine list shows the records',
    });
  }
  return { stream, day, organization: flags.text('--organization') };
}
