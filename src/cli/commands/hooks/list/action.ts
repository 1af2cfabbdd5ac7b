import { resolve } from 'node:path';
import { EXIT } from '../../../../core/exit-code.ts';
import type { Action } from '../../../program/command.ts';
import { renderTable, right, shrinking } from '../../../text/table.ts';
import { listHooks } from '../hooks-file.ts';

const COLUMNS = ['event', 'matcher', right('seconds'), 'receiver', shrinking('command')];

export const act: Action = async ({ flags, directory, out }) => {
  const result = listHooks(resolve(directory, flags.text('--file') ?? ''));
  out.show(result, (frame) => {
    if (result.hooks.length === 0) return ['no hook is configured'];
    const rows = result.hooks.map(({ event, matcher, timeout, isReceiver, command }) => [
      event,
      matcher,
      timeout,
      isReceiver ? 'yes' : 'no',
      command,
    ]);
    return renderTable(COLUMNS, rows, frame);
  });
  return EXIT.ok;
};
