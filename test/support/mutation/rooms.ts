/** A room whose code is mutated, and the quick tests that may kill its mutants. */
interface Room {
  readonly code: readonly string[];
  readonly tests: readonly string[];
  /** The names of tests in these files that are slow: they draw many worlds, or read long texts. */
  readonly slow?: RegExp;
}

const NORMALIZE = 'test/unit/pipeline/normalize';

export const ROOMS = {
  judge: {
    code: ['src/judge/*.ts'],
    tests: [
      // Not those that live through thousands of nights.
      'test/unit/judge/!(every-life|identity-worlds|wrong-clocks).test.ts',
      'test/unit/pipeline/run/foreign-model.test.ts',
      'test/unit/pipeline/run/readiness/missing-reports.test.ts',
      'test/unit/status/open-states.test.ts',
      'test/unit/warehouse/ledger-transitions.test.ts',
    ],
    slow: /^lists that lose reports|^the rule about the users .* (?:never|every)/,
  },
  ledger: {
    code: ['src/ledger/transitions.ts'],
    tests: ['test/unit/pipeline/commit.test.ts', 'test/unit/warehouse/ledger-transitions.test.ts'],
  },
  privacy: {
    code: ['src/privacy/*.ts'],
    tests: ['test/unit/privacy/*.test.ts'],
    slow: /takes? (?:no )?time|at any depth$|is found once, however many/,
  },
  normalize: {
    code: ['src/pipeline/normalize/*.ts'],
    tests: [`${NORMALIZE}/*.test.ts`, 'test/unit/pipeline/{findings,validate}.test.ts'],
  },
  contract: {
    code: ['src/contract/*.ts', 'src/checks/*.ts'],
    tests: [
      'test/unit/api/exact.test.ts',
      'test/unit/api/shapes/*.test.ts',
      'test/unit/pipeline/{findings,validate}.test.ts',
      `${NORMALIZE}/{mapping,impossible,readiness}.test.ts`,
    ],
  },
} as const satisfies Record<string, Room>;

export type RoomName = keyof typeof ROOMS;

/** The variable with the name of the room. */
export const ROOM_VARIABLE = 'DAYWALK_MUTATION_ROOM';

/** The room that is mutated now. */
export function roomNow(): Room {
  const room = Object.entries(ROOMS).find(([name]) => name === process.env[ROOM_VARIABLE])?.[1];
  if (room === undefined) throw new Error(`${ROOM_VARIABLE} names no room`);
  return room;
}
