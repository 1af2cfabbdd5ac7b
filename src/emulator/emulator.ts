import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../core/clock.ts';
import { FIRST_DAY, isDay, startOfDayMs, type UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { ADMIN_PATH, answerAdmin, type Controls } from './admin.ts';
import { DAY_MS } from './dataset/population.ts';
import { applyActions } from './faults/apply.ts';
import { type FaultEngine, openFaults, parseRules, type Rule } from './faults/rules.ts';
import { type Journal, openJournal } from './journal.ts';
import { DEFAULT_QUIRKS, parseQuirks, type Quirks } from './quirks.ts';
import { type ApiCall, identifyCaller, readTarget, receiveUpload, type Upload } from './request.ts';
import { compressResponse, type PreparedResponse, showsResponse } from './response.ts';
import { type RevisionOutcome, type RevisionRequest, revise } from './revise.ts';
import { deliver, listen, runLater } from './server.ts';
import { openService, type Service } from './service.ts';
import { openWorld, type World } from './world.ts';

/** A running emulator. */
export interface Emulator extends Controls {
  /** Origin of both the main API host and the application host. */
  readonly url: string;
  /** The owner's key. */
  readonly apiKey: string;
  readonly orgId: string;
  /** Stops listening and destroys all connections, including those with a request in progress. May be repeated. */
  close(): Promise<void>;
}

/**
 * Starts a server on the loopback interface that serves the whole API of the specification. Its data depend on the
 * options alone.
 * @example
 * const emulator = await startEmulator({ today: '2026-03-01', users: 40, seed: 7 });
 * @throws {UsageError} for invalid options, quirks or rules, and when the port is taken.
 */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const resolved = resolveOptions(options);
  const world = openWorld({ ...resolved, quirks: parseQuirks(resolved.quirks) });
  const journal = openJournal(resolved.journalEntriesMax, resolved.clock.monotonicMs);
  const faults = openFaults(journal);
  faults.setRules(parseRules(resolved.rules));
  let { latencyMs } = resolved;

  function change(request: RevisionRequest): RevisionOutcome {
    const outcome = revise(request, world);
    world.changed();
    return outcome;
  }

  const controls: Controls = {
    keys: world.keys,
    journal: () => journal.snapshot(faults.ruleIds()),
    resetJournal: journal.reset,
    rules: faults.rules,
    setRules: (rules) => faults.setRules(parseRules(rules)),
    today: world.today,
    setToday: (day) => world.setToday(checkToday(day)),
    quirks: world.quirks,
    setQuirks: (changes) => world.setQuirks(parseQuirks(changes)),
    resetQuirks: () => world.setQuirks(DEFAULT_QUIRKS),
    setLatency: (ms) => {
      latencyMs = checkInteger('latencyMs', ms);
    },
    revise: change,
    repositories: () =>
      Array.from({ length: world.reports.repositories }, (_, repository) => ({
        repoId: world.reports.repositoryId(repository),
        repoUrl: world.reports.repositoryUrl(repository),
      })),
    sessions: world.sessions.all,
  };
  const serve = openExchange({
    world,
    service: openService(world, resolved),
    faults,
    journal,
    seed: resolved.seed,
    revise: change,
    latencyMs: () => latencyMs,
  });
  const server = await listen(
    (request, response) =>
      request.url?.startsWith(ADMIN_PATH)
        ? answerAdmin(controls, request, response)
        : receiveUpload(request, (upload) => serve(request, response, upload)),
    resolved,
  );
  return {
    ...controls,
    url: server.url,
    apiKey: world.keys.owner,
    orgId: world.orgId,
    close: server.close,
  };
}

/** The parts that serve one request together. */
interface ExchangeParts {
  readonly world: World;
  readonly service: Service;
  readonly faults: FaultEngine;
  readonly journal: Journal;
  readonly seed: number;
  revise(request: RevisionRequest): void;
  latencyMs(): number;
}

/**
 * Returns the function that serves a request: it reads the request, selects a fault, and prepares, sends and records the
 * response.
 */
function openExchange(
  parts: ExchangeParts,
): (request: IncomingMessage, response: ServerResponse, upload: Upload | null) => void {
  const { world, service, faults, journal } = parts;
  return (request, response, upload) => {
    const target = readTarget(request.url ?? '/', parts.seed);
    const call: ApiCall = {
      method: request.method ?? 'GET',
      target,
      caller: identifyCaller(request.headers.authorization, world.keys),
      inFlight: journal.inFlight() + 1,
      upload,
    };
    const fault = faults.decide(call, () => service.pageOf(target));
    const entry = journal.begin(call, fault?.id ?? null);
    response.once('close', entry.ended);

    const plain = fault === null ? service.answer(call) : prepareFaulty(fault, call, parts);
    const acceptEncoding = String(request.headers['accept-encoding'] ?? '');
    const prepared = applyTransportQuirks(plain, world.quirks(), acceptEncoding);
    const send = (): void => {
      if (showsResponse(prepared.delivery)) entry.sent(prepared.status);
      response.sendDate = false;
      const headers = { date: world.now().toUTCString(), 'x-request-id': target.requestId };
      deliver(prepared, { request, response, headers });
    };
    const waitMs = parts.latencyMs() + (prepared.delayMs ?? 0);
    if (waitMs === 0) send();
    else runLater(request.socket, waitMs, send);
  };
}

