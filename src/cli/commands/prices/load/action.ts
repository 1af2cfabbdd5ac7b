import { loadPrices } from '../../../../../jobs/prices-load.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import { loadRequestOf } from '../../../arguments/load-request.ts';
import type { Action } from '../../../program/command.ts';
import { renderPricesLoad } from './screen.ts';

export const act: Action = async (context) => {
  const { settings, job, out } = context;
  const load = await loadPrices(settings, loadRequestOf(context), job);
  out.show(load, (frame) => renderPricesLoad(load, frame));
  return EXIT.ok;
};
