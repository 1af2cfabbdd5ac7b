import { loadPeople } from '../../../../../jobs/people-load.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import { loadRequestOf } from '../../../arguments/load-request.ts';
import type { Action } from '../../../program/command.ts';
import { renderLoad } from './screen.ts';

export const act: Action = async (context) => {
  const { settings, job, out } = context;
  const load = await loadPeople(settings, loadRequestOf(context), job);
  out.show(load, (frame) => renderLoad(load, frame));
  return EXIT.ok;
};
