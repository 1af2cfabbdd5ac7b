import { describe, expect, test } from 'vitest';
import { daysFrom, FIRST_DAY, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';
import { parseNotes } from '../../../src/judge/notes.ts';
import {
  IDENTITY_RULES,
  type IdentityRules,
  OneOrganization,
  type Say,
} from '../../support/model/one-organization.ts';
import { pick, seeded, sequence } from '../../support/random/seed.ts';

const HISTORY = 24;
const NIGHTS = 34;
/** Worlds of each kind: `DAYWALK_WORLDS=500` for more. */
const WORLDS = Number(process.env['DAYWALK_WORLDS'] ?? 1);

/** A number of a day from a night on. */
interface From {
  readonly day: UtcDay;
  readonly night: number;
  readonly streams: readonly DailyStream[];
  readonly adds: number;
  /** @default for ever */
  readonly until?: number;
}

/** Every stream says the same of a day, unless one of `changes` says otherwise. */
function saying(changes: readonly From[], base: (stream: DailyStream, day: UtcDay) => number = () => 0): Say {
  const byDay = Map.groupBy(changes, ({ day }) => day);
  return (stream, day, night) =>
    (byDay.get(day) ?? [])
      .filter(({ streams }) => streams.includes(stream))
      .filter((change) => change.night <= night && night < (change.until ?? Number.POSITIVE_INFINITY))
      .reduce((sum, { adds }) => sum + adds, 100 + base(stream, day));
}

/** Lives through the nights; calls back after each. */
function live(
  say: Say,
  after: (organization: OneOrganization, night: number) => void,
  rules?: IdentityRules,
) {
  const organization = new OneOrganization(say, HISTORY, rules);
  for (let night = 1; night <= NIGHTS; night += 1) {
    organization.night(night);
    after(organization, night);
  }
  return organization;
}

const HISTORY_DAYS = daysFrom(FIRST_DAY, shiftDay(FIRST_DAY, HISTORY - 1));

function unitsOf(organization: OneOrganization, days: readonly UtcDay[] = HISTORY_DAYS) {
  return days.flatMap((day) => DAILY_STREAMS.map((stream) => organization.unit(stream, day)));
}

/** Worlds of a kind, each with its own sequence. */
function eachWorld(name: string, world: (random: () => number) => void): void {
  const random = seeded(name);
  for (let number = 0; number < WORLDS; number += 1) world(sequence(Math.floor(random() * 2 ** 31)));
}

/** A day of the history, 3 days old when the runs begin. */
const randomDay = (random: () => number) => shiftDay(FIRST_DAY, Math.floor(random() * (HISTORY - 3)));

describe('an honest service', () => {
  test('that recalculates one stream some nights later than the others is copied when the last has followed, and confirmed', () => {
    eachWorld('recalculated later', (random) => {
      const changes = Array.from({ length: 4 }, (_, index): From[] => {
        const day = shiftDay(FIRST_DAY, index * 5 + Math.floor(random() * 5));
        const night = 5 + Math.floor(random() * 10);
        const late = pick(random, DAILY_STREAMS as unknown as [DailyStream, ...DailyStream[]]);
        // The third look at the last stream comes on the seventh night at the latest.
        const delay = 1 + Math.floor(random() * 4);
        const others = DAILY_STREAMS.filter((stream) => stream !== late);
        return [
          { day, night, streams: others, adds: 7 },
          { day, night: night + delay, streams: [late], adds: 7 },
        ];
      }).flat();
      const say = saying(changes);
      const organization = live(say, (now, night) => {
        for (const { settledAt, confirmed } of unitsOf(now)) {
          if (night >= 3) expect(settledAt).not.toBeNull();
          if (night >= 3) expect(confirmed).toBe('data');
        }
        // No day contradicts itself in what is stored.
        for (const { day } of changes)
          expect(new Set(DAILY_STREAMS.map((stream) => now.stored(stream, day))).size).toBe(1);
      });
      for (const { day } of changes) expect(organization.stored('users', day)).toBe(107);
    });
  });

  test.each(DAILY_STREAMS.filter((stream) => stream !== 'users' && stream !== 'activity'))(
    'whose %s never add up with its users settles after three looks, and nothing waits',
    (stream) => {
      eachWorld(`never adds up ${stream}`, (random) => {
        const days = Array.from({ length: 3 }, () => randomDay(random));
        const restated = days.map(
          (day): From => ({
            ...{ day, night: 5 + Math.floor(random() * 8), adds: 3 },
            streams: [stream],
          }),
        );
        const off = 1 + Math.floor(random() * 50);
        const say = saying(restated, (name) => (name === stream ? off : 0));
        live(say, (now, night) => {
          const old = daysFrom(FIRST_DAY, shiftDay(now.today(night), -3));
          for (const { settledAt, confirmed, watch, stream: own } of unitsOf(now, night < 3 ? [] : old)) {
            if (own !== stream) continue;
            expect([settledAt !== null, confirmed]).toEqual([true, 'data']);
            expect(parseNotes(watch).breaks).toBeUndefined();
          }
        });
      });
    },
  );

  test('that never counts as many active users as it lists holds up its first days for a week, and no later one', () => {
    eachWorld('never as many', (random) => {
      const off = pick(random, [-3, -1, 1, 2]);
      live(
        saying([], (stream) => (stream === 'activity' ? off : 0)),
        (now, night) => {
          const confirmed = new Set(unitsOf(now, HISTORY_DAYS.slice(0, -3)).map((unit) => unit.confirmed));
          if (night < 7) expect(confirmed.has(null)).toBe(true);
          else expect(confirmed.has(null)).toBe(false);
          if (night < 10) return;
          const young = shiftDay(now.today(night), -3);
          expect(now.unit('users', young).confirmed).toBe('age');
        },
      );
    });
  });
});

describe('a lie about one stream', () => {
  /** The night on which the number of a lie is first stored, and first settled; null for never. */
  function lived(lie: From, rules: IdentityRules = IDENTITY_RULES) {
    const [stream = 'tools'] = lie.streams;
    let stored: number | null = null;
    let settled: { readonly night: number; readonly confirmed: unknown } | null = null;
    live(
      saying([lie]),
      (now, night) => {
        if (now.stored(stream, lie.day) === 100) return;
        const { settledAt, confirmed } = now.unit(stream, lie.day);
        stored ??= night;
        if (settledAt !== null) settled ??= { night, confirmed };
      },
      rules,
    );
    return { stored, settled };
  }

  const lieOf = (random: () => number, night: number, nights: number): From => ({
    ...{ day: randomDay(random), night, until: night + nights, adds: pick(random, [-5, 5]) },
    streams: [pick(random, DAILY_STREAMS as unknown as [DailyStream, ...DailyStream[]])],
  });

  test('that keeps three to six equal looks changes no settled unit', () => {
    eachWorld('short lies', (random) => {
      const lie = lieOf(random, 5 + Math.floor(random() * 5), 3 + Math.floor(random() * 4));
      expect(lived(lie)).toEqual({ stored: null, settled: null });
    });
  });

  test('that goes on is stored on its seventh day, unconfirmed', () => {
    eachWorld('long lies', (random) => {
      const lie = lieOf(random, 5 + Math.floor(random() * 5), 20);
      const night = lie.night + 6;
      expect(lived(lie)).toEqual({ stored: night, settled: { night, confirmed: 'age' } });
    });
  });

  test('from the first night on settles on its seventh day, unconfirmed', () => {
    eachWorld('first lies', (random) => {
      expect(lived(lieOf(random, 1, 20)).settled).toEqual({ night: 7, confirmed: 'age' });
    });
  });

  test('is corrected after five looks when it ends, because the first answer is back, and the day is confirmed again', () => {
    eachWorld('ended lies', (random) => {
      const lie = lieOf(random, 5, 9);
      live(saying([lie]), (now, night) => {
        if (night < lie.night + 9 + 4) return;
        for (const stream of DAILY_STREAMS) {
          expect(now.stored(stream, lie.day)).toBe(100);
          expect(now.unit(stream, lie.day).confirmed).toBe('data');
        }
      });
    });
  });

  test.each<[string, IdentityRules]>([
    ['no identity counts', { ...IDENTITY_RULES, countIdentities: () => [] }],
    ['no change waits', { ...IDENTITY_RULES, sortChanges: (ready) => ({ ready, waiting: [] }) }],
  ])('is stored after three looks if %s', (_, rules) => {
    const lie: From = { day: FIRST_DAY, night: 5, until: 20, adds: 5, streams: ['tools'] };
    expect(lived(lie, rules).stored).toBe(7);
  });
});
