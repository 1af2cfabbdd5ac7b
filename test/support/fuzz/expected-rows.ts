import { CREDITS, type Json, MODEL_NAMES, USER_NAMES, unknownFields } from './rules.ts';

/** A row that must be stored: its values by column, those of a day without organization and date. */
export type ExpectedRow = Json;

/** The rows of each table. */
export type Expected = Map<string, ExpectedRow[]>;

/** Numbers of one group whose sum no double holds exactly: the unit must fail. */
export class CannotBeSummed extends Error {}

/** The tables with one row per row of an answer. */
export const MAIN: ReadonlySet<string> = new Set([
  'tokens_daily',
  'tools_daily',
  'activity_daily',
  'productivity_daily',
  'user_daily',
  'readiness_reports',
]);

type Put = (table: string, row: ExpectedRow) => void;

/** The rows that the usable rows of one day make; elements with the same key are summed. */
export function expectedRows(stream: string, rows: readonly Json[]): Expected {
  const found: Expected = new Map();
  for (const row of rows) {
    FLATTEN[stream]?.((table, values) => {
      put(found, table, MAIN.has(table) ? { ...values, extra: unknownFields(row) } : values);
    }, row);
  }
  for (const [table, key] of Object.entries(SUMMED)) {
    const all = found.get(table);
    if (all !== undefined) found.set(table, summed(all, key.split(' ')));
  }
  const servers = found.get('tools_daily_by_mcp_server');
  if (servers !== undefined) found.set('tools_daily_by_mcp_server', mergedServers(servers));
  return found;
}

function put(found: Expected, table: string, row: ExpectedRow): void {
  const all = found.get(table);
  if (all === undefined) found.set(table, [row]);
  else all.push(row);
}

/** Tables of lists that have no order, by the key in which an element may occur again. */
const SUMMED: Readonly<Record<string, string>> = {
  tokens_daily_by_model: 'model_id',
  tokens_daily_by_user: 'user_id',
  tokens_daily_by_user_model: 'user_id model_id',
  tools_daily_by_tool: 'tool',
  tools_daily_by_skill: 'name',
  tools_daily_by_slash_command: 'name',
  tools_daily_by_hook: 'event matcher command',
  productivity_daily_by_extension: 'extension',
  productivity_daily_by_language: 'language',
};

const list = (value: unknown): Json[] => (Array.isArray(value) ? value : []);
const entries = (value: unknown): [string, unknown][] => (Array.isArray(value) ? value : []);
const pick = (row: Json, names: string): Json =>
  Object.fromEntries(names.split(' ').map((name) => [name, row[name] ?? null]));

const nameIn = (names: readonly string[], element: Json): string =>
  names.find((key) => typeof element[key] === 'string' && element[key] !== '') ?? '';

function modelRow(element: Json): ExpectedRow {
  return {
    model_id: element[nameIn(MODEL_NAMES, element)],
    model_tier: element['model_tier'] ?? null,
    ...pick(element, CREDITS),
  };
}

function counted(put: Put, table: string, elements: unknown, names: string): void {
  for (const element of list(elements)) put(table, pick(element, names));
}

