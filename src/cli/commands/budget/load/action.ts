import { type BudgetLoad, loadBudgets } from '../../../../../jobs/budget-load.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import type { BudgetRow } from '../../../../metrics/money/budgets.ts';
import { loadRequestOf } from '../../../arguments/load-request.ts';
import type { ScreenFrame } from '../../../output/output.ts';
import type { Action } from '../../../program/command.ts';
import { renderChanges } from '../../../screens/loaded-changes.ts';
import { renderWarnings } from '../../../screens/warning-lines.ts';
import { formatMoney } from '../../../text/money.ts';
import { counted } from '../../../text/quantity.ts';
import { shrinking } from '../../../text/table.ts';

export const act: Action = async (context) => {
  const { settings, job, out } = context;
  const load = await loadBudgets(settings, loadRequestOf(context), job);
  out.show(load, (frame) => renderLoad(load, frame));
  return EXIT.ok;
};

function renderLoad(load: BudgetLoad, frame: ScreenFrame): string[] {
  const columns = {
    names: ['month', shrinking('team')],
    nameOf: ({ month, team }: BudgetRow) => [month, frame.redact(team)],
    amountOf: ({ amount, currency }: BudgetRow) => formatMoney(amount, currency),
  };
  return [
    frame.style.green(headline(load)),
    ...renderChanges(load, columns, frame),
    ...renderWarnings(load.warnings, frame),
  ];
}

function headline({ budgets, changes, dry_run }: BudgetLoad): string {
  const all = counted(budgets, 'budget');
  if (changes.length === 0) return `budgets: nothing to do; stored already: ${all}`;
  return dry_run ? `budgets: dry run, nothing is stored; ${all} in the file` : `budgets: ${all} stored`;
}
