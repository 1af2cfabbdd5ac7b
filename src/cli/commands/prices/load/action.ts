import { resolve } from 'node:path';
import { loadPrices } from '../../../../../jobs/prices-load.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import type { Action } from '../../../program/command.ts';
import { renderPricesLoad } from './screen.ts';

export const act: Action = async ({ settings, job, flags, operands, directory, out }) => {
  const [name = ''] = operands;
  const request = {
    file: { name, path: resolve(directory, name) },
    organization: flags.text('--organization'),
    isDryRun: flags.isOn('--dry-run'),
    allowsEmpty: flags.isOn('--allow-empty'),
  };
  const load = await loadPrices(settings, request, job);
  out.show(load, (frame) => renderPricesLoad(load, frame));
  return EXIT.ok;
};
