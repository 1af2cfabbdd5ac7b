import { ANALYTICS_PATHS, READINESS_PATH } from '../../../src/contract/paths.ts';
import { daysFrom, FIRST_DAY, parseDay, type UtcDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';
import { serve } from '../fuzz/mutating-server.ts';

/** A row of an answer, as an adversary may send it. */
export type SentRow = Readonly<Record<string, unknown>>;

/** How the answers differ from the truth; what is absent is true. */
export interface Lie {
  readonly rows?: (stream: DailyStream, rows: readonly SentRow[]) => readonly SentRow[];
  /** The organization that analytics are about. @default `org_own` */
  readonly orgId?: string;
  /** Requests that get status 400. @default none */
  readonly refuses?: (query: URLSearchParams) => boolean;
  readonly reports?: (reports: readonly SentRow[]) => readonly SentRow[];
}

/** A service with twelve reports that shares no code with the emulator. Its answers follow the current lie. */
export interface Adversary {
  readonly url: string;
  /** The IDs of its users, who are all active every day. */
  readonly users: readonly string[];
  /** The last day with data. */
  lastDay: UtcDay;
  lie: Lie;
}

const USERS: readonly string[] = ['ada', 'ben', 'cem', 'dia'];

/** Starts an adversary, which tells the truth until it is told otherwise. It closes itself when the test ends. */
export async function startAdversary(lastDay: UtcDay, users = USERS): Promise<Adversary> {
  const adversary = { url: '', lastDay, users, lie: {} as Lie };
  adversary.url = await serve(async (path) => {
    const { pathname, searchParams } = new URL(path, 'http://adversary');
    const stream = DAILY_STREAMS.find((name) => ANALYTICS_PATHS[name] === pathname);
    const body =
      pathname === READINESS_PATH
        ? reportsAfter(adversary.lie, searchParams.get('startAfter'))
        : stream === undefined
          ? { detail: 'not found' }
          : rowsOf(stream, adversary, searchParams);
    const isRefused = adversary.lie.refuses?.(searchParams) === true;
    const status = 'detail' in body ? 404 : isRefused ? 400 : 200;
    return { status, headers: {}, body: Buffer.from(JSON.stringify(body)) };
  });
  return adversary;
}

/** True for a request for sums by model. */
export function isGrouped(query: URLSearchParams): boolean {
  return query.has('group_by') || query.has('groupBy');
}

function rowsOf(stream: DailyStream, { lastDay, lie, users }: Adversary, query: URLSearchParams) {
  const start_date = parseDay(query.get('startDate') ?? '');
  const end_date = parseDay(query.get('endDate') ?? '');
  const days = daysFrom(start_date, end_date < lastDay ? end_date : lastDay);
  const isByModel = isGrouped(query);
  const from = users.indexOf(query.get('cursor') ?? '') + 1;
  const page = users.slice(from, from + Number(query.get('limit') ?? 20));
  const rows = days
    .filter((day) => day >= FIRST_DAY)
    .flatMap((date) =>
      isByModel
        ? [{ date, group_key: 'm', ...credits(users.length) }]
        : TRUTH[stream](date, stream === 'users' ? page : users),
    );
  const hasMore = from + page.length < users.length;
  const paging =
    stream === 'users' ? { has_more: hasMore, ...(hasMore && { next_cursor: page.at(-1) }) } : {};
  return {
    data: lie.rows?.(stream, rows) ?? rows,
    meta: { org_id: lie.orgId ?? 'org_own', start_date, end_date, ...paging },
  };
}

const credits = (users: number) => ({ billable_tokens: 100 * users, input_tokens: 50 * users });

const TRUTH: Readonly<Record<DailyStream, (date: UtcDay, users: readonly string[]) => readonly SentRow[]>> = {
  tokens: (date, { length }) => [
    { date, ...credits(length), by_model: [{ model_id: 'm', ...credits(length) }], by_user: [] },
  ],
  tools: (date) => [
    {
      date,
      tool_calls: 20,
      by_tool: [{ tool: 'Read', invocations: 20 }],
      autonomy_ratio_p50: 1,
      autonomy_ratio_p90: 2,
    },
  ],
  activity: (date, { length }) => [
    {
      ...{ date, daily_active_users: length, weekly_active_users: length, monthly_active_users: length },
      ...{ daily_active_users_by_client: { web: length }, sessions: 4, messages: 40, user_messages: 16 },
    },
  ],
  productivity: (date) => [{ date, files_created: 4, files_edited: 8, git_commits: 4, git_prs_created: 0 }],
  users: (date, users) =>
    users.map((user_id) => ({
      ...{ date, user_id, user_email: `${user_id}@example.com`, tool_calls: 5, billable_tokens: 100 },
      ...{ files_created: 1, files_edited: 2, git_commits: 1, git_prs_created: 0, languages: ['Go'] },
      ...{ sessions: 1, messages: 10, user_messages: 4, assistant_messages: 6 },
    })),
};

const REPORTS: readonly SentRow[] = Array.from({ length: 12 }, (_, index) => ({
  reportId: `report-${String(index).padStart(2, '0')}`,
  createdAt: Date.parse('2026-02-01T00:00:00Z') - index * 60_000,
  repoUrl: `https://example.com/repository-${index}`,
  apps: { '.': { description: 'all of it' } },
  report: { readme: { numerator: 1, denominator: 2 } },
}));

function reportsAfter({ reports }: Lie, id: string | null) {
  const all = reports?.(REPORTS) ?? REPORTS;
  return { reports: id === null ? all : all.slice(all.findIndex(({ reportId }) => reportId === id) + 1) };
}
