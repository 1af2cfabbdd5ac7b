import type { Dotenv } from './dotenv.ts';
import type { AnySetting } from './setting.ts';

/** Where settings may come from, strongest first: flags, environment, `.env`. */
export interface SettingSources {
  /** Values of flags by flag, for example `--base-url`. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly dotenv: Dotenv;
}

/** The text given for a setting. */
export interface Given {
  readonly text: string;
  readonly kind: 'flag' | 'environment' | '.env';
  /** The source in a table: `flag`, `environment`, `.env line 3`. */
  readonly source: string;
  /** The source in a sentence: `--attempts`, `DAYWALK_ATTEMPTS in the environment`. */
  readonly where: string;
}

/**
 * Returns the text given for a setting by its strongest source; null if none gives one. An empty variable gives none, as in
 * `DAYWALK_LOG=`, except for secrets: an empty secret is a broken deployment and must not pass for a missing one.
 */
export function lookUp(setting: AnySetting, { flags, env, dotenv }: SettingSources): Given | null {
  const flag = setting.flag === null ? undefined : flags[setting.flag];
  if (flag !== undefined)
    return { text: flag.trim(), kind: 'flag', source: 'flag', where: setting.flag ?? '' };

  const fromEnv = textOf(setting, env[setting.env]);
  if (fromEnv !== null) {
    return {
      text: fromEnv,
      kind: 'environment',
      source: 'environment',
      where: `${setting.env} in the environment`,
    };
  }

  const fromFile = setting.isInDotenv === false ? null : textOf(setting, dotenv.values[setting.env]);
  if (fromFile === null) return null;
  const line = dotenv.lineOf(setting.env);
  const source = line === undefined ? '.env' : `.env line ${line}`;
  return { text: fromFile, kind: '.env', source, where: `${setting.env} in ${source}` };
}

function textOf(setting: AnySetting, text: string | undefined): string | null {
  if (text === undefined) return null;
  const trimmed = text.trim();
  return trimmed === '' && !setting.secret ? null : trimmed;
}
