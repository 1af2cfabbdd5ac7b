import {
  type AnalyticsPage,
  analyticsPage,
  analyticsRequest,
  type Hosts,
  type ReadinessPage,
  type ReportLimit,
  readinessPage,
  readinessRequest,
  USERS_LIMIT,
  walkUsers,
} from '../api/index.ts';
import type { Meter, Transport } from '../http/index.ts';
import type { Gate } from '../privacy/index.ts';
import { batchName, type DayBatch } from './plan.ts';

/** The hosts of the service, the transport for requests to them, and the gate that its responses pass. */
export interface Source {
  readonly transport: Transport;
  readonly hosts: Hosts;
  readonly gate: Gate;
}

export interface PullCall {
  readonly signal: AbortSignal;
  /** Counts the requests of the unit. */
  readonly meter: Meter;
}

/** The first page of a batch. All streams but `users` have only this one. */
export function pullFirstPage(source: Source, batch: DayBatch, call: PullCall): Promise<AnalyticsPage> {
  return pullPage(source, batch, {}, call);
}

/** The page of /users at a cursor. */
export function pullUsersPage(
  source: Source,
  batch: DayBatch,
  cursor: string | undefined,
  call: PullCall,
): Promise<AnalyticsPage> {
  return pullPage(source, { ...batch, stream: 'users' }, { cursor }, call);
}

/**
 * All pages of a batch, one after the other.
 * @param first the first page, if it was pulled already.
 */
export async function* pullBatch(
  source: Source,
  batch: DayBatch,
  call: PullCall,
  first?: AnalyticsPage,
): AsyncGenerator<AnalyticsPage, void, void> {
  if (batch.stream !== 'users') {
    yield first ?? (await pullFirstPage(source, batch, call));
    return;
  }
  const get = (cursor: string | undefined, page: number) => pullPage(source, batch, { cursor, page }, call);
  yield* walkUsers(get, `pull ${batchName(batch)}`, { first, ahead: true });
}

/** The answer to a batch, grouped (specification, section 4.2). */
export async function pullGrouped(
  { transport, hosts }: Source,
  batch: DayBatch,
  groupBy: string,
  call: PullCall,
): Promise<AnalyticsPage> {
  const { stream, days } = batch;
  const query = { startDate: days[0], endDate: days.at(-1) ?? days[0], groupBy };
  const answer = await transport.get(analyticsRequest(hosts, stream, query), call);
  return analyticsPage(answer, `pull ${batchName(batch)} by ${groupBy}`);
}

/**
 * The page of readiness reports after `startAfter`. Without it, the first page, which finds the limit for the others.
 */
export async function pullReadinessPage(
  source: Source,
  startAfter: string | undefined,
  call: PullCall,
  reportLimit: ReportLimit,
): Promise<ReadinessPage> {
  const pull = async (limit: number | undefined) => {
    const target = readinessRequest(source.hosts, { limit, startAfter });
    return readinessPage(await source.transport.get(target, call), 'pull readiness');
  };
  return startAfter === undefined ? reportLimit.firstPage(pull) : pull(reportLimit.current ?? undefined);
}

async function pullPage(
  { transport, hosts }: Source,
  batch: DayBatch,
  at: { readonly cursor?: string | undefined; readonly page?: number },
  call: PullCall,
): Promise<AnalyticsPage> {
  const { stream, days } = batch;
  const limit = stream === 'users' ? USERS_LIMIT.max : undefined;
  const range = { startDate: days[0], endDate: days.at(-1) ?? days[0] };
  const target = analyticsRequest(hosts, stream, { ...range, limit, page: null, ...at });
  return analyticsPage(await transport.get(target, call), `pull ${batchName(batch)}`);
}
