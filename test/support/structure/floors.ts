/**
 * The rooms of the house by their paths, and the floor of each. Imports go to lower floors only. A new room also needs its
 * paragraph in docs/architecture.md.
 */
export const FLOORS = {
  'src/core/': 1,
  'schema/': 2,
  'src/privacy/': 2,
  'src/contract/': 2,
  'src/judge/': 2,
  'src/http/': 3,
  'src/warehouse/': 3,
  'src/emulator/': 3,
  'src/api/': 4,
  'src/archive/': 4,
  'src/copy/': 4,
  'src/metrics/': 4,
  'src/publish/': 4,
  'src/hooks/': 4,
  'src/pipeline/': 5,
  'src/erase/': 6,
  'src/verify/': 6,
  'src/status/': 6,
  'src/bi/': 6,
  'src/look/': 6,
  'src/settings/': 7,
  'jobs/': 8,
  'src/serve/': 9,
  'src/cli/': 10,
  // The library's entry re-exports from any floor.
  'src/index.ts': 10,
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
