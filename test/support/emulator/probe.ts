import { onTestFinished } from 'vitest';
import { ANALYTICS_PATHS, READINESS_PATH } from '../../../src/contract/paths.ts';
import type { ReadinessReport, UserRow } from '../../../src/contract/shapes.ts';
import { parseDay, type UtcDay } from '../../../src/core/day.ts';
import type { DailyStream } from '../../../src/core/stream.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';

/** An answer over TCP. `json` is null when the body is not JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

/** JSON of any shape; missing parts are undefined. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of any shape, and fails where one is missing
export type Json = any;

/** An emulator with a client. */
export interface Probe {
  readonly emulator: Emulator;
  get(path: string, options?: { key?: string | null; headers?: Record<string, string> }): Promise<Answer>;
  /** The rows of an endpoint for one day or a range `first..last`. */
  rows(stream: DailyStream, days: string, extra?: string): Promise<Json[]>;
  /** All pages of /users. */
  walk(days: string, extra?: string): Promise<{ rows: UserRow[]; pages: number; cursors: string[] }>;
  /** All pages of the readiness list. */
  reports(extra?: string): Promise<{ reports: ReadinessReport[]; pages: number }>;
}

/** The day that most tests use as today. */
export const TODAY = parseDay('2026-06-01');

/** The path of an endpoint with its range. */
export function pathOf(stream: DailyStream, days: string, extra = ''): string {
  const [first = '', last = first] = days.split('..');
  return `${ANALYTICS_PATHS[stream]}?startDate=${first}&endDate=${last}${extra === '' ? '' : `&${extra}`}`;
}

/** Starts an emulator that is closed when the test ends. */
export async function probe(
  options: Omit<EmulatorOptions, 'today'> & { today?: UtcDay } = {},
): Promise<Probe> {
  const emulator = await startEmulator({ today: TODAY, ...options });
  onTestFinished(() => emulator.close());
  return probeOf(emulator);
}

/** Creates a client of an emulator that the caller closes. */
export function probeOf(emulator: Emulator): Probe {
  async function get(
    path: string,
    { key = emulator.apiKey, headers = {} }: { key?: string | null; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const credential = key === null ? {} : { authorization: `Bearer ${key}` };
    const response = await fetch(emulator.url + path, {
      headers: { ...credential, ...headers },
      redirect: 'manual',
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parse(text) };
  }

  async function rows(stream: DailyStream, days: string, extra = ''): Promise<Json[]> {
    const answer = await get(pathOf(stream, days, extra));
    if (answer.status !== 200) throw new Error(`${stream} ${days}: ${answer.status} ${answer.text}`);
    return answer.json.data;
  }

  async function walk(days: string, extra = 'limit=100') {
    const all: UserRow[] = [];
    const cursors: string[] = [];
    for (let pages = 1; pages <= 2_000; pages++) {
      const cursor = cursors.at(-1);
      const answer = await get(
        pathOf(
          'users',
          days,
          `${extra}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        ),
      );
      if (answer.status !== 200) throw new Error(`users ${days}: ${answer.status} ${answer.text}`);
      all.push(...answer.json.data);
      if (!answer.json.meta.has_more) return { rows: all, pages, cursors };
      cursors.push(answer.json.meta.next_cursor);
    }
    throw new Error('the walk did not end');
  }

  async function reports(extra = 'limit=7') {
    const all: ReadinessReport[] = [];
    for (let pages = 1; pages <= 2_000; pages++) {
      const last = all.at(-1);
      const answer = await get(
        `${READINESS_PATH}?${extra}${last === undefined ? '' : `&startAfter=${last.reportId}`}`,
      );
      if (answer.status !== 200) throw new Error(`readiness: ${answer.status} ${answer.text}`);
      if (answer.json.reports.length === 0) return { reports: all, pages };
      all.push(...answer.json.reports);
    }
    throw new Error('the walk did not end');
  }

  return { emulator, get, rows, walk, reports };
}

/** The sum of one number over rows. */
export function sumOf(rows: readonly Json[], field: string): number {
  return rows.reduce((sum, row) => sum + row[field], 0);
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
