// @module-tag campaign/rounds

import { describe, expect, test } from 'vitest';
import type { Condition } from '../../../src/serve/alerts/incidents.ts';
import {
  applyDelivery,
  applyExamination,
  dueIn,
  INCIDENTS_MAX,
  NO_INCIDENTS,
  parseState,
  stateText,
} from '../../../src/serve/alerts/incidents.ts';
import { CALM, EVERY_CONDITION, IncidentWorld, type Troubles } from '../../support/alerts/incident-world.ts';
import { type Random, seeded, sequence } from '../../support/random/seed.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';

const WORLDS = answersMax(2_000, 120);
const CALM_WORLDS = answersMax(300, 30);
const ROUNDS = 25;

/** Some worlds have one trouble, some have several, and some none. */
function randomTroubles(random: Random): Troubles {
  const some = (most: number) => (random() < 0.4 ? random() * most : 0);
  return {
    kill: some(0.1),
    unreadable: some(0.4),
    unwritable: some(0.4),
    undelivered: some(0.7),
    unanswered: some(0.4),
    unexamined: some(0.4),
  };
}

describe(`in ${WORLDS} random worlds`, () => {
  test('no incident is lost, repeated without a reason, or reported as over before its beginning', async () => {
    const seeds = seeded('incidents');
    let received = 0;
    for (let index = 0; index < WORLDS; index += 1) {
      const seed = Math.floor(seeds() * 2 ** 31);
      const world = await live(seed);
      received += world.received.length;
      expect(violationsOf(world), `world ${seed}`).toEqual([]);
    }
    expect(received).toBeGreaterThan(WORLDS * 10);
  });

  test('without troubles, each condition is reported once when it begins and once when it ends', async () => {
    const seeds = seeded('calm incidents');
    for (let index = 0; index < CALM_WORLDS; index += 1) {
      const random = sequence(Math.floor(seeds() * 2 ** 31));
      const world = new IncidentWorld(random);
      let [before, changes]: [Set<string>, number] = [new Set(), 0];
      for (let round = 0; round <= ROUNDS; round += 1) {
        const holding = new Set(round === ROUNDS ? [] : EVERY_CONDITION.filter(() => random() < 0.3));
        changes += EVERY_CONDITION.filter((name) => holding.has(name) !== before.has(name)).length;
        await world.round([...holding], CALM);
        before = holding;
      }
      expect(world.received).toHaveLength(changes);
    }
  });
});

/** What a receiver could complain about at the end of a world. */
function violationsOf(world: IncidentWorld): string[] {
  const violations: string[] = [];
  const opened = new Map<string, number>();
  const over = new Map<string, number>();
  const ended = new Set<string>();
  for (const { what, incident } of world.received) {
    const { id, endedAt } = incident;
    const counts = what === 'opened' ? opened : over;
    counts.set(id, (counts.get(id) ?? 0) + 1);
    if (what === 'over' && !opened.has(id)) violations.push(`${id} is over before it began`);
    if (endedAt !== null) ended.add(id);
  }
  for (const id of world.remembered) {
    const most = 1 + (world.repeatable.get(id) ?? 0);
    if (!opened.has(id)) violations.push(`${id} is lost`);
    if (!ended.has(id)) violations.push(`the end of ${id} is lost`);
    if ((opened.get(id) ?? 0) > most) violations.push(`${id} is repeated`);
    if ((over.get(id) ?? 0) > most) violations.push(`the end of ${id} is repeated`);
  }
  if (world.size > 0) violations.push(`${world.size} incidents are left`);
  return violations;
}

/** Lives through random rounds, and then through quiet ones in which everything works and nothing is wrong. */
async function live(seed: number): Promise<IncidentWorld> {
  const random = sequence(seed);
  const world = new IncidentWorld(random);
  const troubles = randomTroubles(random);
  let holding: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    holding = EVERY_CONDITION.filter((name) => (random() < 0.7 ? holding.includes(name) : random() < 0.4));
    await world.round(holding, troubles);
    if (random() < 0.2) world.restart();
    expect(world.size).toBeLessThanOrEqual(40);
  }
  for (let round = 0; round < 3; round += 1) await world.round([], CALM);
  return world;
}

describe('an incident', () => {
  const condition: Condition = { kind: 'day-missing', key: 'tokens 2026-03-01', facts: { stream: 'tokens' } };
  const found = { conditions: [condition], hasExamined: () => true };
  const gone = { conditions: [], hasExamined: () => true };
  const at = (day: number) => ({ scope: 'org_a', at: `2026-03-0${day}T03:00:00.000Z` });

  test('that ends before it was delivered has one message, which says both', () => {
    const state = applyExamination(applyExamination(NO_INCIDENTS, found, at(5)), gone, at(6));
    expect(dueIn(state)).toMatchObject({ opened: [{ openedAt: at(5).at, endedAt: at(6).at }], over: [] });
    expect(applyDelivery(state).incidents).toEqual([]);
  });

  test('that returns before its end was delivered goes on under the same ID', () => {
    const open = applyDelivery(applyExamination(NO_INCIDENTS, found, at(5)));
    const back = applyExamination(applyExamination(open, gone, at(6)), found, at(7));
    expect(back).toEqual(open);
    expect(dueIn(back)).toEqual({ opened: [], over: [] });
  });

  test('that returns later has another ID', () => {
    const first = applyExamination(NO_INCIDENTS, found, at(5));
    const again = applyExamination(NO_INCIDENTS, found, at(7));
    expect(again.incidents[0]?.id).not.toBe(first.incidents[0]?.id);
  });

  test('waits for room if a thousand others are open, the less urgent kinds first', () => {
    const many = Array.from({ length: INCIDENTS_MAX }, (_, index) => ({ ...condition, key: `${index}` }));
    const urgent: Condition = { kind: 'run-failed', key: '4', facts: {} };
    const full = applyExamination(NO_INCIDENTS, { ...found, conditions: [...many, urgent] }, at(5));
    expect(full.incidents).toHaveLength(INCIDENTS_MAX);
    expect(full.incidents[0]?.kind).toBe('run-failed');
    const later = applyExamination(
      applyDelivery({ ...full, incidents: [] }),
      { ...found, conditions: many },
      at(6),
    );
    expect(later.incidents).toHaveLength(INCIDENTS_MAX);
  });

  test('survives its storage, and text that someone edited holds no incident', () => {
    const state = applyExamination(NO_INCIDENTS, { ...found, restatedUntil: at(4).at }, at(5));
    expect(parseState(stateText(state))).toEqual(state);
    for (const text of [null, '', '[]', '{"incidents":[1,{"id":4}]}', 'null'])
      expect(parseState(text)).toEqual(NO_INCIDENTS);
  });
});
