import { passwordsOf } from './mask-url.ts';
import { createRedactor, type Redactor } from './redact.ts';
import type { Settings } from './settings.ts';

/** Every value in the settings that no output may show: the keys, the salt, the password of the warehouse. */
export function secretsOf(settings: Settings): string[] {
  const salt = settings.emails.mode === 'hash' ? settings.emails.salt : null;
  const keys = [settings.apiKey, settings.appApiKey ?? null];
  return [...keys, salt, ...passwordsOf(settings.warehouse)].filter((secret) => secret !== null);
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
    ...passwordsOf(env['DAYWALK_WAREHOUSE'] ?? ''),
  ];
  return createRedactor(values.filter((value) => value !== undefined).map((value) => value.trim()));
}
