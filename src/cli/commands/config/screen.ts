import type { UsageError } from '../../../core/errors.ts';
import type { SettingsReading } from '../../../settings/read-settings.ts';
import type { SettingEntry } from '../../../settings/setting-reader.ts';
import { hintOf } from '../../remedies.ts';
import { escapeForTerminal } from '../../text/escape.ts';
import { type Cell, renderTable, shrinking, type TableFrame } from '../../text/table.ts';

/** Builds the JSON document of the settings. */
export function configDocument({ entries, problems, warnings }: SettingsReading): unknown {
  return {
    settings: Object.fromEntries(
      entries.map(({ setting, value, source }) => [setting.env, { flag: setting.flag, value, source }]),
    ),
    problems: problems.map((problem) => ({ message: problem.message, hint: hintOf(problem) })),
    warnings,
  };
}

/** Draws the settings as a table in the order of the documentation, followed by their problems. */
export function renderConfig({ entries, problems }: SettingsReading, frame: TableFrame): string[] {
  const columns = ['setting', shrinking('value'), 'source'];
  const table = renderTable(
    columns,
    entries.map((entry) => rowOf(entry, frame)),
    frame,
  );
  return [...table, ...problems.flatMap((problem) => linesOf(problem, frame))];
}

function rowOf({ setting, value, source, problem }: SettingEntry, { style }: TableFrame): Cell[] {
  if (problem !== null) return [setting.env, { content: 'invalid', paint: style.red }, source];
  return [
    setting.env,
    value,
    { content: source, paint: source === 'default' || source === 'not set' ? style.dim : style.cyan },
  ];
}

function linesOf(problem: UsageError, { style }: TableFrame): string[] {
  const { message } = problem;
  const hint = hintOf(problem);
  const hints = hint === undefined ? [] : [style.dim(`  hint: ${escapeForTerminal(hint)}`)];
  return ['', `${style.red('error:')} ${escapeForTerminal(message)}`, ...hints];
}
