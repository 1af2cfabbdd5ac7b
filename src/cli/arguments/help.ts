import type { AnySetting } from '../../settings/setting.ts';
import type { Command } from '../program/command.ts';

/** The text before and after the list of commands. */
export const programHelp = {
  description:
    "Exports an agent platform's daily analytics and readiness reports into SQL tables. Each day is stored whole or " +
    'not at all. An interrupted run is resumed by the next one, and repeated runs give the same result.',
  after: `
Start here:
  $ daywalk demo      a complete export, without an API key
  $ daywalk run       the nightly job
  $ daywalk status    what the warehouse holds, and what it lacks

Exit codes:
   0  everything requested is in the warehouse
   1  a defect in daywalk
   2  wrong usage or configuration; nothing was sent or written
   3  the service refused the credential
   4  upstream failure: some units are missing; rerun to fetch them
   5  records were quarantined, a difference was found, or a budget is exceeded
   6  the warehouse could not be read or written
  75  another run holds the warehouse
 130  stopped by SIGINT; 143 by SIGTERM`,
};

/** The description of a setting, with its default. */
export function settingDoc({ doc, fallback, fallbackDoc }: AnySetting): string {
  const byDefault = fallbackDoc ?? (fallback === null ? undefined : String(fallback));
  return byDefault === undefined ? doc : `${doc} (default: ${byDefault})`;
}

/** Formats a term and its description as aligned lines that fit the width. */
export type FormatItem = (term: string, termWidth: number, doc: string) => string;

/** The sections of a command's help after its flags: environment and examples. */
export function commandHelp({ uses, examples }: Command, formatItem: FormatItem): string {
  const shown = Object.entries(examples).map(([line, does]) => `  $ ${line}\n      ${does}`);
  return `\n${environmentHelp(uses, formatItem)}\nExamples:\n${shown.join('\n')}`;
}

function environmentHelp(uses: readonly AnySetting[], formatItem: FormatItem): string {
  const width = Math.max(...uses.map((setting) => setting.env.length));
  const lines = uses.map((setting) =>
    formatItem(setting.env, width, setting.flag === null ? settingDoc(setting) : `same as ${setting.flag}`),
  );
  return `Environment (flags override it, and it overrides .env in the working directory):\n${lines.join('\n')}\n`;
}
