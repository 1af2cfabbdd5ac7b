import type { UtcDay } from '../core/day.ts';
import { ADMIN_PATH, answerAdmin } from './control/admin.ts';
import { type JournalSnapshot, openJournal } from './control/journal.ts';
import { exchange } from './exchange.ts';
import { openFaults } from './faults/engine.ts';
import { parseRules, type Rule } from './faults/rules.ts';
import type { Keys } from './http/auth.ts';
import { targetReader } from './http/request-target.ts';
import { listen } from './http/server.ts';
import { receive } from './http/upload.ts';
import { checkInteger, checkToday, type EmulatorOptions, resolveOptions } from './options.ts';
import { DEFAULT_QUIRKS, parseQuirks, type Quirks } from './quirks/quirks.ts';
import { openService } from './service.ts';
import { type RevisionOutcome, type RevisionRequest, revise } from './world/revise.ts';
import type { EmulatedSession } from './world/sessions.ts';
import { openWorld } from './world/world.ts';

/** A repository, as the readiness list is filtered by and shows it. */
export interface EmulatedRepository {
  readonly repoId: string;
  readonly repoUrl: string;
}

/** A running emulator. What its methods set is also set by requests below `/__admin`. */
export interface Emulator {
  /** Origin of both the main API host and the application host. */
  readonly url: string;
  /** The owner's key. */
  readonly apiKey: string;
  readonly orgId: string;
  readonly keys: Keys;
  journal(): JournalSnapshot;
  /** Counts from 0 again. The counters that decide when rules fire go on. */
  resetJournal(): void;
  rules(): readonly Rule[];
  /**
   * Replaces the fault rules; their counters start anew.
   * @throws {UsageError} for a bad rule.
   */
  setRules(rules: readonly Rule[]): void;
  today(): UtcDay;
  /**
   * Moves the emulated day.
   * @throws {UsageError} when it is not after the first day with data.
   */
  setToday(day: UtcDay): void;
  quirks(): Quirks;
  /**
   * Changes the quirks that are named and leaves the others.
   * @throws {UsageError} for an unknown quirk or value.
   */
  setQuirks(changes: Partial<Quirks>): void;
  /** Back to the default quirks, whatever the emulator was started with. */
  resetQuirks(): void;
  /**
   * Milliseconds before each answer, 0 to 600,000.
   * @throws {UsageError} when it is out of range.
   */
  setLatency(ms: number): void;
  /**
   * Changes data that was already served; see {@link RevisionRequest}.
   * @throws {UsageError} when there is nothing to change as asked.
   */
  revise(request: RevisionRequest): RevisionOutcome;
  repositories(): readonly EmulatedRepository[];
  /** The sessions that were created, as they are now; the oldest first. */
  sessions(): readonly EmulatedSession[];
  /** Stops listening and destroys all connections, also those that wait for an answer. May be repeated. */
  close(): Promise<void>;
}

/**
 * Starts a server on the loopback interface that serves the analytics and readiness API of the specification, with
 * data that depend on the options alone.
 * @throws {UsageError} for options, quirks or rules out of their limits, and when the port is taken.
 */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const resolved = resolveOptions(options);
  const world = openWorld({ ...resolved, quirks: parseQuirks(resolved.quirks) });
  const journal = openJournal(resolved.journalEntriesMax, resolved.clock.monotonicMs);
  const faults = openFaults(journal);
  faults.setRules(parseRules(resolved.rules));
  let latencyMs = resolved.latencyMs;

  function change(request: RevisionRequest): RevisionOutcome {
    const outcome = revise(request, world);
    world.changed();
    return outcome;
  }

  const serve = exchange({
    world,
    service: openService(world, resolved),
    faults,
    journal,
    targetOf: targetReader(resolved.seed),
    revise: change,
    latencyMs: () => latencyMs,
  });
  const server = await listen(
    (request, response) =>
      request.url?.startsWith(ADMIN_PATH)
        ? answerAdmin(emulator, request, response)
        : receive(request, (upload) => serve(request, response, upload)),
    resolved,
  );

  const emulator: Emulator = {
    url: server.url,
    apiKey: world.keys.owner,
    orgId: world.orgId,
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
    close: server.close,
  };
  return emulator;
}
