import type { RoundReport } from '../../jobs/round.ts';
import type { ExitCode } from '../../src/core/exit-code.ts';
import { isExitCode } from '../../src/core/exit-code.ts';
import type { Warehouse } from '../../src/port/index.ts';
import { type IncidentMemory, reportIncidents } from '../../src/serve/alerts/alerts.ts';
import { failureScope, organizationScopes } from '../../src/serve/alerts/examine-organization.ts';
import { type IncidentState, messageBody, NO_INCIDENTS } from '../../src/serve/alerts/incidents.ts';
import type { FakeClock } from '../support/clock/fake-clock.ts';
import { fieldOf } from './command.ts';
import type { Seen } from './oracle.ts';
import { ORG_ID } from './service.ts';
import { dateOf } from './truth.ts';

/** What the webhook was told of, night by night. Its state is kept here, so that it survives every lost warehouse. */
export class Notices {
  readonly #states = new Map<string, IncidentState>();
  readonly #memory: IncidentMemory = new Map();
  /** What was reported as begun, and not as over, by its ID. */
  readonly #open = new Map<string, string>();
  /** A message has named a part of its incidents only, so nobody knows which ones are open until nothing is wrong. */
  #isCut = false;

  /** I7 and I4: what is reported as begun and not as over is what is wrong now, and no message names anybody. */
  async examine(warehouse: Warehouse, clock: FakeClock, seen: Seen): Promise<string[]> {
    const { exitCode } = seen.outcome;
    // Nobody is told of a run that was killed; a full disk has no state to examine.
    if (exitCode === null || !isExitCode(exitCode) || seen.outcome.isStruck) return [];
    const bodies = await this.#report(warehouse, clock, exitCode, seen);
    for (const body of bodies) {
      const message: unknown = JSON.parse(body);
      for (const incident of listIn(message, 'opened'))
        if (fieldOf(incident, 'ended_at') === null)
          this.#open.set(String(fieldOf(incident, 'id')), nameOf(incident));
      for (const incident of listIn(message, 'over')) this.#open.delete(String(fieldOf(incident, 'id')));
      this.#isCut ||= ['opened', 'over'].some(
        (list) => fieldOf(message, `${list}_count`) !== listIn(message, list).length,
      );
    }
    const named = /user_w\d{3}|person\.w\d{3}/.exec(bodies.join())?.[0];
    return [
      ...(named === undefined ? [] : [`I4: a notification has ${named}`]),
      ...this.#differences(exitCode, seen),
    ];
  }

  async #report(warehouse: Warehouse, clock: FakeClock, exitCode: ExitCode, seen: Seen): Promise<string[]> {
    const at = clock.now().toISOString();
    const round: RoundReport = {
      ...{
        names: null,
        command: 'run',
        startedAt: `${dateOf(seen.night)}T00:00:00.000Z`,
        endedAt: at,
        exitCode,
      },
      organizations: [{ name: null, orgId: ORG_ID, exitCode, report: null, error: seen.outcome.error }],
    };
    const rule = { now: clock.now(), startedAt: round.startedAt, restatementShare: 0.05 };
    const bodies: string[] = [];
    const scopes = await organizationScopes(warehouse, round, {
      rule,
      onFailure: (error) => bodies.push(String(error)),
    });
    await reportIncidents([failureScope(round, null, null), ...scopes], {
      ...{ at, memory: this.#memory },
      ports: {
        load: async (scope) => this.#states.get(scope) ?? NO_INCIDENTS,
        save: async (scope, state) => void this.#states.set(scope, state),
        send: async (due) => {
          const of = (which: 'opened' | 'over') =>
            due.flatMap(({ [which]: list }) =>
              list.map((incident) => ({ ...incident, organization: ORG_ID })),
            );
          bodies.push(messageBody({ opened: of('opened'), over: of('over') }, { round, format: 'json' }));
          return true;
        },
      },
    });
    return bodies;
  }

  #differences(exitCode: number, { stored }: Seen): string[] {
    const expected = [
      ...(exitCode === 0 || exitCode === 75 ? [] : [`run-failed ${exitCode}`]),
      ...(exitCode === 6 ? [] : (stored?.units ?? []))
        .filter(({ state, doubt }) => state === 'doubted' && !/"leaver"/.test(doubt ?? ''))
        .map(({ stream, day }) => `loss-doubted ${stream} ${dateOf(day)}`),
    ].toSorted();
    if (this.#isCut) {
      // Once nothing is wrong any more, nothing is open, whatever the messages have left out.
      if (expected.length === 0) this.#open.clear();
      this.#isCut = expected.length > 0;
      return [];
    }
    const told = [...this.#open.values()]
      .filter((name) => /^(run-failed|loss-doubted [a-qs-z])/.test(name))
      .toSorted();
    return told.join() === expected.join()
      ? []
      : [
          `I7: people were told of ${told.join(', ') || 'nothing'}, and there is ${expected.join(', ') || 'nothing'}`,
        ];
  }
}

function listIn(message: unknown, name: string): readonly unknown[] {
  const list = fieldOf(message, name);
  return Array.isArray(list) ? list : [];
}

function nameOf(incident: unknown): string {
  const [kind, code] = [String(fieldOf(incident, 'kind')), fieldOf(incident, 'exit_code')];
  return kind === 'run-failed'
    ? `${kind} ${String(code)}`
    : `${kind} ${String(fieldOf(incident, 'stream'))} ${String(fieldOf(incident, 'day') ?? '')}`.trim();
}
