import type { PageReader } from '../data/reader.ts';
import type { Headline } from '../page/page.ts';
import { headline } from './headline.ts';

const METRICS = {
  credits: { metric: 'billable_tokens', title: 'Credits', format: 'compact' },
  users: { metric: 'active_users', title: 'Active users', format: 'count' },
  sessions: { metric: 'sessions', title: 'Sessions', format: 'compact' },
  commits: { metric: 'git_commits', title: 'Commits', format: 'compact' },
} as const;
const together = Object.values(METRICS).map(({ metric }) => metric);

/** The headlines of the organization or a team, from one statement per period. */
export async function mainNumbers(reader: PageReader): Promise<Record<keyof typeof METRICS, Headline>> {
  return {
    credits: await headline(reader, { ...METRICS.credits, together }),
    users: await headline(reader, { ...METRICS.users, together }),
    sessions: await headline(reader, { ...METRICS.sessions, together }),
    commits: await headline(reader, { ...METRICS.commits, together }),
  };
}
