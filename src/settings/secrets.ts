import { passwordsOf } from './mask-url.ts';
import { createRedactor, type Redactor } from './redact.ts';
import type { Settings } from './settings.ts';

/** Returns every value that no output may show: keys, token, salt, passwords of the warehouse and the proxy. */
export function secretsOf(settings: Settings): string[] {
  const salt = settings.emails.mode === 'hash' ? settings.emails.salt : null;
  const keys = [settings.apiKey, settings.appApiKey ?? null, settings.dashboard?.token ?? null];
  const passwords = [settings.warehouse, settings.proxy?.url ?? ''].flatMap(passwordsOf);
  return [...keys, salt, ...passwords].filter((secret) => secret !== null);
}

/** Creates the redactor for the secrets of the settings. */
export function redactorOf(settings: Settings): Redactor {
  return createRedactor(secretsOf(settings));
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
