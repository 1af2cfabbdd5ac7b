/**
 * The expected content of a warehouse, computed from the answers in the simplest way: one request per day and stream,
 * and no code shared with the program.
 */

type Json = Record<string, unknown>;
/** Expected rows by table; each row lists its values in the order of the table's columns. */
export type Expected = Map<string, unknown[][]>;

interface Service {
  readonly url: string;
  readonly apiKey: string;
}

/** Reads everything that the service answers about these days, and its readiness reports. */
export async function expectedTables(service: Service, days: readonly string[]): Promise<Expected> {
  const expected: Expected = new Map();
  const put = (table: string, row: unknown[]) => {
    const rows = expected.get(table);
    if (rows === undefined) expected.set(table, [row]);
    else rows.push(row);
  };
  for (const day of days) {
    for (const stream of ['tokens', 'tools', 'activity', 'productivity'] as const) {
      const { data, meta } = await ask(service, stream, day);
      for (const row of list(data)) FLATTEN[stream](put, [text(object(meta)['org_id']), day], row);
    }
    for (const [orgId, user] of await users(service, day)) flattenUser(put, [orgId, day], user);
  }
  return expected;
}

async function ask(service: Service, path: string, day: string, more = ''): Promise<Json> {
  const url = `${service.url}/api/v1/analytics/${path}?startDate=${day}&endDate=${day}${more}`;
  return get(service, url);
}

async function get(service: Service, url: string): Promise<Json> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${service.apiKey}` } });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return object(await response.json());
}

async function users(service: Service, day: string): Promise<[string, Json][]> {
  const found = new Map<string, [string, Json]>();
  let cursor = '';
  for (;;) {
    const { data, meta } = await ask(service, 'users', day, `&limit=37${cursor}`);
    for (const user of list(data)) found.set(text(user['user_id']), [text(object(meta)['org_id']), user]);
    if (object(meta)['has_more'] !== true) return [...found.values()];
    cursor = `&cursor=${encodeURIComponent(text(object(meta)['next_cursor']))}`;
  }
}

/** Every readiness report, however the service pages. */
export async function expectedReports(service: Service): Promise<Map<string, Json>> {
  const reports = new Map<string, Json>();
  let after = '';
  for (;;) {
    const page = list(
      (await get(service, `${service.url}/api/organization/maturity-level-reports?limit=7${after}`))[
        'reports'
      ],
    );
    if (page.length === 0) return reports;
    for (const report of page) reports.set(text(report['reportId']), report);
    after = `&startAfter=${text(page.at(-1)?.['reportId'])}`;
  }
}

type Put = (table: string, row: unknown[]) => void;
type Flatten = (put: Put, scope: Scope, row: Json) => void;
type Scope = [orgId: string, day: string];
const CREDITS = [
  'billable_tokens',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
];

const FLATTEN: Record<'tokens' | 'tools' | 'activity' | 'productivity', Flatten> = {
  tokens: (put, scope, row) => {
    put('tokens_daily', [...scope, ...pick(row, CREDITS)]);
    for (const model of list(row['by_model'])) put('tokens_daily_by_model', [...scope, ...modelOf(model)]);
    for (const user of list(row['by_user'])) {
      const userId = user['user_id'] ?? user['user'] ?? user['id'] ?? user['group_key'];
      put('tokens_daily_by_user', [...scope, userId, user['user_email'] ?? null, ...pick(user, CREDITS)]);
      for (const model of list(user['by_model'])) {
        put('tokens_daily_by_user_model', [...scope, userId, ...modelOf(model)]);
      }
    }
  },
  tools: (put, scope, row) => {
    const levels = object(row['tool_autonomy_level_ratio'] ?? {});
    put('tools_daily', [
      ...scope,
      ...pick(row, [
        'tool_calls',
        'mcp_users_with_mcp',
        'skills_invocations',
        'slash_commands_invocations',
        'hooks_invocations',
        'web_users',
        'autonomy_ratio_avg',
        'autonomy_ratio_p50',
        'autonomy_ratio_p90',
        'tool_calls_per_session_avg',
        'user_turns_per_session_avg',
      ]),
      ...pick(levels, ['auto_high', 'auto_medium', 'auto_low', 'manual']),
    ]);
    for (const tool of list(row['by_tool']))
      put('tools_daily_by_tool', [...scope, tool['tool'], tool['invocations'] ?? null]);
    const servers = new Map<string, number | null>();
    for (const { server, invocations } of list(row['mcp_by_server'])) {
      const name = text(server).toLowerCase();
      const before = servers.get(name) ?? null;
      servers.set(name, typeof invocations === 'number' ? (before ?? 0) + invocations : before);
    }
    for (const [server, invocations] of servers)
      put('tools_daily_by_mcp_server', [...scope, server, invocations]);
    for (const skill of list(row['skills_by_name']))
      put('tools_daily_by_skill', [...scope, skill['name'], skill['count'] ?? null]);
    for (const command of list(row['slash_commands_by_name'])) {
      put('tools_daily_by_slash_command', [...scope, command['name'], command['count'] ?? null]);
    }
    for (const hook of list(row['hooks_by_event'])) {
      const key = [hook['event'], hook['matcher'] ?? '', hook['command'] ?? ''];
      put('tools_daily_by_hook', [...scope, ...key, hook['count'] ?? null]);
    }
  },
  activity: (put, scope, row) => {
    const names = [
      'daily_active_users',
      'weekly_active_users',
      'monthly_active_users',
      'sessions',
      'messages',
      'user_messages',
    ];
    put('activity_daily', [...scope, ...pick(row, names)]);
    for (const [client, count] of Object.entries(object(row['daily_active_users_by_client'] ?? {}))) {
      put('activity_daily_by_client', [...scope, client, count]);
    }
  },
  productivity: (put, scope, row) => {
    put('productivity_daily', [
      ...scope,
      ...pick(row, ['files_created', 'files_edited', 'git_commits', 'git_prs_created']),
    ]);
    for (const { extension, count } of list(row['by_extension']))
      put('productivity_daily_by_extension', [...scope, extension, count]);
    for (const { language, count } of list(row['by_language']))
      put('productivity_daily_by_language', [...scope, language, count]);
  },
};

const USER_COLUMNS = [
  'user_id',
  'user_email',
  'tool_calls',
  'billable_tokens',
  'primary_model',
  'primary_model_tier',
  'files_created',
  'files_edited',
  'git_commits',
  'git_prs_created',
  'mcp_calls',
  'skill_calls',
  'slash_commands',
  'hooks',
  'sessions',
  'messages',
  'user_messages',
  'assistant_messages',
  'autonomy_ratio',
  'delegation_level',
];

function flattenUser(put: Put, scope: Scope, user: Json): void {
  put('user_daily', [...scope, ...pick(user, USER_COLUMNS)]);
  for (const language of new Set(Array.isArray(user['languages']) ? user['languages'] : [])) {
    put('user_daily_languages', [...scope, user['user_id'], language]);
  }
}

function modelOf(model: Json): unknown[] {
  const id = model['model_id'] ?? model['model'] ?? model['model_name'] ?? model['group_key'];
  return [id, model['model_tier'] ?? null, ...pick(model, CREDITS)];
}

function pick(row: Json, names: readonly string[]): unknown[] {
  return names.map((name) => row[name] ?? null);
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}

function object(value: unknown): Json {
  if (typeof value !== 'object' || value === null)
    throw new Error(`expected an object, got ${String(value)}`);
  return value as Json;
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error(`expected a text, got ${String(value)}`);
  return value;
}
