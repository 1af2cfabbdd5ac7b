import type { IncomingMessage, ServerResponse } from 'node:http';
import { UsageError } from '../core/errors.ts';
import { ADMIN_PATH, answerAdmin, type Controls } from './admin.ts';
import { listRepositories } from './endpoints/readiness.ts';
import { applyActions } from './faults/apply.ts';
import { type FaultEngine, openFaults, parseRules, type Rule } from './faults/rules.ts';
import { type Journal, openJournal } from './journal.ts';
import {
  checkInteger,
  checkToday,
  type EmulatorOptions,
  type ResolvedOptions,
  resolveOptions,
} from './options.ts';
import { answerPage, PAGE_PATH } from './page.ts';
import { parseQuirks, type Quirks } from './quirks.ts';
import {
  type ApiCall,
  identifyCaller,
  openAccess,
  readTarget,
  receiveUpload,
  type Upload,
} from './request.ts';
import { compressResponse, type PreparedResponse, showsResponse } from './response.ts';
import { type RevisionOutcome, type RevisionRequest, revise } from './revise.ts';
import { deliver, guard, listen, runLater } from './server.ts';
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
 * Starts a server that serves the whole API of the specification. Its data depend on the options alone.
 * @example
 * const emulator = await startEmulator({ today: '2026-03-01', users: 40, seed: 7 });
 * @throws {UsageError} for invalid options, quirks or rules, when the port is taken, and for a host beyond loopback
 *   without a token.
 */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const resolved = resolveOptions(options);
  let parts = openParts(resolved);
  const controls = openControls(
    () => parts,
    resolved,
    () => {
      // Everything is made again, so nothing can be forgotten. Requests in progress end with the old parts.
      parts = openParts(resolved);
    },
  );
  const access = openAccess(resolved);
  const server = await listen((request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    if (path.startsWith(ADMIN_PATH)) return answerAdmin(controls, access, request, response);
    if (path === PAGE_PATH) return answerPage(controls, access, request, response);
    return receiveUpload(
      request,
      (upload) => void guard(request, response, () => parts.serve(request, response, upload)),
    );
  }, resolved);
  const { keys, orgId } = parts.world;
  return { ...controls, url: server.url, apiKey: keys.owner, orgId, close: server.close };
}

/** Everything that a reset makes again. */
interface Parts {
  readonly world: World;
  readonly faults: FaultEngine;
  readonly journal: Journal;
  latencyMs: number;
  revise(request: RevisionRequest): RevisionOutcome;
  serve(request: IncomingMessage, response: ServerResponse, upload: Upload | null): void;
}

function openParts(options: ResolvedOptions): Parts {
  const world = openWorld(options);
  const journal = openJournal({
    entriesMax: options.journalEntriesMax,
    monotonicMs: options.clock.monotonicMs,
    now: world.now,
    secrets: () => [...Object.values(world.keys), world.quirks().sessionsJwt ?? '', options.token ?? ''],
  });
  const faults = openFaults(journal);
  faults.setRules(options.rules);
  const change = (request: RevisionRequest): RevisionOutcome => {
    const outcome = revise(request, world);
    world.changed();
    return outcome;
  };
  const service = openService(world, options);
  const parts: Parts = {
    world,
    faults,
    journal,
    latencyMs: options.latencyMs,
    revise: change,
    serve: openExchange({
      world,
      service,
      faults,
      journal,
      seed: options.seed,
      revise: change,
      latencyMs: () => parts.latencyMs,
    }),
  };
  return parts;
}

function openControls(parts: () => Parts, options: ResolvedOptions, reset: () => void): Controls {
  return {
    keys: parts().world.keys,
    reset,
    journal: () => parts().journal.snapshot(parts().faults.ruleIds()),
    resetJournal: () => parts().journal.reset(),
    rules: () => parts().faults.rules(),
    setRules: (rules) => parts().faults.setRules(parseRules(rules)),
    today: () => parts().world.today(),
    setToday: (day) => parts().world.setToday(checkToday(day)),
    quirks: () => parts().world.quirks(),
    setQuirks: (changes) => parts().world.setQuirks(parseQuirks(changes)),
    resetQuirks: () => parts().world.setQuirks(options.defaultQuirks),
    setLatency: (ms) => {
      parts().latencyMs = checkInteger('latencyMs', ms);
    },
    revise: (request) => parts().revise(request),
    days: () => parts().world.days.describe(),
    putDays(text) {
      parts().world.days.put(text);
      parts().world.changed();
    },
    clearDays() {
      parts().world.days.clear();
      parts().world.changed();
    },
    repositories: () => listRepositories(parts().world),
    sessions: () => parts().world.sessions.all(),
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
    const entry = journal.begin({ ...call, headers: request.headers }, fault?.id ?? null);
    response.once('close', entry.ended);

    const plain = fault === null ? service.answer(call) : prepareFaulty(fault, call, parts);
    const acceptEncoding = String(request.headers['accept-encoding'] ?? '');
    const prepared = applyTransportQuirks(plain, world.quirks(), acceptEncoding);
    const send = (): void => {
      if (showsResponse(prepared.delivery)) entry.sent(plain);
      response.sendDate = false;
      const headers = { date: world.now().toUTCString(), 'x-request-id': target.requestId };
      deliver(prepared, { request, response, headers });
    };
    const waitMs = parts.latencyMs() + (prepared.delayMs ?? 0);
    if (waitMs === 0) send();
    else runLater(request.socket, waitMs, () => void guard(request, response, send));
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
