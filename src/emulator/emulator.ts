import type { IncomingMessage, ServerResponse } from 'node:http';
import { UsageError } from '../core/errors.ts';
import { ADMIN_PATH, answerAdmin, type Controls } from './admin.ts';
import { applyActions } from './faults/apply.ts';
import { type FaultEngine, openFaults, parseRules, type Rule } from './faults/rules.ts';
import { type Journal, openJournal } from './journal.ts';
import { checkInteger, checkToday, type EmulatorOptions, resolveOptions } from './options.ts';
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
export interface ExchangeParts {
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
export function openExchange(
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
