import { EXIT } from '../../../core/exit-code.ts';
import type { Action } from '../../program/command.ts';
import { configDocument, problemsOf, renderConfig } from './screen.ts';

export const act: Action = async ({ reading, out }) => {
  out.show(configDocument(reading), (frame) => renderConfig(reading, frame));
  return problemsOf(reading).length === 0 ? EXIT.ok : EXIT.usage;
};