const FLATTEN: Readonly<Record<string, (put: Put, row: Json) => void>> = {
  tokens: (put, row) => {
    put('tokens_daily', pick(row, CREDITS));
    for (const element of list(row['by_model'])) put('tokens_daily_by_model', modelRow(element));
    for (const user of list(row['by_user'])) {
      const user_id = user[nameIn(USER_NAMES, user)];
      put('tokens_daily_by_user', { user_id, ...pick(user, `user_email ${CREDITS}`) });
      for (const element of list(user['by_model']))
        put('tokens_daily_by_user_model', { user_id, ...modelRow(element) });
    }
  },
  tools: (put, row) => {
    const levels = Object.entries((row['tool_autonomy_level_ratio'] ?? {}) as Json);
    const autonomy = ['auto_high', 'auto_medium', 'auto_low', 'manual'].map((level) => [
      `autonomy_${level}`,
      levels.find(([name]) => name === level)?.[1] ?? null,
    ]);
    const metrics = pick(
      row,
      'tool_calls mcp_users_with_mcp skills_invocations slash_commands_invocations hooks_invocations web_users ' +
        'autonomy_ratio_avg autonomy_ratio_p50 autonomy_ratio_p90 tool_calls_per_session_avg user_turns_per_session_avg',
    );
    put('tools_daily', { ...metrics, ...Object.fromEntries(autonomy) });
    counted(put, 'tools_daily_by_tool', row['by_tool'], 'tool invocations');
    counted(put, 'tools_daily_by_mcp_server', row['mcp_by_server'], 'server invocations');
    counted(put, 'tools_daily_by_skill', row['skills_by_name'], 'name count');
    counted(put, 'tools_daily_by_slash_command', row['slash_commands_by_name'], 'name count');
    for (const hook of list(row['hooks_by_event'])) {
      const { event, matcher, command, count } = hook;
      put('tools_daily_by_hook', { event, matcher: matcher ?? '', command: command ?? '', count });
    }
  },
  activity: (put, row) => {
    put(
      'activity_daily',
      pick(
        row,
        'daily_active_users weekly_active_users monthly_active_users sessions messages user_messages',
      ),
    );
    for (const [client, count] of entries(row['daily_active_users_by_client']))
      put('activity_daily_by_client', { client, daily_active_users: count });
  },
  productivity: (put, row) => {
    put('productivity_daily', pick(row, 'files_created files_edited git_commits git_prs_created'));
    counted(put, 'productivity_daily_by_extension', row['by_extension'], 'extension count');
    counted(put, 'productivity_daily_by_language', row['by_language'], 'language count');
  },
  users: (put, row) => {
    const { languages, date: _, ...values } = row;
    put('user_daily', values);
    for (const language of new Set(Array.isArray(languages) ? languages : []))
      put('user_daily_languages', { user_id: row['user_id'], language });
  },
  readiness: (put, row) => {
    const { reportId: report_id, modelUsed } = row;
    const flag = (value: unknown) => (typeof value === 'boolean' ? Number(value) : null);
    const model = new Map(Object.entries((modelUsed ?? {}) as Json));
    put('readiness_reports', {
      report_id,
      created_at: new Date(Math.round(Number(row['createdAt']))).toISOString(),
      repo_url: row['repoUrl'],
      commit_hash: row['commitHash'],
      branch: row['branch'],
      has_local_changes: flag(row['hasLocalChanges']),
      has_non_remote_commits: flag(row['hasNonRemoteCommits']),
      model_id: model.get('id') ?? null,
      model_reasoning_effort: model.get('reasoningEffort') ?? null,
      droid_version: row['droidVersion'],
    });
    for (const [app_path, app] of entries(row['apps']))
      put('readiness_report_apps', { report_id, app_path, description: (app as Json)['description'] });
    for (const [criterion_id, criterion] of entries(row['report']))
      put('readiness_report_criteria', { report_id, criterion_id, ...(criterion as Json) });
  },
};

/** One row per key: numbers are summed, of texts the greatest counts. */
function summed(rows: readonly ExpectedRow[], key: readonly string[]): ExpectedRow[] {
  const groups = new Map<string, ExpectedRow[]>();
  for (const row of rows) {
    const name = JSON.stringify(key.map((column) => row[column]));
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups.values()].map((same) => {
    const [first = {}] = same;
    if (same.length === 1) return first;
    const columns = Object.keys(first).map((name) => [name, merged(same.map((row) => row[name]))]);
    return Object.fromEntries(columns);
  });
}

function merged(values: readonly unknown[]): unknown {
  const present = values.filter((value) => value !== null);
  const numbers = present.filter((value) => typeof value === 'number');
  if (numbers.length > 0) return sumOf(numbers);
  return present.map(String).sort(byCodeUnits).at(-1) ?? null;
}

const byCodeUnits = (a: string, b: string) => (a < b ? -1 : Number(a > b));

/** Smaller numbers first, so that the order of a list does not matter. */
function sumOf(numbers: readonly number[]): number {
  const sum = [...numbers].sort((a, b) => a - b).reduce((total, value) => total + value, 0);
  if (numbers.length > 1 && Math.abs(sum) > 2 ** 53 - 1) throw new CannotBeSummed();
  return sum;
}

/** Spellings that differ by case are one server, and each spelling is kept with its own sum. */
function mergedServers(rows: readonly ExpectedRow[]): ExpectedRow[] {
  const servers = new Map<string, ExpectedRow[]>();
  for (const row of summed(rows, ['server'])) {
    const name = String(row['server']).toLowerCase();
    servers.set(name, [...(servers.get(name) ?? []), row]);
  }
  return [...servers].map(([server, spellings]) => ({
    server,
    invocations: merged(spellings.map(({ invocations }) => invocations)),
    spellings: Object.fromEntries(
      spellings.map(({ server: name, invocations }) => [String(name), invocations]),
    ),
  }));
}
