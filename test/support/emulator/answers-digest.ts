import { createHash } from 'node:crypto';
import { READINESS_PATH } from '../../../src/contract/paths.ts';
import { parseDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS } from '../../../src/core/stream.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';

/** Requests that touch every endpoint, grouping and kind of breakdown. */
export const REQUESTS: readonly string[] = [
  ...DAILY_STREAMS.flatMap((stream) => [
    `/api/v1/analytics/${stream}?startDate=2026-02-03&endDate=2026-02-03`,
    `/api/v1/analytics/${stream}?startDate=2026-02-27&endDate=2026-03-02`,
  ]),
  '/api/v1/analytics/tokens?startDate=2026-02-03&endDate=2026-02-04&group_by=model',
  '/api/v1/analytics/tools?startDate=2026-02-03&endDate=2026-02-04&group_by=tool_name',
  '/api/v1/analytics/activity?startDate=2026-02-03&endDate=2026-02-04&group_by=client',
  '/api/v1/analytics/users?startDate=2026-02-03&endDate=2026-02-03&limit=100',
  '/api/v1/analytics/users?startDate=2026-02-03&endDate=2026-02-30',
  `${READINESS_PATH}?limit=30`,
];

/** An emulator for {@link REQUESTS}. */
export function startForDigest(): Promise<Emulator> {
  return startEmulator({ realistic: true, today: parseDay('2026-04-01'), seed: 7, users: 80, reports: 40 });
}

/** Fetches a path and returns its status with its body. */
export async function fetchText(emulator: Emulator, path: string): Promise<string> {
  const response = await fetch(emulator.url + path, {
    headers: { authorization: `Bearer ${emulator.apiKey}` },
  });
  return `${response.status} ${await response.text()}`;
}

/** One SHA-256 over all answers, in the order of {@link REQUESTS}. */
export function digestOf(answers: readonly string[]): string {
  return createHash('sha256').update(answers.join('\n')).digest('hex');
}
