/**
 * What the specification allows in an answer, written down once more and apart from the program: names, kinds of values,
 * and which part of an answer a bad value costs. Shares no code with the validator that it judges.
 */

/** A kind of value: identifying text, number, text, flag, time, or a compound. */
export type Kind =
  | 'identity'
  | 'text'
  | 'label'
  | 'metric'
  | 'flag'
  | 'instant'
  | 'anything'
  | { readonly list: Shape | 'text' }
  | { readonly map: Shape | 'metric'; readonly required?: true }
  | { readonly object: Shape };

/** An object by its fields. */
export interface Shape {
  readonly fields: Readonly<Record<string, Kind>>;
  /** One of these must identify it. */
  readonly oneOf?: readonly string[];
}

/** A part of an answer that must be quarantined, and its place. */
export interface Aside {
  readonly path: string;
  readonly value: unknown;
  /** It is about a day that was not requested. */
  readonly isForeign?: true;
}

export type Json = Record<string, unknown>;

const all = (kind: Kind, names: string) =>
  Object.fromEntries(names.split(' ').map((name) => [name, kind] as const));

export const CREDITS = 'billable_tokens input_tokens output_tokens cache_read_tokens cache_write_tokens';
export const MODEL_NAMES = ['model_id', 'model', 'model_name', 'group_key'];
export const USER_NAMES = ['user_id', 'user', 'id', 'group_key'];

const model: Shape = {
  fields: { ...all('label', `${MODEL_NAMES.join(' ')} model_tier`), ...all('metric', CREDITS) },
  oneOf: MODEL_NAMES,
};
const counted = (name: string, count: string): Kind => ({
  list: { fields: { [name]: 'text', [count]: 'metric' } },
});

/** The rows of each endpoint. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  tokens: {
    fields: {
      date: 'identity',
      ...all('metric', CREDITS),
      by_model: { list: model },
      by_user: {
        list: {
          fields: {
            ...all('label', 'user_id group_key user_email'),
            ...all('anything', 'user id'),
            ...all('metric', CREDITS),
            by_model: { list: model },
          },
          oneOf: USER_NAMES,
        },
      },
    },
  },
  tools: {
    fields: {
      date: 'identity',
      ...all(
        'metric',
        'tool_calls mcp_users_with_mcp skills_invocations slash_commands_invocations hooks_invocations web_users ' +
          'autonomy_ratio_avg autonomy_ratio_p50 autonomy_ratio_p90 tool_calls_per_session_avg user_turns_per_session_avg',
      ),
      by_tool: counted('tool', 'invocations'),
      mcp_by_server: counted('server', 'invocations'),
      skills_by_name: counted('name', 'count'),
      slash_commands_by_name: counted('name', 'count'),
      hooks_by_event: {
        list: { fields: { event: 'text', matcher: 'label', command: 'label', count: 'metric' } },
      },
      tool_autonomy_level_ratio: {
        object: { fields: all('metric', 'auto_high auto_medium auto_low manual') },
      },
    },
  },
  activity: {
    fields: {
      date: 'identity',
      ...all(
        'metric',
        'daily_active_users weekly_active_users monthly_active_users sessions messages user_messages',
      ),
      daily_active_users_by_client: { map: 'metric' },
    },
  },
  productivity: {
    fields: {
      date: 'identity',
      ...all('metric', 'files_created files_edited git_commits git_prs_created'),
      by_extension: counted('extension', 'count'),
      by_language: counted('language', 'count'),
    },
  },
  users: {
    fields: {
      date: 'identity',
      user_id: 'identity',
      ...all('label', 'user_email primary_model primary_model_tier delegation_level'),
      ...all(
        'metric',
        'tool_calls billable_tokens files_created files_edited git_commits git_prs_created mcp_calls skill_calls ' +
          'slash_commands hooks sessions messages user_messages assistant_messages autonomy_ratio',
      ),
      languages: { list: 'text' },
    },
  },
  readiness: {
    fields: {
      reportId: 'identity',
      createdAt: 'instant',
      repoUrl: 'text',
      ...all('label', 'commitHash branch droidVersion'),
      ...all('flag', 'hasLocalChanges hasNonRemoteCommits'),
      modelUsed: { object: { fields: all('label', 'id reasoningEffort') } },
      apps: { map: { fields: { description: 'label' } }, required: true },
      report: {
        map: { fields: { ...all('metric', 'numerator denominator'), rationale: 'label' } },
        required: true,
      },
    },
  },
};

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Some databases cannot hold NUL or half of a character anywhere in a text. */
export function canBeStored(value: unknown): boolean {
  const left: unknown[] = [value];
  // Without recursion: no stack is as deep as an answer may be.
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string' && (next.includes('\0') || /\p{Surrogate}/u.test(next))) return false;
    if (typeof next !== 'object' || next === null) continue;
    for (const [name, member] of Object.entries(next)) left.push(name, member);
  }
  return true;
}

const unknowns = new WeakMap<Json, Map<string, unknown>>();

/** The fields of an object that no specification names, and under their name those of an object in it. */
export function unknownFields(kept: Json): Json {
  const found = new Map(unknowns.get(kept));
  for (const name of ['tool_autonomy_level_ratio', 'modelUsed']) {
    const inner = kept[name];
    const fields = isRecord(inner) ? unknowns.get(inner) : undefined;
    if (fields !== undefined && fields.size > 0) found.set(name, Object.fromEntries(fields));
  }
  return Object.fromEntries(found);
}

