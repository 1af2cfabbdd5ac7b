import type { AnySetting } from './setting.ts';
import { ALL_SETTINGS } from './settings-table.ts';

const HEADER = `# Settings of daywalk, for the working directory. Copy to .env and change what you need.
# A flag wins over the environment, the environment wins over this file. daywalk config shows what is in force.
# This file is generated from src/settings/settings-table.ts by npm run docs.
`;

const NOT_HERE = `# Notifications of daywalk hook are not read from this file, because the client tool runs hooks in folders that may be
# anybody's. Set them in the environment of the client tool:
`;

/**
 * An example `.env` file that names every setting that it may hold, all commented out, and then those that the
 * environment alone may hold, as a shell sets them.
 */
export function dotenvExample(): string {
  const isHere = ({ isInDotenv }: AnySetting) => isInDotenv !== false;
  const elsewhere = ALL_SETTINGS.filter((setting) => !isHere(setting));
  return [
    HEADER,
    ...ALL_SETTINGS.filter(isHere).map((setting) => exampleOf(setting, '')),
    NOT_HERE,
    ...elsewhere.map((setting) => exampleOf(setting, 'export ')),
  ].join('\n');
}

/** Every setting as a table in markdown. */
export function settingsMarkdown(): string {
  const rows = ALL_SETTINGS.map(
    ({ env, flag, doc, ...setting }) =>
      `| \`${env}\` | ${flag === null ? '–' : `\`${flag}\``} | ${defaultOf(setting)} | ${doc} |`,
  );
  return ['| environment | flag | default | |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function exampleOf(setting: AnySetting, before: '' | 'export '): string {
  const { env, doc, example, fallback } = setting;
  const value = example ?? (fallback === null ? '' : String(fallback));
  const shown = before === '' || !/[^\w.,:/-]/.test(value) ? value : `'${value}'`;
  const byDefault = defaultOf(setting);
  const comment = `# ${doc}${byDefault === '–' ? '' : ` (default: ${byDefault.replaceAll('`', '')})`}`;
  // An assignment that is empty or an example would override nothing by accident: all stay comments.
  return `${comment}\n# ${before}${env}=${shown}\n`;
}

function defaultOf({ fallback, fallbackDoc }: Pick<AnySetting, 'fallback' | 'fallbackDoc'>): string {
  if (fallbackDoc !== undefined) return fallbackDoc;
  return fallback === null ? '–' : `\`${String(fallback)}\``;
}
