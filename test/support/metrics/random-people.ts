import { tables } from '../../../schema/tables.ts';
import { pick, type Random } from '../random/seed.ts';
import { addDays } from './calendar.ts';
import type { Collector } from './collector.ts';

const TEAMS = ['core', 'web', "o'ps", null] as const;

/**
 * Adds people: for most users one, by ID or by email address in another case, in one or two periods with a gap; and a
 * licensed person without activity. Sometimes nobody is known.
 */
export function peopleRows(
  rows: Collector,
  users: readonly string[],
  firstDay: string,
  days: number,
  random: Random,
): void {
  if (random() < 0.15) return;
  const people = users.flatMap((user) => {
    const roll = random();
    if (roll < 0.2) return [];
    return [roll < 0.6 ? user : `${user.replace(' ', '').toUpperCase()}@example.com`];
  });
  for (const person of [...people, 'idle@example.com']) {
    const moved = Math.floor(random() * days);
    const start = random() < 0.5 ? addDays(firstDay, -20) : addDays(firstDay, Math.floor(random() * days));
    const end = addDays(start, moved);
    const isOpen = random() < 0.5;
    rows.add(tables.people, {
      person,
      valid_from: start,
      valid_to: isOpen ? null : end,
      team: pick(random, TEAMS),
    });
    if (isOpen || random() < 0.4) continue;
    const gap = 1 + Math.floor(random() * 3);
    rows.add(tables.people, {
      person,
      valid_from: addDays(end, gap),
      valid_to: null,
      team: pick(random, TEAMS),
    });
  }
}

/** Adds prices: some periods, sometimes with a gap, sometimes in two currencies, sometimes none. */
export function priceRows(rows: Collector, firstDay: string, days: number, random: Random): void {
  if (random() < 0.2) return;
  const change = addDays(firstDay, Math.floor(random() * days));
  const hasGap = random() < 0.3;
  const second = random() < 0.2 ? 'USD' : 'EUR';
  rows.add(tables.prices, {
    valid_from: '2026-01-01',
    valid_to: addDays(change, -1),
    currency: 'EUR',
    price_per_million: 1 + random(),
  });
  rows.add(tables.prices, {
    valid_from: hasGap ? addDays(change, 2) : change,
    valid_to: null,
    currency: second,
    price_per_million: 2 + random(),
  });
}
