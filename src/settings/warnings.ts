import { nearestName } from '../core/nearest.ts';
import type { EmailPolicy } from '../privacy/email.ts';
import type { Dotenv } from './dotenv.ts';
import type { SettingSources } from './lookup.ts';
import { ALL_SETTINGS, SETTINGS } from './settings-table.ts';

/** A problem with the settings that does not stop the command. */
export interface SettingWarning {
  readonly message: string;
  readonly hint: string | undefined;
}

/** 64 random bits in hexadecimal. Shorter salts can be found by trying them all. */
const SALT_LENGTH_MIN = 16;
const PREFIX = 'DAYWALK_';
const KNOWN = ALL_SETTINGS.map((setting) => setting.env);

/** Warnings about values that are probably mistakes. */
export function warningsOf({ env, dotenv }: Pick<SettingSources, 'env' | 'dotenv'>): SettingWarning[] {
  return [
    ...unknownNames(env, () => 'in the environment'),
    ...unknownNames(dotenv.values, (name) => `in .env line ${dotenv.lineOf(name) ?? '?'}`),
    ...untrusted(dotenv),
    ...exposedDotenv(dotenv),
  ];
}

/** The warning that other users can read a key file. */
export function exposedKeyFile(path: string): SettingWarning {
  return { message: `other users can read the key file ${path}`, hint: `chmod 600 ${path}` };
}

/** The warning that a salt is too short to protect hashed addresses; empty if it is long enough. */
export function weakSalt(policy: EmailPolicy): SettingWarning[] {
  if (policy.mode !== 'hash' || policy.salt.length >= SALT_LENGTH_MIN) return [];
  return [
    {
      message: `${SETTINGS.emailSalt.env} is shorter than ${SALT_LENGTH_MIN} characters: hashed addresses could be guessed`,
      hint: 'generate a longer one: openssl rand -hex 32',
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

// The receiver runs in folders in which agents work. Other people may control them, so a `.env` there must not
// decide where texts of a session are sent.
function untrusted({ values, lineOf }: Dotenv): SettingWarning[] {
  return ALL_SETTINGS.filter(({ env, isInDotenv }) => isInDotenv === false && (values[env] ?? '') !== '').map(
    ({ env }) => ({
      message: `${env} in .env line ${lineOf(env) ?? '?'} has no effect`,
      hint: 'set notifications in the environment of the agent, or by flags in the hooks file',
    }),
  );
}

function exposedDotenv({ values, readableByOthers }: Dotenv): SettingWarning[] {
  const holdsSecret = ALL_SETTINGS.some((setting) => setting.secret && (values[setting.env] ?? '') !== '');
  if (!readableByOthers || !holdsSecret) return [];
  const secret = (values[SETTINGS.apiKey.env] ?? '') === '' ? 'a secret' : 'the API key';
  return [{ message: `.env holds ${secret}, and other users can read it`, hint: 'chmod 600 .env' }];
}
