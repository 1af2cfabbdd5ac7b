import type { Size } from './measure.ts';

/** Cost of a day: a fixed part, and a part per active user. */
export interface Fit {
  readonly perDay: number;
  readonly perUserDay: number;
}

const MEASURES = ['rows', 'tokensRows', 'usersRows', 'sqliteBytes', 'postgresBytes'] as const;
type Measure = (typeof MEASURES)[number];

/** The straight line through the smallest and the largest organization. */
export function fitted(sizes: readonly Size[]): Record<string, Fit> {
  return Object.fromEntries(MEASURES.map((name) => [name, line(sizes, name)]));
}

function line(sizes: readonly Size[], name: Measure): Fit {
  const [small, large] = [sizes.at(0), sizes.at(-1)];
  if (small === undefined || large === undefined || small.users === large.users) {
    throw new RangeError('a line needs two organizations of different sizes');
  }
  const perUserDay = (large[name] / large.days - small[name] / small.days) / (large.users - small.users);
  return {
    perDay: Math.round(small[name] / small.days - perUserDay * small.users),
    perUserDay: Math.round(perUserDay * 100) / 100,
  };
}

/** The measurements as a Markdown table, by day of the organization. */
export function formattedSizes(sizes: readonly Size[]): string {
  const lines = sizes.map((size) => {
    const { users, days } = size;
    const perDay = (value: number) => Math.round(value / days).toLocaleString('en');
    const perUserDay = (value: number) => (value / days / users).toFixed(2);
    return [
      users.toLocaleString('en'),
      String(days),
      perDay(size.rows),
      perUserDay(size.rows),
      perDay(size.sqliteBytes),
      perDay(size.postgresBytes),
      size.requests.toLocaleString('en'),
      String(size.requestsPerNight),
      Math.round(size.rows / size.sqliteSeconds).toLocaleString('en'),
      Math.round(size.rows / size.postgresSeconds).toLocaleString('en'),
    ];
  });
  const heads = [
    'active users',
    'days',
    'rows a day',
    'rows a user-day',
    'SQLite bytes a day',
    'PostgreSQL bytes a day',
    'requests for all days',
    'requests a night',
    'rows/s into SQLite',
    'rows/s into PostgreSQL',
  ];
  return [heads, heads.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
