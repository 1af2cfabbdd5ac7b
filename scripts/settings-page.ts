import type { Setting } from '../src/settings/setting.ts';
import { ALL_SETTINGS } from '../src/settings/settings-table.ts';

const HEADER = `# Settings of daywalk, for the working directory. Copy to .env and change what you need.
# Flags take precedence over the environment, the environment over this file. daywalk config shows the result.
# This file is generated from src/settings/settings-table.ts by npm run docs.
`;

const NOT_HERE = `# Notification settings are not read from this file: the client tool runs hooks in folders that other people may control.
# Set them in the environment of the client tool:
`;

/**
 * An example `.env` file with every setting commented out. The settings that are read only from the environment follow,
 * written as a shell sets them.
 */
export function dotenvExample(): string {
  return [
    HEADER,
    ...ALL_SETTINGS.filter(({ isInDotenv }) => isInDotenv).map((setting) => exampleOf(setting, '')),
    NOT_HERE,
    ...ALL_SETTINGS.filter(({ isInDotenv }) => !isInDotenv).map((setting) => exampleOf(setting, 'export ')),
  ].join('\n');
}

/** Every setting as a Markdown table. */
export function settingsMarkdown(): string {
  const rows = ALL_SETTINGS.map(
    ({ env, flag, doc, ...setting }) =>
      `| \`${env}\` | ${flag === null ? '–' : `\`${flag}\``} | ${defaultOf(setting).replaceAll('<', '&lt;')} | ${doc} |`,
  );
  return ['| environment | flag | default | |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function exampleOf(setting: Setting, before: '' | 'export '): string {
  const { env, doc, example } = setting;
  const shown = before === '' || !/[^\w.,:/-]/.test(example) ? example : `'${example}'`;
  const byDefault = defaultOf(setting);
  const comment = `# ${doc}${byDefault === '–' ? '' : ` (default: ${byDefault.replaceAll('`', '')})`}`;
  // Every line is a comment, so that a copy of the file changes nothing.
  return `${comment}\n# ${before}${env}=${shown}\n`;
}

function defaultOf({ fallbackText, fallbackDoc }: Pick<Setting, 'fallbackText' | 'fallbackDoc'>): string {
  return fallbackDoc ?? (fallbackText === null ? '–' : `\`${fallbackText}\``);
}
