import { resolve } from 'node:path';
import type { LoadRequest } from '../../../jobs/load-request.ts';
import type { CommandContext } from '../program/command.ts';

/** The operand of commands that load a CSV file. */
export const csvFileOperand = {
  '<file>': 'path of the CSV file: UTF-8, separated by commas, with a header line',
} as const;

/** Reads the operand and the flags of `people load`, `prices load` and `budget load`. */
export function loadRequestOf({
  flags,
  operands: [name = ''],
  directory,
}: Pick<CommandContext, 'flags' | 'operands' | 'directory'>): LoadRequest {
  return {
    file: { name, path: resolve(directory, name) },
    organization: flags.text('--organization'),
    isDryRun: flags.isOn('--dry-run'),
    allowsEmpty: flags.isOn('--allow-empty'),
  };
}
