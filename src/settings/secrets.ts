import { basename } from 'node:path';
import { mayBeKey } from './key-file.ts';
import { passwordsOf } from './mask-url.ts';
import type { NamedOrganization } from './organizations/read-organizations.ts';
import { createRedactor, type Redactor } from './redact.ts';
import type { Settings } from './settings.ts';

/** Returns every value that no output may show: keys, token, salt, passwords of the warehouse and the proxy, URLs with a token. */
export function secretsOf(settings: Settings): string[] {
  const salt = settings.emails.mode === 'hash' ? settings.emails.salt : null;
  const keys = [settings.apiKey, settings.appApiKey ?? null, settings.dashboard?.token ?? null];
  const named = (settings.organizationsFile?.organizations ?? []).flatMap((organization) => [
    organization.apiKey,
    organization.appApiKey,
    mistakenKeyOf(organization),
  ]);
  const passwords = [settings.warehouse, settings.proxy?.url ?? ''].flatMap(passwordsOf);
  const urls = [settings.alerts?.pingUrl, settings.alerts?.webhook].flatMap((url) => secretsOfUrl(url ?? ''));
  return [...keys, ...named, salt, ...passwords, ...urls].filter((secret) => secret !== null);
}

/** The name of a key file that cannot be used, if it may be the key itself, written where its file belongs. */
function mistakenKeyOf({ apiKeyFile, problem }: NamedOrganization): string | null {
  return problem !== null && mayBeKey(apiKeyFile) ? basename(apiKeyFile) : null;
}

/** A shorter path does not identify the address: it is a word that other texts may use. */
const PATH_CHARS_MIN = 16;

/** The ways in which an address with a token may be written: whole, as written and parsed, and its path with query. */
function secretsOfUrl(text: string): string[] {
  const trimmed = text.trim();
  if (!URL.canParse(trimmed)) return [trimmed];
  const { href, pathname, search } = new URL(trimmed);
  const path = `${pathname.replace(/\/$/, '')}${search}`;
  return [trimmed, trimmed.replace(/\/$/, ''), href, ...(path.length < PATH_CHARS_MIN ? [] : [path])];
}

/** Creates the redactor for the passwords in warehouse locations that are not settings. */
export function redactorOfLocations(locations: readonly string[]): Redactor {
  return createRedactor(locations.flatMap(passwordsOf));
}

/**
 * Creates the redactor for secrets in the environment, for use before the settings are read: an early failure must not show
 * a secret either.
 */
export function redactorOfEnvironment(env: Readonly<Record<string, string | undefined>>): Redactor {
  const values = [
    env['DAYWALK_API_KEY'],
    env['DAYWALK_APP_API_KEY'],
    env['DAYWALK_DASHBOARD_TOKEN'],
    env['DAYWALK_EMAIL_SALT'],
    env['DAYWALK_NOTIFY_WEBHOOK'],
    ...[env['DAYWALK_PING_URL'], env['DAYWALK_ALERT_WEBHOOK']].flatMap((url) => secretsOfUrl(url ?? '')),
    ...[
      env['DAYWALK_WAREHOUSE'],
      env['HTTPS_PROXY'],
      env['https_proxy'],
      env['HTTP_PROXY'],
      env['http_proxy'],
    ]
      .map((url) => url ?? '')
      .flatMap(passwordsOf),
  ];
  return createRedactor(values.filter((value) => value !== undefined).map((value) => value.trim()));
}
