import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { FIRST_DAY, shiftDay, type UtcDay } from '../../src/core/day.ts';
import type { JournalSnapshot } from '../../src/emulator/journal.ts';
import type { RevisionRequest } from '../../src/emulator/revise.ts';
import { childScript } from './process.ts';

/** Cache for all pages of a benchmark, so that none is generated during a measurement. */
const CACHE_BYTES_MAX = 2 * 1024 ** 3;
/** Number of requests in the journal: more than the pull that prepares the pages sends. */
const JOURNAL_ENTRIES_MAX = 50_000;

/** An organization. */
export interface Organization {
  readonly users: number;
  /** Days with data, from the first day on. */
  readonly days: number;
  /** All users are active every day, so that the size is exact. @default true */
  readonly steady?: boolean;
}

/** The emulated service of an organization, in its own process. */
export interface Service extends Organization {
  readonly url: string;
  readonly apiKey: string;
  /** The current day. */
  readonly today: UtcDay;
  /** Sets the latency of each response. */
  delay(ms: number): Promise<void>;
  /** Sets a quirk. */
  switch(quirks: Readonly<Record<string, unknown>>): Promise<void>;
  /** Changes past data. */
  revise(request: RevisionRequest): Promise<void>;
  /** Requests since {@link forget}. */
  journal(): Promise<JournalSnapshot>;
  forget(): Promise<void>;
  stop(): void;
}

/** Starts the service of an organization. */
export async function startService(organization: Organization): Promise<Service> {
  const today = shiftDay(FIRST_DAY, organization.days);
  const options = {
    today,
    users: organization.users,
    steady: organization.steady ?? true,
    realistic: true,
    cacheBytesMax: CACHE_BYTES_MAX,
    journalEntriesMax: JOURNAL_ENTRIES_MAX,
  };
  const child = spawn(process.execPath, [childScript('emulator.ts'), JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { url, apiKey } = JSON.parse(await firstLine(child));
  const admin = async (method: string, path: string, body?: unknown): Promise<Response> => {
    const response = await fetch(`${url}/__admin/${path}`, { method, body: JSON.stringify(body) ?? null });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return response;
  };
  return {
    ...organization,
    url,
    apiKey,
    today,
    delay: async (ms) => void (await admin('PUT', 'latency', { ms })),
    switch: async (quirks) => void (await admin('PUT', 'quirks', quirks)),
    revise: async (request) => void (await admin('POST', 'revisions', request)),
    journal: async () => JSON.parse(await (await admin('GET', 'journal')).text()),
    forget: async () => void (await admin('DELETE', 'journal')),
    stop: () => void child.kill(),
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the service has no output');
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('the service ended before it listened');
}