function prepareFaulty(
  { id, rule }: { id: string; rule: Rule },
  call: ApiCall,
  { service, world, journal, ...parts }: ExchangeParts,
): PreparedResponse {
  return applyActions([rule.action].flat(), {
    call,
    answer: (url) =>
      service.answer(url === undefined ? call : { ...call, target: readTarget(url, parts.seed) }),
    revise(request) {
      try {
        parts.revise(request);
      } catch (error) {
        // What the revision names may no longer exist. The journal records that; the client does not see it.
        if (!(error instanceof UsageError)) throw error;
        journal.missed(id);
      }
    },
    now: world.now,
    missed: () => journal.missed(id),
  });
}

/** Applies the quirks that affect every response. */
function applyTransportQuirks(
  prepared: PreparedResponse,
  { gzip, keepAlive }: Quirks,
  acceptEncoding: string,
): PreparedResponse {
  const encoded = gzip && /\bgzip\b/.test(acceptEncoding) ? compressResponse(prepared) : prepared;
  if (keepAlive || encoded.delivery !== undefined) return encoded;
  return { ...encoded, delivery: { type: 'fin', announced: false } };
}

/** The size and the behaviour of the emulated organization. */
export interface EmulatorOptions {
  /** The emulated day, `YYYY-MM-DD`; data exist until the day before. */
  readonly today: UtcDay | string;
  /**
   * Decides all data.
   * @default 1
   */
  readonly seed?: number | undefined;
  /**
   * Users over the whole first year, at most 1,000,000; 45 % exist on the first day.
   * @default 250
   */
  readonly users?: number | undefined;
  /**
   * Every user exists from the first day and is active every day, which gives a benchmark an exact size.
   * @default false
   */
  readonly steady?: boolean | undefined;
  /**
   * Readiness reports, at most 100,000.
   * @default 120
   */
  readonly reports?: number | undefined;
  /**
   * Port to listen on; 0 means any free port.
   * @default 0
   */
  readonly port?: number | undefined;
  /** The emulator listens on the loopback interface only. */
  readonly host?: '127.0.0.1' | undefined;
  /**
   * The owner's key.
   * @default derived from the seed
   */
  readonly apiKey?: string | undefined;
  /**
   * The organization's id.
   * @default derived from the seed
   */
  readonly orgId?: string | undefined;
  /**
   * Fault rules.
   * @default []
   */
  readonly rules?: readonly Rule[] | undefined;
  /**
   * Changes to the default behaviour.
   * @default {}
   */
  readonly quirks?: Partial<Quirks> | undefined;
  /**
   * Milliseconds before each response.
   * @default 0
   */
  readonly latencyMs?: number | undefined;
  /**
   * Requests that the journal keeps individually.
   * @default 1000
   */
  readonly journalEntriesMax?: number | undefined;
  /**
   * Maximum weight of the responses kept for repeated requests; 0 keeps none. 64 MiB hold about 130,000 rows of /users.
   * @default 67108864
   */
  readonly cacheBytesMax?: number | undefined;
  /**
   * Source of durations and of the time of day for the Date header; the day is always `today`. Use the machine's clock
   * when a client compares the Date header with its own.
   * @default a clock at which it is always noon, with real durations
   */
  readonly clock?: Clock | undefined;
}

/** Default, minimum and maximum of each number. */
const NUMBERS = {
  seed: [1, 0, 4_294_967_295],
  users: [250, 1, 1_000_000],
  reports: [120, 0, 100_000],
  port: [0, 0, 65_535],
  latencyMs: [0, 0, 600_000],
  journalEntriesMax: [1_000, 0, 100_000],
  cacheBytesMax: [64 * 1024 * 1024, 0, 4_294_967_296],
} as const;

/**
 * Fills in the defaults.
 * @throws {UsageError} when a number is out of range, `today` is not after the first day, or the key is unusable.
 */
export function resolveOptions(options: EmulatorOptions) {
  const numberOf = (name: keyof typeof NUMBERS) => checkInteger(name, options[name] ?? NUMBERS[name][0]);
  return {
    today: checkToday(options.today),
    seed: numberOf('seed'),
    users: numberOf('users'),
    steady: options.steady ?? false,
    reports: numberOf('reports'),
    port: numberOf('port'),
    host: options.host ?? '127.0.0.1',
    apiKey: checkKey(options.apiKey),
    orgId: options.orgId,
    rules: options.rules ?? [],
    quirks: options.quirks ?? {},
    latencyMs: numberOf('latencyMs'),
    journalEntriesMax: numberOf('journalEntriesMax'),
    cacheBytesMax: numberOf('cacheBytesMax'),
    clock: options.clock ?? systemClock(new Date(DAY_MS / 2)),
  };
}

/**
 * Checks the emulated day.
 * @throws {UsageError} when it is not a day after the first day with data.
 */
function checkToday(today: unknown): UtcDay {
  if (isDay(today) && startOfDayMs(today) > startOfDayMs(FIRST_DAY)) return today;
  throw new UsageError(`the emulator cannot use ${JSON.stringify(today)} as today`, {
    hint: `give a day after ${FIRST_DAY}, as YYYY-MM-DD`,
  });
}

/**
 * Checks a numeric option against its limits.
 * @throws {UsageError} when it is out of range.
 */
function checkInteger(name: keyof typeof NUMBERS, value: number): number {
  const [, min, max] = NUMBERS[name];
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new UsageError(`the emulator cannot use ${name} ${value}`, {
    hint: `${name} is a whole number from ${min} to ${max}`,
  });
}

function checkKey(apiKey: string | undefined): string | undefined {
  if (apiKey === undefined || /^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw new UsageError('the emulator cannot use this API key', {
    hint: 'use printable ASCII characters without spaces',
  });
}
