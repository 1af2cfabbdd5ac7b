import {
  type IncidentMemory,
  type IncidentPorts,
  reportIncidents,
} from '../../../src/serve/alerts/alerts.ts';
import {
  type Condition,
  type Incident,
  type IncidentState,
  NO_INCIDENTS,
  nameOfCondition,
  parseState,
  stateText,
} from '../../../src/serve/alerts/incidents.ts';
import type { Random } from '../random/seed.ts';

const SCOPES = ['', 'org_a', 'org_b'] as const;
const CONDITIONS: readonly Condition[] = [
  { kind: 'run-failed', key: '4', facts: { exit_code: 4 } },
  { kind: 'day-missing', key: 'tokens 2026-03-01', facts: {} },
  { kind: 'restatement', key: 'users 2026-03-02', facts: {} },
];

/** How likely each trouble is in a round. */
export interface Troubles {
  readonly kill: number;
  readonly unreadable: number;
  readonly unwritable: number;
  readonly undelivered: number;
  /** The server has the message, but its answer is lost. */
  readonly unanswered: number;
  readonly unexamined: number;
}

export const CALM: Troubles = {
  ...{ kill: 0, unreadable: 0, unwritable: 0, undelivered: 0, unanswered: 0, unexamined: 0 },
};

/** One process after another that reports incidents, a store, and a receiver of messages. */
export class IncidentWorld {
  readonly #random: Random;
  readonly #store = new Map<string, string>();
  #memory: IncidentMemory = new Map();
  #round = 0;
  #isDead = false;
  /** Scopes whose latest state could not be stored, so that it is lost with its process. */
  readonly #unsavable = new Set<string>();
  #delivered: string[] = [];
  /** Received beginnings and ends by ID, in order. */
  readonly received: { readonly what: 'opened' | 'over'; readonly incident: Incident }[] = [];
  /** IDs of incidents that were stored, or that a living process remembers. */
  readonly remembered = new Set<string>();
  /** How often a message may have been repeated: delivered, but not stored or not answered. */
  readonly repeatable = new Map<string, number>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** Performs a round in which these conditions hold. A process that is killed in it is replaced. */
  async round(holding: readonly string[], troubles: Troubles): Promise<void> {
    this.#round += 1;
    const at = new Date(Date.UTC(2026, 2, 1) + this.#round * 86_400_000).toISOString();
    const isUnreadable = this.#chance(troubles.unreadable);
    const scopes = SCOPES.map((scope) => ({
      scope,
      examine: async () => {
        if (isUnreadable && scope !== '') return null;
        const conditions = CONDITIONS.filter((one) => holding.includes(`${scope} ${nameOfCondition(one)}`));
        const isBlind = this.#chance(troubles.unexamined);
        const seen = isBlind ? conditions.slice(0, 1) : conditions;
        const hasExamined = (one: Condition) => !isBlind || one.kind === 'run-failed';
        return { conditions: seen, hasExamined };
      },
    }));
    this.#delivered = [];
    await reportIncidents(scopes, { at, ports: this.#ports(troubles, isUnreadable), memory: this.#memory });
    if (this.#isDead) {
      for (const id of this.#delivered) this.#mayRepeat(id);
      this.restart();
    }
    for (const { state } of this.#memory.values()) this.#remember(state);
  }

  /** Starts another process: what only the old one remembered is gone. */
  restart(): void {
    for (const [scope, { state, isStored }] of this.#memory) {
      if (isStored || !this.#unsavable.has(scope)) continue;
      const stored = new Set(this.stored(scope).incidents.map(({ id }) => id));
      for (const { id } of state.incidents) if (!stored.has(id)) this.remembered.delete(id);
      // What was delivered may be delivered again, because the store does not show it.
      for (const id of stored) this.#mayRepeat(id);
    }
    this.#memory = new Map();
    this.#unsavable.clear();
    this.#isDead = false;
  }

  stored(scope: string): IncidentState {
    return parseState(this.#store.get(scope) ?? null);
  }

  get size(): number {
    const states = SCOPES.map((scope) => this.#memory.get(scope)?.state ?? this.stored(scope));
    return states.reduce((sum, { incidents }) => sum + incidents.length, 0);
  }

  #ports(troubles: Troubles, isUnreadable: boolean): IncidentPorts {
    const isUnwritable = isUnreadable || this.#chance(troubles.unwritable);
    return {
      load: async (scope) => {
        if (this.#isDead || isUnreadable) {
          this.#unsavable.add(scope);
          throw new Error('unreadable');
        }
        return this.#store.has(scope) ? this.stored(scope) : NO_INCIDENTS;
      },
      save: async (scope, state) => {
        if (this.#dies(troubles) || isUnwritable) {
          this.#unsavable.add(scope);
          throw new Error('unwritable');
        }
        this.#unsavable.delete(scope);
        this.#store.set(scope, stateText(state));
        this.#remember(state);
        this.#dies(troubles);
      },
      send: async (messages) => {
        if (this.#dies(troubles) || this.#chance(troubles.undelivered)) return false;
        const isAnswered = !this.#chance(troubles.unanswered);
        for (const { opened, over } of messages) {
          for (const incident of opened) this.received.push({ what: 'opened', incident });
          for (const incident of over) this.received.push({ what: 'over', incident });
          const ids = [...opened, ...over].map(({ id }) => id);
          if (isAnswered) this.#delivered.push(...ids);
          else for (const id of ids) this.#mayRepeat(id);
        }
        return isAnswered;
      },
    };
  }

  #remember({ incidents }: IncidentState): void {
    for (const { id } of incidents) this.remembered.add(id);
  }

  #mayRepeat(id: string): void {
    this.repeatable.set(id, (this.repeatable.get(id) ?? 0) + 1);
  }

  /** A dead process does nothing more: every port fails. */
  #dies({ kill }: Troubles): boolean {
    this.#isDead ||= this.#chance(kill);
    return this.#isDead;
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }
}

/** Names of all conditions of all scopes. */
export const EVERY_CONDITION = SCOPES.flatMap((scope) =>
  CONDITIONS.map((condition) => `${scope} ${nameOfCondition(condition)}`),
);
