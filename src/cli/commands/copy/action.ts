import { copyWarehouse } from '../../../../jobs/copy.ts';
import { parseWarehouse } from '../../../settings/parsers/warehouse.ts';
import type { Action } from '../../program/command.ts';
import { renderCopy } from './screen.ts';

export const act: Action = async ({ settings, job, flags, out }) => {
  const request = {
    to: flags.parse('--to', parseWarehouse) ?? '',
    replace: flags.isOn('--replace'),
    wait: flags.isOn('--wait'),
  };
  const report = await copyWarehouse(settings, request, job);
  out.show(report, (frame) => renderCopy(report, frame), { afterLog: true });
  return report.exitCode;
};
