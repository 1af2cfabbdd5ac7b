import { digestWarehouse } from '../../../../jobs/digest.ts';
import { EXIT } from '../../../core/exit-code.ts';
import type { Action } from '../../program/command.ts';
import { renderTable, shrinking } from '../../text/table.ts';

const COLUMNS = ['table', shrinking('sha-256')];

export const act: Action = async ({ settings, job, out }) => {
  const digest = await digestWarehouse(settings, job);
  out.show(digest, (frame) => {
    const total = [{ content: 'warehouse', paint: frame.style.bold }, digest.warehouse];
    return renderTable(COLUMNS, [...Object.entries(digest.tables), total], frame);
  });
  return EXIT.ok;
};
