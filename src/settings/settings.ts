import { basename } from 'node:path';
import type { ProxyOptions } from '../http/index.ts';
import type { EmailPolicy } from '../privacy/index.ts';
import { mayBeKey } from './key-file.ts';
import type { NamedOrganization, OrganizationsFile } from './organizations.ts';
import { createRedactor, type Redactor } from './secrets.ts';
import { readTable } from './setting.ts';
import { ALL_SETTINGS, SETTINGS, type SettingValues } from './settings-table.ts';

/** Every setting with its value, validated, and what several of them say together. */
export interface Settings extends Omit<SettingValues, `${string}File`> {
  /** The bearer credential, from its variable or its file; null if none is configured. Only commands that call the API need one. */
  readonly apiKey: string | null;
  /** The credential of the application host; null if it is the same. */
  readonly appApiKey: string | null;
  /** The variables that the two credentials came from. */
  readonly keyVariables: Readonly<Record<'apiKey' | 'appApiKey', string>>;
  /** What people log in to the dashboard with; null for none. */
  readonly dashboardToken: string | null;
  /** What controls the emulator; null for none. */
  readonly mcpToken: string | null;
  readonly emulateToken: string | null;
  /** The organizations to export one after the other, each with its own key; null to export the one of `apiKey`. */
  readonly organizationsFile: OrganizationsFile | null;
  /** The proxy for requests to other machines; null for none. */
  readonly proxy: ProxyOptions | null;
  readonly emails: EmailPolicy;
  /** True if a run shall do without the archive that the warehouse knows. */
  readonly leavesArchiveOut: boolean;
}

/** Where logs go: for people, for machines, or nowhere. */
export type LogFormat = Settings['log'];

type Credentials = Pick<
  Settings,
  | 'apiKey'
  | 'appApiKey'
  | 'keyVariables'
  | 'dashboardToken'
  | 'mcpToken'
  | 'emulateToken'
  | 'organizationsFile'
>;

/** Completes values by what several of them say together, and by the credentials that were read from files. */
export function settingsOf(values: SettingValues, credentials?: Credentials): Settings {
  // A path may be a key that was written where the path of its file belongs.
  const {
    apiKeyFile: _api,
    appApiKeyFile: _app,
    dashboardTokenFile: _token,
    mcpTokenFile: _mcpToken,
    emulateTokenFile: _emulateToken,
    ...others
  } = values;
  const { httpsProxy, httpProxy, noProxy, emailMode: mode, emailSalt: salt } = others;
  const url = httpsProxy ?? httpProxy;
  const leavesArchiveOut = others.archives.join() === 'none';
  return {
    organizationsFile: null,
    keyVariables: { apiKey: SETTINGS.apiKey.env, appApiKey: SETTINGS.appApiKey.env },
    ...others,
    ...credentials,
    ...{ archives: leavesArchiveOut ? [] : others.archives, leavesArchiveOut },
    proxy: url === null ? null : { url, noProxy: noProxy ?? '' },
    emails: policyOf(mode, salt, others.userMode),
  };
}

/** A contradiction of these settings is a problem of its own, see `readSettings`. */
function policyOf(
  mode: EmailPolicy['mode'],
  salt: string | null,
  users: SettingValues['userMode'],
): EmailPolicy {
  if (mode === 'keep') return { mode };
  const less = users === 'keep' ? {} : { users };
  return mode === 'hash' && salt !== null ? { mode, salt, ...less } : { mode: 'drop', ...less };
}

/** The settings of a program to which nothing was given. */
export const DEFAULT_SETTINGS: Settings = settingsOf(
  readTable(SETTINGS, { given: new Map(), directory: '' }).values,
);

/** Returns every value that no output may show: keys, token, salt, passwords of the warehouse and the proxy, URLs with a token. */
export function secretsOf(settings: Settings): string[] {
  const values: Readonly<Record<string, unknown>> = { ...settings };
  const own = Object.entries(SETTINGS).flatMap(([name, { secretsIn }]) => {
    const value = values[name];
    return typeof value === 'string' ? secretsIn(value) : [];
  });
  const named = (settings.organizationsFile?.organizations ?? []).flatMap((organization) => [
    organization.apiKey ?? [],
    organization.appApiKey ?? [],
    mistakenKeyOf(organization) ?? [],
  ]);
  return [...own, ...named.flat()];
}

/** The name of a key file that cannot be used, if it may be the key itself, written where its file belongs. */
function mistakenKeyOf({ apiKeyFile, problem }: NamedOrganization): string | null {
  return problem !== null && mayBeKey(apiKeyFile) ? basename(apiKeyFile) : null;
}

/**
 * Creates the redactor for secrets in the environment, for use before the settings are read: an early failure must not show
 * a secret either.
 */
export function redactorOfEnvironment(env: Readonly<Record<string, string | undefined>>): Redactor {
  return createRedactor(
    // Variables of proxies may have lower-case names.
    ALL_SETTINGS.flatMap(({ env: name, secretsIn }) =>
      [env[name], env[name.toLowerCase()]].flatMap((text = '') => secretsIn(text.trim())),
    ),
  );
}
