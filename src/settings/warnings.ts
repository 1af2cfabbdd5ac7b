import { nearestName } from '../core/nearest.ts';
import type { Dotenv } from './dotenv.ts';
import type { SettingSources } from './lookup.ts';
import type { EmailPolicy } from './settings.ts';
import { ALL_SETTINGS, SETTINGS } from './settings-table.ts';

/** Something about the settings that does not stop the command. */
export interface SettingWarning {
  readonly message: string;
  readonly hint: string | undefined;
}

/** 64 random bits in hexadecimal; less can be tried out. */
const SALT_LENGTH_MIN = 16;
const PREFIX = 'DAYWALK_';
const KNOWN = ALL_SETTINGS.map((setting) => setting.env);

/** What the sources hold that is probably not what was meant. */
export function warningsOf({ env, dotenv }: Pick<SettingSources, 'env' | 'dotenv'>): SettingWarning[] {
  return [
    ...unknownNames(env, () => 'in the environment'),
    ...unknownNames(dotenv.values, (name) => `in .env line ${dotenv.lineOf(name) ?? '?'}`),
    ...untrusted(dotenv),
    ...exposedDotenv(dotenv),
  ];
}

/** The warning that a key file can be read by others. */
export function exposedKeyFile(path: string): SettingWarning {
  return { message: `the key file ${path} can be read by other users`, hint: `chmod 600 ${path}` };
}

/** The warning that a salt is too short to keep hashed emails from being guessed; none where it is not. */
export function weakSalt(policy: EmailPolicy): SettingWarning[] {
  if (policy.mode !== 'hash' || policy.salt.length >= SALT_LENGTH_MIN) return [];
  return [
    {
      message: `${SETTINGS.emailSalt.env} is shorter than ${SALT_LENGTH_MIN} characters: hashed emails could be guessed`,
      hint: 'make a long one with: openssl rand -hex 32',
    },
  ];
}

function unknownNames(
  variables: Readonly<Record<string, string | undefined>>,
  where: (name: string) => string,
): SettingWarning[] {
  return Object.keys(variables)
    .filter((name) => name.startsWith(PREFIX) && !KNOWN.some((known) => known === name))
    .map((name) => {
      const nearest = nearestName(name, KNOWN);
      return {
        message: `${name} ${where(name)} is not a setting and has no effect`,
        hint: nearest === undefined ? 'daywalk config lists the settings' : `did you mean ${nearest}?`,
      };
    });
}

// The receiver runs in the folders that agents work in, and those may be anybody's: a `.env` there must not decide
// where texts of the session are sent.
function untrusted({ values, lineOf }: Dotenv): SettingWarning[] {
  return ALL_SETTINGS.filter(({ env, isInDotenv }) => isInDotenv === false && (values[env] ?? '') !== '').map(
    ({ env }) => ({
      message: `${env} in .env line ${lineOf(env) ?? '?'} has no effect`,
      hint: 'notifications are set in the environment of the agent, or by flags in the hooks file',
    }),
  );
}

function exposedDotenv({ values, readableByOthers }: Dotenv): SettingWarning[] {
  const holdsSecret = ALL_SETTINGS.some((setting) => setting.secret && (values[setting.env] ?? '') !== '');
  if (!readableByOthers || !holdsSecret) return [];
  const secret = (values[SETTINGS.apiKey.env] ?? '') === '' ? 'a secret' : 'the API key';
  return [{ message: `.env holds ${secret} and can be read by other users`, hint: 'chmod 600 .env' }];
}
