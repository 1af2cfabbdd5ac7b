import { passwordsOf } from './mask-url.ts';
import { createRedactor, type Redactor } from './redact.ts';
import type { Settings } from './settings.ts';

/** Every value in the settings that no output may show: the keys, the salt, the passwords of warehouse and proxy. */
export function secretsOf(settings: Settings): string[] {
  const salt = settings.emails.mode === 'hash' ? settings.emails.salt : null;
  const keys = [settings.apiKey, settings.appApiKey ?? null];
  const passwords = [settings.warehouse, settings.proxy?.url ?? ''].flatMap(passwordsOf);
  return [...keys, salt, ...passwords].filter((secret) => secret !== null);
}

/** The redactor for the secrets of the settings. */
export function redactorOf(settings: Settings): Redactor {
  return createRedactor(secretsOf(settings));
}

/** The redactor for the passwords of warehouses that are no setting. */
export function redactorOfLocations(locations: readonly string[]): Redactor {
  return createRedactor(locations.flatMap(passwordsOf));
}

/**
 * The redactor for what the environment holds, before any setting was read: what goes wrong that early must not show
 * a secret either.
 */
export function redactorOfEnvironment(env: Readonly<Record<string, string | undefined>>): Redactor {
  const values = [
    env['DAYWALK_API_KEY'],
    env['DAYWALK_APP_API_KEY'],
    env['DAYWALK_EMAIL_SALT'],
    env['DAYWALK_NOTIFY_WEBHOOK'],
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
