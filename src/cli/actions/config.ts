import type { UsageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import type { NamedOrganization, SettingEntry, SettingsReading } from '../../settings/index.ts';
import type { Action } from '../program/command.ts';
import { hintOf } from '../remedies.ts';
import { type Cell, renderTable, shrinking, type TableFrame } from '../screens/table.ts';
import { escapeForTerminal } from '../screens/text.ts';

export const configAction: Action = async ({ reading, out }) => {
  out.show(configDocument(reading), (frame) => renderConfig(reading, frame));
  return problemsOf(reading).length === 0 ? EXIT.ok : EXIT.usage;
};

/** Builds the JSON document of the settings. */
function configDocument(reading: SettingsReading): unknown {
  const { organizationsFile } = reading.settings;
  return {
    settings: Object.fromEntries(
      reading.entries.map(({ setting, value, source }) => [
        setting.env,
        { flag: setting.flag, value, source },
      ]),
    ),
    ...(organizationsFile !== null && {
      organizations: organizationsFile.organizations.map((organization) => shownOf(organization, reading)),
    }),
    problems: problemsOf(reading).map(({ message, details, ...problem }) => ({
      message,
      ...(details.length > 0 && { details }),
      hint: hintOf(problem),
    })),
    warnings: reading.warnings,
  };
}

/** Every problem with the settings, and with the key files of the organizations file. */
function problemsOf({ problems, organizationProblems }: SettingsReading): readonly UsageError[] {
  return [...problems, ...organizationProblems];
}

/** What an organization of the file is exported with. */
function shownOf({ name, apiKeyFile, problem, ...own }: NamedOrganization, { settings }: SettingsReading) {
  const baseUrl = own.baseUrl ?? settings.baseUrl;
  const appUrl = own.appUrl ?? own.baseUrl ?? settings.appUrl ?? baseUrl;
  return { name, apiKeyFile, baseUrl, appUrl, isUsable: problem === null };
}

/** Draws the settings as a table in the order of the documentation, followed by their problems. */
function renderConfig(reading: SettingsReading, frame: TableFrame): string[] {
  const { entries } = reading;
  const columns = ['setting', shrinking('value'), 'source'];
  const table = renderTable(
    columns,
    entries.map((entry) => rowOf(entry, frame)),
    frame,
  );
  const problems = problemsOf(reading).flatMap((problem) => linesOf(problem, frame));
  return [...table, ...organizationsOf(reading, frame), ...problems];
}

function organizationsOf(reading: SettingsReading, frame: TableFrame): string[] {
  const organizations = reading.settings.organizationsFile?.organizations ?? [];
  if (organizations.length === 0) return [];
  const rows = organizations
    .map((organization) => shownOf(organization, reading))
    .map(({ name, apiKeyFile, baseUrl, appUrl, isUsable }): Cell[] => [
      name,
      isUsable ? apiKeyFile : { content: apiKeyFile, paint: frame.style.red },
      baseUrl,
      appUrl === baseUrl ? 'the base URL' : appUrl,
    ]);
  const columns = ['organization', 'key file', 'base URL', 'application URL'].map(shrinking);
  return ['', ...renderTable(columns, rows, frame)];
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
  const { message, details } = problem;
  const hint = hintOf(problem);
  const hints = hint === undefined ? [] : [style.dim(`  hint: ${escapeForTerminal(hint)}`)];
  const further = details.map((detail) => `  ${escapeForTerminal(detail)}`);
  return ['', `${style.red('error:')} ${escapeForTerminal(message)}`, ...further, ...hints];
}
