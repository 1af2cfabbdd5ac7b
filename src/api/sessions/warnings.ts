import type { SessionRequest } from './request.ts';
import { CURRENT_MODEL, type SessionSettings } from './settings.ts';

/** Something that the service accepts and that deserves a second look. */
export interface SessionWarning {
  /** Where it stands in the request: `sessionSettings.autonomyMode`. */
  readonly path: string;
  readonly message: string;
}

/**
 * Identifiers of the lists that the specification omits, as far as you know them. One that is not among them is sent
 * all the same, with a warning. A list that is left out, which is the default, never warns.
 */
export interface KnownIdentifiers {
  /** For `providerLock`. */
  readonly providers?: readonly string[];
  /** For `apiProviderLock`. */
  readonly apiProviders?: readonly string[];
  /** For `compactionModel`, besides `current-model` and `custom:…`, which are always known. */
  readonly compactionModels?: readonly string[];
}

/** What each deprecated autonomyMode means in interactionMode and autonomyLevel. */
const MEANING: Readonly<Record<NonNullable<SessionSettings['autonomyMode']>, string>> = {
  normal: 'interactionMode "auto" with autonomyLevel "off"',
  'auto-low': 'interactionMode "auto" with autonomyLevel "low"',
  'auto-medium': 'interactionMode "auto" with autonomyLevel "medium"',
  'auto-high': 'interactionMode "auto" with autonomyLevel "high"',
  spec: 'interactionMode "spec"',
};

/** The warnings about a request that is valid. */
export function sessionWarnings(
  { sessionSettings = {} }: SessionRequest,
  known: KnownIdentifiers = {},
): SessionWarning[] {
  const { autonomyMode, providerLock, apiProviderLock, compactionModel } = sessionSettings;
  const isOwnModel = compactionModel === CURRENT_MODEL || compactionModel?.startsWith('custom:') === true;
  return [
    ...(autonomyMode === undefined ? [] : [deprecated(autonomyMode)]),
    ...unknown('providerLock', providerLock, known.providers),
    ...unknown('apiProviderLock', apiProviderLock, known.apiProviders),
    ...(isOwnModel ? [] : unknown('compactionModel', compactionModel, known.compactionModels)),
  ];
}

function deprecated(mode: NonNullable<SessionSettings['autonomyMode']>): SessionWarning {
  return {
    path: 'sessionSettings.autonomyMode',
    message:
      'autonomyMode is deprecated in favour of interactionMode plus autonomyLevel; ' +
      `instead of "${mode}" write ${MEANING[mode]}`,
  };
}

function unknown(
  name: string,
  value: string | undefined,
  known: readonly string[] | undefined,
): SessionWarning[] {
  if (value === undefined || known === undefined || known.includes(value)) return [];
  return [
    {
      path: `sessionSettings.${name}`,
      message: `${name} "${value}" is not among the known ones; sent as it is`,
    },
  ];
}
