import { isObject } from '../../../src/core/json.ts';
import type { Clean, CleanAnswers } from './service.ts';

/** What an organization has lost. */
export interface Shrinkage {
  /** Days for which the service no longer has data. */
  readonly days: ReadonlySet<string>;
  /** Days on which only the users whom the function accepts remain. The number of active users agrees. */
  readonly users: ReadonlyMap<string, (userId: string) => boolean>;
  readonly hasReport: (reportId: string) => boolean;
}

/** The answers of an organization without losses. */
export const WHOLE: Shrinkage = { days: new Set(), users: new Map(), hasReport: () => true };

/** The responses of an emulator without the lost data of the organization. */
export class ShrunkenAnswers {
  readonly #clean: CleanAnswers;
  readonly #lost: Shrinkage;

  constructor(clean: CleanAnswers, lost: Shrinkage) {
    this.#clean = clean;
    this.#lost = lost;
  }

  /** The answer to a path with its query. */
  async to(path: string): Promise<Clean> {
    const clean = await this.#clean.get(path);
    const sent: unknown = clean.status === 200 ? JSON.parse(clean.body.toString()) : null;
    if (!isObject(sent)) return clean;
    const { data, reports } = sent;
    const left = Array.isArray(data)
      ? { ...sent, data: await this.#rowsOf(path, data) }
      : { ...sent, reports: Array.isArray(reports) ? await this.#reportsOf(path, reports) : reports };
    return { ...clean, body: Buffer.from(JSON.stringify(left)) };
  }

  async #rowsOf(path: string, data: readonly unknown[]): Promise<unknown[]> {
    const rows: unknown[] = [];
    for (const row of data) {
      const date = isObject(row) ? String(row['date']) : '';
      const isKept = this.#lost.users.get(date);
      if (!isObject(row) || this.#lost.days.has(date)) continue;
      if (isKept === undefined) rows.push(row);
      else if (path.includes('/activity') && 'daily_active_users' in row && !('group_key' in row))
        rows.push(withUsers(row, await this.#usersLeft(date, isKept)));
      else if (!path.includes('/users') || isKept(String(row['user_id']))) rows.push(row);
    }
    return rows;
  }

  async #usersLeft(date: string, isKept: (userId: string) => boolean): Promise<number> {
    const path = `/api/v1/analytics/users?startDate=${date}&endDate=${date}&limit=100`;
    const { data }: { data: { user_id: string }[] } = JSON.parse(
      (await this.#clean.get(path)).body.toString(),
    );
    return data.filter(({ user_id: id }) => isKept(id)).length;
  }

  /** An emptied page would look like the end of the list, so the next page takes its place. */
  async #reportsOf(path: string, reports: readonly unknown[]): Promise<unknown[]> {
    const left = reports.filter(
      (report) => isObject(report) && this.#lost.hasReport(String(report['reportId'])),
    );
    const last = reports.at(-1);
    if (left.length > 0 || !isObject(last)) return left;
    const url = new URL(path, 'http://service');
    url.searchParams.set('startAfter', String(last['reportId']));
    const next = await this.to(url.pathname + url.search);
    const { reports: following }: { reports: unknown[] } = JSON.parse(next.body.toString());
    return following;
  }
}

/** A row of activity with fewer users. No client has more of them. */
function withUsers(row: Record<string, unknown>, left: number): object {
  const clients = row['daily_active_users_by_client'];
  const fewer = Object.entries(isObject(clients) ? clients : {}).map(([client, users]) => [
    client,
    typeof users === 'number' ? Math.min(users, left) : users,
  ]);
  return { ...row, daily_active_users: left, daily_active_users_by_client: Object.fromEntries(fewer) };
}
