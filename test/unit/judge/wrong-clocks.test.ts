import { expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { equalLooks, LOOKS, looksNeeded } from '../../../src/judge/looks.ts';
import {
  isUnstableUnit,
  notesAfterCommit,
  notesAfterReopening,
  notesAfterSettling,
  notesText,
  parseNotes,
} from '../../../src/judge/notes.ts';
import { lookAtRows } from '../../../src/judge/watch.ts';
import { type Random, sequence } from '../../support/random/seed.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const START = Date.parse('2026-06-01T03:00:00Z');
const DAY = parseDay('2026-01-20');
const NIGHTS = 45;
/** From this night on, the clock is right and the answer stays. */
const QUIET = 32;
/** Lives with each service and each clock. */
const WORLDS = answersMax(1_000, 20);

/** By how many days the clock of a night is wrong. */
const CLOCKS: Readonly<Record<string, (random: Random) => number>> = {
  'a day behind': (random) => (random() < 0.7 ? 0 : -1),
  'days behind': (random) => (random() < 0.8 ? 0 : -2 - Math.floor(random() * 9)),
  'weeks behind': (random) => (random() < 0.9 ? 0 : -40),
  'days ahead': (random) => (random() < 0.85 ? 0 : 5),
  'weeks ahead': (random) => (random() < 0.9 ? 0 : 40),
  'ahead and behind': (random) => (random() < 0.8 ? 0 : ([-40, -5, 5, 40][Math.floor(random() * 4)] ?? 0)),
};

/** The answer of a night; something happens at the night `at`. */
type Service = (night: number, at: number) => string;
const ALTERNATING: Readonly<Record<string, Service>> = {
  'every night': (night) => (night < QUIET && night % 2 === 1 ? 'b' : 'a'),
  'every second night': (night) => (night < QUIET && night % 4 > 1 ? 'b' : 'a'),
  'for one night': (night, at) => (night === at ? 'b' : 'a'),
  'for two nights': (night, at) => (night === at || night === at + 1 ? 'b' : 'a'),
};
const HONEST: Readonly<Record<string, Service>> = {
  'never changes': () => 'a',
  restates: (night, at) => (night < at ? 'a' : 'b'),
  'restates twice': (night, at) => (night < at ? 'a' : night < at + 5 ? 'b' : 'c'),
  'restates every night of a week': (night, at) => 'abcdefgh'[Math.min(7, Math.max(0, night - at))] ?? '',
};

interface Lived {
  /** Nights on which the settled content was not the first answer. */
  readonly changedNights: number;
  /** Nights on which content settled that fewer than three nights in a row had found. */
  readonly earlyNights: number;
  readonly unstableNights: number;
  /** The unit has settled with the last answer. */
  readonly isRightAtEnd: boolean;
}

/** The life of one unit by the rules. @param forgets looks of later days are forgotten, which shows that the test can fail. */
function live(service: Service, clock: (random: Random) => number, seed: number, forgets = false): Lived {
  const random = sequence(seed);
  const at = 4 + Math.floor(random() * 20);
  let unit: { settledAt: string | null; contentSha256: string | null; watch: string | null };
  unit = { settledAt: null, contentSha256: null, watch: null };
  const lived = { changedNights: 0, earlyNights: 0, unstableNights: 0 };
  const pull = (said: string, now: Date) => {
    const { watch: before, contentSha256: stored } = unit;
    const commit = { day: DAY, contentSha256: said, isOwn: true, pulledAt: now };
    const watch = notesAfterCommit(before, commit, {
      stored,
      isChanged: stored !== said,
      staysSettled: false,
    });
    const notes = parseNotes(watch);
    const isSettled = equalLooks(notes, said) >= looksNeeded(notes);
    unit = isSettled
      ? { settledAt: now.toISOString(), contentSha256: said, watch: notesAfterSettling(watch, said) }
      : { settledAt: null, contentSha256: said, watch };
  };
  let [last, alikeSince] = ['', 0];
  for (let night = 0; night < NIGHTS; night += 1) {
    const said = service(night, at).repeat(64);
    if (said !== last) [last, alikeSince] = [said, night];
    const now = new Date(START + (night + (night < QUIET ? clock(random) : 0)) * DAY_MS);
    if (forgets) unit.watch = withoutLater(unit.watch, now);
    const { settledAt, contentSha256: stored } = unit;
    if (settledAt === null) pull(said, now);
    else {
      const seen = said === stored ? null : ({ sha256: said, by: 'rows' } as const);
      const look = lookAtRows(parseNotes(unit.watch), seen, { stored, looksMin: LOOKS, now });
      unit.watch = notesText(look.notes);
      if (look.isConfirmed) {
        unit = { ...unit, settledAt: null, watch: notesAfterReopening(unit.watch) };
        pull(said, now);
      }
    }
    const isNew = unit.settledAt !== null && (settledAt === null || unit.contentSha256 !== stored);
    if (isNew && night - alikeSince < LOOKS - 1) lived.earlyNights += 1;
    if (unit.settledAt !== null && !unit.contentSha256?.startsWith('a')) lived.changedNights += 1;
    if (isUnstableUnit(unit)) lived.unstableNights += 1;
  }
  return { ...lived, isRightAtEnd: unit.settledAt !== null && unit.contentSha256 === last };
}

function withoutLater(watch: string | null, now: Date): string | null {
  const { looks = [], past = [], ...others } = parseNotes(watch);
  const isKept = ([day]: readonly [string, string]) => day <= now.toISOString().slice(0, 10);
  return notesText({ ...others, looks: looks.filter(isKept), past: past.filter(isKept) });
}

function livesWith(services: Readonly<Record<string, Service>>, clockName: string, forgets = false): Lived[] {
  const clock = CLOCKS[clockName] ?? (() => 0);
  return Object.values(services).flatMap((service) =>
    Array.from({ length: WORLDS }, (_, seed) => live(service, clock, seed + 1, forgets)),
  );
}

test.each(Object.keys(CLOCKS))(
  'with a clock that is sometimes %s, answers that alternate change nothing, and nothing settles early',
  (clock) => {
    for (const lived of livesWith(ALTERNATING, clock))
      expect(lived).toMatchObject({ changedNights: 0, earlyNights: 0, isRightAtEnd: true });
  },
);

test.each(Object.keys(CLOCKS))(
  'with a clock that is sometimes %s, an honest service is copied and is not called unstable',
  (clock) => {
    for (const lived of livesWith(HONEST, clock))
      expect(lived).toMatchObject({ unstableNights: 0, earlyNights: 0, isRightAtEnd: true });
  },
);

test('a judge that forgets looks of later days lets answers that alternate through, and settles days early', () => {
  const lives = livesWith(ALTERNATING, 'days behind', true);
  expect(lives.filter(({ changedNights }) => changedNights > 0)).not.toEqual([]);
  expect(lives.filter(({ earlyNights }) => earlyNights > 0)).not.toEqual([]);
});
