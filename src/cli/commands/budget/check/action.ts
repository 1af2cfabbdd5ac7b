import { checkBudget } from '../../../../../jobs/budget-check.ts';
import { parseMonth } from '../../../../core/month.ts';
import type { Action } from '../../../program/command.ts';
import { renderCheck } from './screen.ts';

export const act: Action = async ({ settings, job, flags, out }) => {
  const request = {
    month: flags.parse('--month', parseMonth),
    organization: flags.text('--organization'),
  };
  const check = await checkBudget(settings, request, job);
  out.show(check, (frame) => renderCheck(check, frame));
  return check.exit_code;
};
