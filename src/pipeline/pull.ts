import type { Meter, Transport } from '../api/http/transport.ts';
import { READINESS_LIMIT, USERS_LIMIT } from '../api/limits.ts';
import {
  type AnalyticsPage,
  analyticsPage,
  type ReadinessPage,
  readinessPage,
  walkUsers,
} from '../api/pages.ts';
import { analyticsTarget, type Hosts, readinessTarget } from '../api/targets.ts';
import type { DayUnit } from './plan.ts';

/** The service, as the pipeline needs it. */
export interface Source {
  readonly transport: Transport;
  readonly hosts: Hosts;
}

/** What goes along with every pull. */
export interface PullCall {
  readonly signal: AbortSignal;
  /** Counts the requests of the unit. */
  readonly meter: Meter;
}

/** The first page of a unit, which for all streams but `users` is the only one. */
export function pullFirstPage(
  source: Source,
  { stream, day }: DayUnit,
  call: PullCall,
): Promise<AnalyticsPage> {
  return pullPage(source, { stream, day }, undefined, call);
}

/**
 * All pages of a unit, one after the other; one day per request, which every server allows.
 * @param first the first page, where it is in hand already.
 */
export async function* pullDay(
  source: Source,
  unit: DayUnit,
  call: PullCall,
  first?: AnalyticsPage,
): AsyncGenerator<AnalyticsPage, void, void> {
  if (unit.stream !== 'users') {
    yield first ?? (await pullFirstPage(source, unit, call));
    return;
  }
  yield* walkUsers((cursor) => pullPage(source, unit, cursor, call), `pull users ${unit.day}`, first);
}

/** The page of readiness reports after `startAfter`; the first one without it. */
export async function pullReadinessPage(
  source: Source,
  startAfter: string | undefined,
  call: PullCall,
): Promise<ReadinessPage> {
  const target = readinessTarget(source.hosts, { limit: READINESS_LIMIT, startAfter });
  return readinessPage(await source.transport.get(target, call), 'pull readiness');
}

async function pullPage(
  { transport, hosts }: Source,
  { stream, day }: DayUnit,
  cursor: string | undefined,
  call: PullCall,
): Promise<AnalyticsPage> {
  const limit = stream === 'users' ? USERS_LIMIT.max : undefined;
  const target = analyticsTarget(hosts, stream, { startDate: day, endDate: day, limit, cursor });
  return analyticsPage(await transport.get(target, call), `pull ${stream} ${day}`);
}
