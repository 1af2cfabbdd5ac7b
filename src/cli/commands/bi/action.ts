import { resolve } from 'node:path';
import { writeBi } from '../../../../jobs/bi.ts';
import { UsageError } from '../../../core/errors.ts';
import { EXIT } from '../../../core/exit-code.ts';
import type { Action } from '../../program/command.ts';
import { renderBi } from './screen.ts';

export const act: Action = async ({ flags, operands, out, directory }) => {
  const [target = ''] = operands;
  const folder = flags.text('--out');
  if (folder === undefined || folder.trim() === '') {
    throw new UsageError('--out is empty', { hint: 'name a folder' });
  }
  const report = await writeBi({ target, directory: resolve(directory, folder) });
  out.show(report, () => renderBi(report));
  return EXIT.ok;
};
