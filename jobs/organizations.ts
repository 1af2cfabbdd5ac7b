import { UsageError } from '../src/core/errors.ts';
import type { NamedOrganization, Settings } from '../src/settings/index.ts';

/** The most names that a message lists. */
const NAMES_SHOWN_MAX = 10;

/**
 * The organizations of the file that a command is about: all, or the one that was asked for.
 * @throws {UsageError} if the file has none of this name, or if there is no file.
 */
export function chooseOrganizations(
  { organizationsFile }: Pick<Settings, 'organizationsFile'>,
  asked?: string | undefined,
): readonly NamedOrganization[] {
  if (organizationsFile === null) {
    if (asked === undefined) return [];
    throw new UsageError(`--organization ${asked}: there is no organizations file`, {
      hint: 'name the file in DAYWALK_ORGANIZATIONS or with --organizations',
    });
  }
  const { organizations } = organizationsFile;
  if (asked === undefined) return organizations;
  const chosen = organizations.filter(({ name }) => name === asked);
  if (chosen.length > 0) return chosen;
  throw new UsageError(`the organizations file ${organizationsFile.path} has no "${asked}"`, {
    hint: `choose one of ${listNames(organizationsFile)} with --organization`,
  });
}

/**
 * The settings with which one organization of the file is exported.
 * @throws {UsageError} if its keys cannot be used.
 */
export function settingsFor(settings: Settings, organization: NamedOrganization): Settings {
  const { apiKey, appApiKey, problem } = organization;
  if (problem !== null) throw problem;
  const baseUrl = organization.baseUrl ?? settings.baseUrl;
  const ownUrl = organization.appUrl ?? organization.baseUrl;
  return {
    ...settings,
    organizationsFile: null,
    orgId: null,
    apiKey,
    appApiKey,
    baseUrl,
    appUrl: ownUrl ?? settings.appUrl ?? baseUrl,
    firstDay: organization.firstDay ?? settings.firstDay,
    streams: organization.streams ?? settings.streams,
    maxAgeMs: organization.maxAgeMs ?? settings.maxAgeMs,
  };
}

/** The names in the organizations file, in its order; null if there is no file. */
export function namesOf({
  organizationsFile,
}: Pick<Settings, 'organizationsFile'>): readonly string[] | null {
  return organizationsFile?.organizations.map(({ name }) => name) ?? null;
}

/** The names in the file, for a message. */
function listNames({
  organizations,
}: Pick<NonNullable<Settings['organizationsFile']>, 'organizations'>): string {
  const shown = organizations.slice(0, NAMES_SHOWN_MAX).map(({ name }) => name);
  const more = organizations.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
}
