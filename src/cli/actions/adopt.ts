import { adopt } from '../../../jobs/adopt.ts';
import { EXIT } from '../../core/exit-code.ts';
import type { Action } from '../program/command.ts';

export const adoptAction: Action = async ({ settings, job, flags, operands, out }) => {
  const [id = ''] = operands;
  const { warehouse, accepted, lost } = await adopt(settings, id, { ...job, wait: flags.isOn('--wait') });
  out.show({ warehouse, accepted, lost }, () =>
    accepted
      ? ['accepted', ...lost.map((line) => `  ${line}`)]
      : [`nothing to accept as ${id}: a run accepts what is there`],
  );
  return EXIT.ok;
};
