import type { AnySetting } from '../../settings/setting.ts';
import type { Command } from '../program/command.ts';

/** What stands around the list of commands. */
export const programHelp = {
  description:
    "Exports an agent platform's daily analytics and readiness reports into SQL tables: " +
    'every day whole or absent, resumable, and the same after any number of runs.',
  after: `
Start here:
  $ daywalk demo      see it work, without an API key
  $ daywalk run       the nightly job
  $ daywalk status    what the warehouse holds, and what it lacks

Exit codes:
   0  everything asked for is in the warehouse
   1  a defect in daywalk
   2  wrong usage or configuration; nothing was sent or written
   3  the service refused the credential
   4  upstream trouble: some units are missing, a rerun resumes
   5  records were quarantined, or a difference was found
   6  the warehouse could not be read or written
  75  another run holds the warehouse
 130  stopped by SIGINT; 143 by SIGTERM`,
};

/** What a setting does, and its default. */
export function settingDoc({ doc, fallback, fallbackDoc }: AnySetting): string {
  const byDefault = fallbackDoc ?? (fallback === null ? undefined : String(fallback));
  return byDefault === undefined ? doc : `${doc} (default: ${byDefault})`;
}

/** How help lines up a term and what it means, wrapped to the width. */
export type FormatItem = (term: string, termWidth: number, doc: string) => string;

/** The sections of a command's help after its flags: environment and examples. */
export function commandHelp({ uses, examples }: Command, formatItem: FormatItem): string {
  const shown = examples.map(({ line, does }) => `  $ ${line}\n      ${does}`);
  return `\n${environmentHelp(uses, formatItem)}\nExamples:\n${shown.join('\n')}`;
}

function environmentHelp(uses: readonly AnySetting[], formatItem: FormatItem): string {
  const width = Math.max(...uses.map((setting) => setting.env.length));
  const lines = uses.map((setting) =>
    formatItem(setting.env, width, setting.flag === null ? settingDoc(setting) : `as ${setting.flag}`),
  );
  return `Environment (a flag wins over it, it wins over .env in the working directory):\n${lines.join('\n')}\n`;
}
