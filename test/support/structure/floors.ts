/**
 * The rooms of the house by their paths, and the floor of each. Imports go to lower floors only. A new room also needs its
 * paragraph in docs/architecture.md.
 */
export const FLOORS = {
  'src/core/': 1,
  'schema/': 2,
  'src/privacy/': 2,
  'src/checks/': 2,
  'src/patience/': 2,
  'src/judge/': 2,
  'src/contract/': 3,
  'src/units/': 3,
  'src/http/': 4,
  'src/port/': 4,
  'src/emulator/': 4,
  'src/marks/': 4.5,
  'src/api/': 5,
  'src/ledger/': 5,
  'src/rollups/': 5,
  'src/kept-out/': 5,
  'src/identity/': 5,
  'src/expected/': 5,
  'src/warehouse/': 6,
  'src/organizations/': 6,
  'src/records/': 6,
  'src/metrics/': 6,
  'src/publish/': 6,
  'src/policy/': 6.5,
  'src/weeks/': 6.6,
  'src/comparison/': 6.7,
  'src/archive/': 7,
  'src/copy/': 7,
  'src/csv-files/': 7,
  'src/hooks/': 7,
  'src/pipeline/': 7,
  'src/client-hooks/': 8,
  'src/sweep/': 8,
  'src/backup/': 8,
  'src/verify/': 8,
  'src/status/': 8,
  'src/bi/': 8,
  'src/look/': 8,
  'src/assistants/': 8,
  'src/settings/': 9,
  'src/places/': 9.5,
  'jobs/': 10,
  'src/serve/': 11,
  'src/cli/': 12,
  // The library's entry re-exports from any floor.
  'src/index.ts': 12,
} as const satisfies Record<string, number>;

/** The path of a room, with a slash at its end unless it is a file. */
export type Room = keyof typeof FLOORS;

/**
 * The room of a file.
 * @throws {Error} if the file stands in none.
 */
export function roomOf(path: string): Room {
  const room = (Object.keys(FLOORS) as Room[]).find((prefix) => path.startsWith(prefix));
  if (room === undefined)
    throw new Error(`${path} stands in no room; give its folder a floor in test/support/structure/floors.ts`);
  return room;
}
