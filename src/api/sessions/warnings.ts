import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { UsageError } from '../../core/errors.ts';
import type { SessionRequest } from './request.ts';
import { CURRENT_MODEL, type SessionSettings } from './settings.ts';
import { violationsOf } from './violations.ts';

/** A deprecated or unknown value in a request. The service may accept it. */
export interface SessionWarning {
  /** Its path in the request: `sessionSettings.autonomyMode`. */
  readonly path: string;
  readonly message: string;
}

const List = Type.Optional(Type.Array(Type.String()));

/**
 * The identifiers that you know of the lists that the specification omits: `providers` for `providerLock`,
 * `apiProviders` for `apiProviderLock`, `compactionModels` for `compactionModel`, where `current-model` and `custom:…`
 * are always known. An unknown identifier is still sent, with a warning. A missing list never warns.
 */
export const KnownIdentifiers = Type.Object(
  { providers: List, apiProviders: List, compactionModels: List },
  { additionalProperties: false },
);
export type KnownIdentifiers = Static<typeof KnownIdentifiers>;

const knownCheck = Compile(KnownIdentifiers);

/**
 * Checks known identifiers.
 * @throws {UsageError} naming every violation with its path.
 */
export function parseKnownIdentifiers(value: unknown): KnownIdentifiers {
  if (knownCheck.Check(value)) return value;
  const violations = violationsOf(knownCheck, value, 'document');
  throw new UsageError(
    `known identifiers: ${violations.map(({ path, message }) => `${path}: ${message}`).join('; ')}`,
    { hint: 'write them like {"providers": ["service"], "apiProviders": [], "compactionModels": []}' },
  );
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
    ...(autonomyMode === undefined ? [] : [deprecationWarning(autonomyMode)]),
    ...unknownValueWarning('providerLock', providerLock, known.providers),
    ...unknownValueWarning('apiProviderLock', apiProviderLock, known.apiProviders),
    ...(isOwnModel ? [] : unknownValueWarning('compactionModel', compactionModel, known.compactionModels)),
  ];
}

function deprecationWarning(mode: NonNullable<SessionSettings['autonomyMode']>): SessionWarning {
  return {
    path: 'sessionSettings.autonomyMode',
    message:
      'autonomyMode is deprecated in favour of interactionMode plus autonomyLevel; ' +
      `instead of "${mode}" write ${MEANING[mode]}`,
  };
}

function unknownValueWarning(
  name: string,
  value: string | undefined,
  known: readonly string[] | undefined,
): SessionWarning[] {
  if (value === undefined || known === undefined || known.includes(value)) return [];
  return [
    {
      path: `sessionSettings.${name}`,
      message: `${name} "${value}" is not among the known ones; it is sent unchanged`,
    },
  ];
}
