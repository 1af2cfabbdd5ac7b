import type { Action } from '../../program/command.ts';
import { performExport } from './export.ts';

export const act: Action = (context) =>
  performExport(context, { command: 'run', force: false, newestFirst: false });
