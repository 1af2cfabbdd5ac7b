import { parseDay } from '../../src/core/day.ts';
import { resolveOptions } from '../../src/emulator/options.ts';
import { identifyCaller, readTarget } from '../../src/emulator/request.ts';
import { openService } from '../../src/emulator/service.ts';
import { openWorld } from '../../src/emulator/world.ts';
import type { RequestDispatcher } from '../../src/http/connections.ts';
import { FakeClock } from '../support/clock/fake-clock.ts';
import type { Machine } from './machine.ts';
import type { Published } from './published.ts';
import { dispatcherOf, reportRow } from './service.ts';
import { BESIDE_ORG_ID, type Stored, type StoredUnit } from './stored.ts';
import {
  dateOf,
  dayOf,
  emailOf,
  type Night,
  type Person,
  rowsOf,
  STREAMS,
  textOf,
  truthOf,
  userId,
} from './truth.ts';

/** One of so many worlds has two organizations in its warehouse. */
const BESIDE_EVERY = 8;

/** True if the warehouse of a world has another organization. Half of these worlds have an archive. */
export function hasBeside(seed: number): boolean {
  return (seed >> 1) % BESIDE_EVERY === 1;
}

/** Its name and key, if a world has it. */
export function besideOf(seed: number): typeof BESIDE | undefined {
  return hasBeside(seed) ? BESIDE : undefined;
}

/** The other organization in the file of organizations. */
const BESIDE = { name: 'beside', apiKey: 'sk-beside-5d1f77c0a9b3e2' };
/** Its people have other IDs and addresses, its reports have the same. */
const FIRST_ID = 800;
const REPORTS: readonly number[] = [1, 2];

/** The hour of its run, before the first run of the night. */
const HOUR = 2;
/** Days that have not had three looks yet. */
const RECENT_DAYS = 4;

/**
 * Another organization in the same warehouse, archive and spool, whose service is honest and always answers. Whatever happens to the
 * first organization changes nothing of it.
 */
export class Beside {
  readonly #machine: Machine;
  readonly #published: Published;
  readonly #seed: number;
  readonly #peopleOn: (day: number) => readonly Person[];
  readonly #dispatcher: RequestDispatcher;
  #begin: (night: Night) => void = () => undefined;

  /** @param published what is known of the first organization: the limit on how long people are kept concerns all. */
  constructor(machine: Machine, published: Published, seed: number) {
    this.#machine = machine;
    this.#published = published;
    this.#seed = seed;
    const { peopleOn, size } = truthOf(seed + 500_000);
    this.#peopleOn = (day) => peopleOn(day).map((person) => ({ ...person, id: FIRST_ID + person.id }));
    this.#dispatcher = this.#open(size);
  }

  /** The addresses of its people, which a policy excludes as well. */
  get emails(): readonly string[] {
    return Array.from({ length: truthOf(this.#seed + 500_000).size }, (_, id) => emailOf(FIRST_ID + id));
  }

  /** Exports the organization, which succeeds in every night. */
  async run(night: Night): Promise<string[]> {
    this.#begin(night);
    const at = `${dateOf(night)}T0${HOUR}:00:00Z`;
    const { exitCode, error } = await this.#machine.run(at, this.#seed + night, {
      as: { name: BESIDE.name, dispatcher: this.#dispatcher },
    });
    if (exitCode !== 0)
      return [`I2: the run of the other organization ended with ${exitCode}: ${String(error)}`];
    const stored = await this.#machine.stored(BESIDE_ORG_ID);
    if (stored === null) return ['I3: the other organization is not stored'];
    return [...this.#differences(stored, night), ...this.#missing(stored, night)];
  }

  /** What people and runs have done to the first organization has changed nothing of the other one. */
  async examine(night: Night): Promise<string[]> {
    const stored = await this.#machine.stored(BESIDE_ORG_ID);
    return stored === null ? [] : this.#differences(stored, night);
  }

  #differences({ units, quarantined, reports }: Stored, night: Night): string[] {
    const named = ({ stream, day, state }: StoredUnit) =>
      `${stream} ${dateOf(day)} (${state}) of the other organization`;
    return [
      ...units.flatMap((unit) => {
        const { stream, day, text, state, doubt, restatements } = unit;
        const isExpired = state === 'expired' || this.#published.isExpired(stream, day);
        const truth = textOf(stream, day < night ? this.#peopleOn(day) : null, userId);
        if (text !== truth && !(isExpired && text === ''))
          return [`I1: ${named(unit)} is "${text}" instead of "${truth}"`];
        if (doubt !== null) return [`I8: ${named(unit)} is doubted: ${doubt}`];
        return restatements === 0 ? [] : [`I1: ${named(unit)} was restated ${restatements} times`];
      }),
      ...(quarantined === 0
        ? []
        : [`I1: ${quarantined} records of the other organization are in quarantine`]),
      ...(reports.length === 0 || reports.length === REPORTS.length
        ? []
        : [`I1: the other organization has the reports ${reports.join(', ')}`]),
    ];
  }

  #missing({ units, reports }: Stored, night: Night): string[] {
    const known = new Map(units.map((unit) => [`${unit.stream} ${unit.day}`, unit]));
    const days = Array.from({ length: night }, (_, day) => day);
    return [
      ...(reports.length === 0 ? ['I3: the other organization has no report'] : []),
      ...days.flatMap((day) =>
        STREAMS.flatMap((stream) =>
          known.has(`${stream} ${day}`)
            ? []
            : [`I3: ${stream} ${dateOf(day)} of the other organization is missing`],
        ),
      ),
    ];
  }

  /** At the end of a world: everything has settled that has had its looks. */
  async examineEnd(night: Night): Promise<string[]> {
    const stored = await this.#machine.stored(BESIDE_ORG_ID);
    return (stored?.units ?? []).flatMap(({ stream, day, isSettled, state }) =>
      isSettled || day > night - RECENT_DAYS
        ? []
        : [`I3: ${stream} ${dateOf(day)} (${state}) of the other organization has not settled`],
    );
  }

  #open(size: number): RequestDispatcher {
    const options = resolveOptions({
      ...{
        today: dateOf(1),
        users: 1,
        reports: 0,
        seed: 1,
        orgId: BESIDE_ORG_ID,
        apiKey: BESIDE.apiKey,
        cacheBytesMax: 0,
      },
      days: {
        rowsOf: (stream, date) => {
          const name = STREAMS.find((one) => one === stream);
          return name === undefined ? [] : rowsOf(name, date, this.#peopleOn(dayOf(date)), size);
        },
        reports: () => REPORTS.map(reportRow),
        describe: () => ({ days: [], removed: [] }),
      },
      clock: new FakeClock(),
    });
    const emulated = openWorld(options);
    const service = openService(emulated, options);
    this.#begin = (night) => emulated.setToday(parseDay(dateOf(night)));
    return dispatcherOf((method, path, authorization) => {
      const caller = identifyCaller(authorization, emulated.keys);
      return service.answer({ method, target: readTarget(path, 1), caller, inFlight: 1, upload: null });
    });
  }
}
