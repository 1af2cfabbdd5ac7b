import { adopt } from '../../../jobs/adopt.ts';
import { EXIT } from '../../core/exit-code.ts';
import type { Action } from '../program/command.ts';

export const adoptAction: Action = async ({ settings, job, flags, operands, out }) => {
  const [id = ''] = operands;
  const { warehouse, lost } = await adopt(settings, id, { ...job, wait: flags.isOn('--wait') });
  out.show({ warehouse, lost }, () => ['accepted', ...lost.map((line) => `  ${line}`)]);
  return EXIT.ok;
};
