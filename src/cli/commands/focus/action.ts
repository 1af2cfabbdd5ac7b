import { resolve } from 'node:path';
import { type FocusJob, focus } from '../../../../jobs/focus.ts';
import { formatOf } from '../../../bi/focus/file-names.ts';
import { UsageError } from '../../../core/errors.ts';
import { EXIT } from '../../../core/exit-code.ts';
import { parseMonth } from '../../../core/month.ts';
import type { Flags } from '../../arguments/flags.ts';
import type { Action } from '../../program/command.ts';
import { renderFocus } from './screen.ts';

const DEFAULT_PROVIDER = 'Agent platform';
const NAME_CHARACTERS_MAX = 200;

export const act: Action = async ({ flags, settings, job, out, log, directory }) => {
  const report = await focus(settings, requestOf(flags, directory), job);
  for (const message of report.warnings) log.write({ level: 'warn', event: 'focus-warning', message });
  out.show(report, (frame) => renderFocus(report, frame), { afterLog: report.warnings.length > 0 });
  return EXIT.ok;
};

function requestOf(flags: Flags, directory: string): FocusJob {
  const provider = flags.parse('--provider', nameOf) ?? DEFAULT_PROVIDER;
  return {
    organization: flags.text('--organization'),
    month: parsed(flags, '--month', parseMonth),
    path: parsed(flags, '--out', (text) => pathOf(text, directory)),
    corrects: flags.texts('--corrects').map((path) => resolve(directory, path)),
    names: {
      provider,
      issuer: flags.parse('--issuer', nameOf) ?? provider,
      account: flags.parse('--account-name', nameOf) ?? null,
    },
  };
}

/** A flag that the parser requires. */
function parsed<Value>(flags: Flags, flag: `--${string}`, parser: (text: string) => Value): Value {
  const value = flags.parse(flag, parser);
  if (value === undefined) throw new UsageError(`${flag} is missing`, { hint: `add ${flag}` });
  return value;
}

function pathOf(text: string, directory: string): string {
  formatOf(text);
  return resolve(directory, text);
}

function nameOf(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= NAME_CHARACTERS_MAX && !/\p{Cc}/u.test(name)) return name;
  throw new UsageError(`${JSON.stringify(text)} is not a name`, {
    hint: `write a name of ${NAME_CHARACTERS_MAX} characters at most on one line`,
  });
}
