import { Settings } from 'typebox/system';

/** An invalid part of a value. */
export interface Violation {
  readonly path: string;
  readonly message: string;
}

/** A finding of the schema validator. */
interface Finding {
  readonly keyword: string;
  /** JSON pointer. */
  readonly instancePath: string;
  readonly params: object;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a finite number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  integer: 'a whole number',
};

/** Maximum number of findings; an unknown property causes two. */
const FINDINGS_MAX = 20_000;

/** A compiled schema. */
interface Validator {
  Errors(value: unknown): readonly Finding[];
}

/** All violations of a value, which messages call `root`; each one once. */
export function violationsOf(validator: Validator, value: unknown, root = 'request'): Violation[] {
  const violations = findingsOf(validator, value).flatMap((finding) => violationOf(finding, value, root));
  return [
    ...new Map(violations.map((violation) => [`${violation.path} ${violation.message}`, violation])).values(),
  ];
}

/** All findings. A validator stops after a few unless this process-wide setting is raised. */
function findingsOf(validator: Validator, value: unknown): readonly Finding[] {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: FINDINGS_MAX });
  try {
    return validator.Errors(value);
  } finally {
    Settings.Set({ maxErrors });
  }
}

function violationOf({ keyword, instancePath, params }: Finding, value: unknown, root: string): Violation[] {
  const keys = keysOf(instancePath);
  const at = (message: string, ...more: string[]): Violation[] => [
    { path: pathOf([...keys, ...more], value) || root, message },
  ];
  switch (keyword) {
    // An unknown property has a second finding, `boolean`.
    case 'additionalProperties':
      return [];
    case 'boolean':
      return at('unknown property');
    case 'required':
      return textsOf(params, 'requiredProperties').flatMap((name) => at('is required', name));
    // A value that may be null has a finding for each alternative and one for both.
    case 'anyOf':
      return [];
    case 'type':
      if (textsOf(params, 'type').includes('null')) return [];
      return at(`must be ${textsOf(params, 'type').map((type) => TYPES[type] ?? type)}`);
    case 'enum':
      return at(`must be one of ${textsOf(params, 'allowedValues').join(', ')}`);
    case 'minLength':
      return at('must not be empty');
    case 'maxLength':
      return at(`must not be longer than ${numberOf(params, 'limit')} characters`);
    case 'pattern':
      return at('must name a model after custom:');
    default:
      return at(`is not allowed (${keyword})`);
  }
}

function keysOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A path such as `sessionSettings.tags[0].colour`; '' without keys. */
function pathOf(keys: readonly string[], value: unknown): string {
  let path = '';
  let here = value;
  for (const key of keys) {
    if (Array.isArray(here)) path += `[${key}]`;
    else if (/^[A-Za-z_]\w*$/.test(key)) path += path === '' ? key : `.${key}`;
    else path += `[${JSON.stringify(key)}]`;
    here = memberOf(here, key);
  }
  return path;
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}

function textsOf(params: object, name: string): string[] {
  return [memberOf(params, name)].flat().filter((text) => typeof text === 'string');
}

function numberOf(params: object, name: string): number {
  return Number(memberOf(params, name));
}
