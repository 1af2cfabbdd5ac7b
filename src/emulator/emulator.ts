import { ADMIN_PATH, answerAdmin } from './control/admin.ts';
import type { Controls } from './control/controls.ts';
import { openJournal } from './control/journal.ts';
import { openExchange } from './exchange.ts';
import { openFaults } from './faults/engine.ts';
import { parseRules } from './faults/rules.ts';
import { listen } from './http/server.ts';
import { receiveUpload } from './http/upload.ts';
import { checkInteger, checkToday, type EmulatorOptions, resolveOptions } from './options.ts';
import { DEFAULT_QUIRKS, parseQuirks } from './quirks/quirks.ts';
import { openService } from './service.ts';
import { revise } from './world/revise.ts';
import type { RevisionOutcome, RevisionRequest } from './world/revision-request.ts';
import { openWorld } from './world/world.ts';

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