/** Returns the usable part of a value, or undefined; the smallest unusable parts are added to `aside`. */
export function usable(shape: Shape, value: unknown, path: string, aside: Aside[]): Json | undefined {
  const before = aside.length;
  const kept = isRecord(value) ? usableFields(shape, value, path, aside) : undefined;
  if (kept !== undefined) return kept;
  // The whole covers what was found in it.
  aside.splice(before, aside.length, { path, value });
  return undefined;
}

function usableFields(shape: Shape, value: Json, path: string, aside: Aside[]): Json | undefined {
  const kept: Json = {};
  const unknown = new Map<string, unknown>();
  for (const [name, member] of Object.entries(value)) {
    if (Object.hasOwn(shape.fields, name)) continue;
    if (!canBeStored(name) || !canBeStored(member)) return undefined;
    unknown.set(name, member);
  }
  unknowns.set(kept, unknown);
  for (const [name, kind] of Object.entries(shape.fields)) {
    const rest = usableMember(
      kind,
      Object.hasOwn(value, name) ? value[name] : undefined,
      `${path}.${name}`,
      aside,
    );
    if (rest === undefined) return undefined;
    kept[name] = rest;
  }
  const isNamed = (name: string) => typeof kept[name] === 'string' && kept[name] !== '';
  return shape.oneOf === undefined || shape.oneOf.some(isNamed) ? kept : undefined;
}

/** The usable rest of a member; undefined where it costs the object that it stands in. */
function usableMember(kind: Kind, value: unknown, path: string, aside: Aside[]): unknown {
  if (typeof kind === 'string') return isOfKind(kind, value) ? (value ?? null) : undefined;
  if (value === undefined || value === null)
    return 'map' in kind && kind.required === true ? undefined : null;
  if ('object' in kind) {
    const inside: Aside[] = [];
    return isRecord(value) ? usable(kind.object, value, path, inside) : undefined;
  }
  if ('list' in kind) {
    if (!Array.isArray(value)) return undefined;
    return value.flatMap((item: unknown, index) => {
      const rest = usableItem(kind.list, item, `${path}[${index}]`, { aside, record: item });
      return rest === undefined ? [] : [rest];
    });
  }
  if (!isRecord(value)) return undefined;
  return Object.entries(value).flatMap(([name, item]) => {
    const inside = `${path}[${JSON.stringify(name)}]`;
    const entry = Object.fromEntries([[name, item]]);
    if (!canBeStored(name)) {
      aside.push({ path: inside, value: entry });
      return [];
    }
    const rest = usableItem(kind.map, item, inside, { aside, record: kind.map === 'metric' ? entry : item });
    return rest === undefined ? [] : [[name, rest]];
  });
}

function usableItem(
  shape: Shape | 'text' | 'metric',
  item: unknown,
  path: string,
  { aside, record }: { aside: Aside[]; record: unknown },
): unknown {
  if (typeof shape !== 'string') return usable(shape, item, path, aside);
  if (isOfKind(shape, item)) return item;
  aside.push({ path, value: record });
  return undefined;
}

function isOfKind(kind: Exclude<Kind, object>, value: unknown): boolean {
  const isAbsent = value === undefined || value === null;
  switch (kind) {
    case 'identity':
      return typeof value === 'string' && value !== '' && canBeStored(value);
    case 'text':
      return typeof value === 'string' && canBeStored(value);
    case 'label':
      return isAbsent || (typeof value === 'string' && canBeStored(value));
    case 'flag':
      return isAbsent || typeof value === 'boolean';
    case 'metric':
      return isAbsent || (typeof value === 'number' && Math.abs(value) <= 2 ** 53 - 1);
    case 'anything':
      return canBeStored(value);
    case 'instant':
      return (
        typeof value === 'number' &&
        Number(value) >= Date.parse('0001-01-01T00:00:00Z') &&
        Number(value) <= Date.parse('9999-12-31T23:59:59.999Z')
      );
  }
}

const below = (row: Json, name: string, least: number) => typeof row[name] === 'number' && row[name] < least;
const above = (row: Json, name: string, most: unknown) =>
  typeof row[name] === 'number' && typeof most === 'number' && row[name] > most;
/** Averages and percentiles, which may be below 0, as may shares. */
const UNBOUNDED = /^autonomy_ratio|_avg$|^auto_|^manual$|^createdAt$/;

/** True if a record, or something in it, cannot be true. Lists and maps of entries were made into pairs, see {@link usable}. */
export function isImpossible(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isImpossible);
  if (!isRecord(value)) return false;
  const clients = value['daily_active_users_by_client'];
  const most = value['daily_active_users'];
  const isTooMany = (entry: unknown) =>
    Array.isArray(entry) &&
    typeof entry[1] === 'number' &&
    (entry[1] < 0 || above({ entry: entry[1] }, 'entry', most));
  return (
    Object.keys(value).some((name) => !UNBOUNDED.test(name) && below(value, name, 0)) ||
    below(value, 'denominator', 1) ||
    above(value, 'numerator', value['denominator']) ||
    above(value, 'user_messages', value['messages']) ||
    above(value, 'autonomy_ratio_p50', value['autonomy_ratio_p90']) ||
    above(value, 'daily_active_users', value['weekly_active_users']) ||
    above(value, 'weekly_active_users', value['monthly_active_users']) ||
    (Array.isArray(clients) && clients.some(isTooMany)) ||
    Object.values(value).some(isImpossible)
  );
}
