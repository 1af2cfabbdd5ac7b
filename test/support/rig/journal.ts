import { daysFrom, parseDay } from '../../../src/core/day.ts';
import type { Rig } from './rig.ts';

/** A request as the emulated service saw it. */
export interface Seen {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly status: number | null;
}

/** The requests since the journal was last reset, in order of arrival. */
export function requestsOf({ emulator }: Rig): Seen[] {
  const { recent, requests } = emulator.journal();
  if (recent.length !== requests)
    throw new Error(`the journal remembers ${recent.length} of ${requests} requests`);
  return recent.map(({ path, query, status }) => ({
    path,
    query: Object.fromEntries(new URLSearchParams(query)),
    status,
  }));
}

/** Returns the days for which analytics were requested, each once, in order. */
export function daysAsked(rig: Rig): string[] {
  return daysOf(requestsOf(rig));
}

/** Returns the days that requests name, each once, in order; with a stream, only the days of its requests. */
export function daysOf(requests: readonly Seen[], stream = ''): string[] {
  const days = requests.flatMap(({ path, query: { startDate, endDate } }) =>
    startDate === undefined || endDate === undefined || !path.endsWith(stream)
      ? []
      : daysFrom(parseDay(startDate), parseDay(endDate)),
  );
  return [...new Set(days)].sort();
}

/** How often a fault rule changed an answer. */
export function firings({ emulator }: Rig, id: string): number {
  return emulator.journal().rules.find((rule) => rule.id === id)?.firings ?? 0;
}
