import { FLOORS, type Room, roomOf } from '../test/support/structure/floors.ts';
import { importsOf, readSources } from '../test/support/structure/sources.ts';

const WIDTH = 1000;
const MARGIN = 10;
/** Left of the rooms stands the number of the floor. */
const LABEL_WIDTH = 44;
const GAP = 10;
const FLOOR_HEIGHT = 78;
const LINE_HEIGHT = 16;
/** The mean width of a letter of the small text. */
const LETTER_WIDTH = 6.4;

/**
 * The house as an SVG: each room on its floor, with the rooms that it rests on. Those that these rest on in turn are left out;
 * with them there would be three times as many names.
 */
export function architectureDrawing(): string {
  const below = restsOn();
  const floors = [...Map.groupBy(Object.keys(FLOORS) as Room[], (room) => FLOORS[room])].toSorted(
    ([a], [b]) => b - a,
  );
  const height = 2 * MARGIN + floors.length * FLOOR_HEIGHT;
  const drawn = floors.map(([floor, rooms], index) =>
    drawFloor({ floor, rooms, y: MARGIN + index * FLOOR_HEIGHT }, below),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title desc"
  font-family="ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="14">
  <title id="title">The rooms of Daywalk on their floors</title>
  <desc id="desc">${floors.map(([floor, rooms]) => `Floor ${floor}: ${rooms.map(nameOf).join(', ')}.`).join(' ')} Each room imports
    from lower floors only.</desc>
${STYLE}
${drawn.join('\n')}
</svg>
`;
}

const STYLE = `  <style>
    .floor { stroke: #d0d7de }
    .room { fill: #f6f8fa; stroke: #d0d7de }
    .number { fill: #59636e }
    .name { fill: #1f2328; font-weight: 600 }
    .below { fill: #59636e; font-size: 12px }
    @media (prefers-color-scheme: dark) {
      .floor { stroke: #3d444d }
      .room { fill: #151b23; stroke: #3d444d }
      .number { fill: #9198a1 }
      .name { fill: #f0f6fc }
      .below { fill: #9198a1 }
    }
  </style>`;

/** The rooms that each room imports from, without those that it would reach through another one of them. */
function restsOn(): Map<Room, readonly Room[]> {
  const direct = new Map<Room, Set<Room>>();
  for (const { from, to, isStart } of readSources().flatMap(importsOf)) {
    if (isStart || to.endsWith('.json')) continue;
    const [own, other] = [roomOf(from), roomOf(to)];
    if (own !== other) direct.set(own, (direct.get(own) ?? new Set()).add(other));
  }
  const reaches = (from: Room, to: Room): boolean =>
    [...(direct.get(from) ?? [])].some((room) => room === to || reaches(room, to));
  return new Map(
    [...direct].map(([room, others]) => [
      room,
      [...others].filter((other) => ![...others].some((between) => reaches(between, other))).toSorted(),
    ]),
  );
}

function drawFloor(
  { floor, rooms, y }: { readonly floor: number; readonly rooms: readonly Room[]; readonly y: number },
  below: ReadonlyMap<Room, readonly Room[]>,
): string {
  const left = MARGIN + LABEL_WIDTH;
  const width = (WIDTH - MARGIN - left - GAP * (rooms.length - 1)) / rooms.length;
  const boxes = rooms.map((room, index) =>
    drawRoom(nameOf(room), (below.get(room) ?? []).map(nameOf), {
      x: left + index * (width + GAP),
      y: y + GAP / 2,
      width,
    }),
  );
  const line = y + FLOOR_HEIGHT;
  return [
    `  <text class="number" x="${MARGIN + 8}" y="${y + FLOOR_HEIGHT / 2 + 5}">${floor}</text>`,
    ...boxes,
    `  <path class="floor" d="M${MARGIN} ${line} H${WIDTH - MARGIN}" />`,
  ].join('\n');
}

function drawRoom(
  name: string,
  below: readonly string[],
  { x, y, width }: { readonly x: number; readonly y: number; readonly width: number },
): string {
  const lines = wrapped(below, Math.floor((width - 20) / LETTER_WIDTH));
  const place = `x="${rounded(x + 10)}"`;
  return [
    `  <rect class="room" x="${rounded(x)}" y="${y}" width="${rounded(width)}" height="${FLOOR_HEIGHT - GAP}" rx="6" />`,
    `  <text class="name" ${place} y="${y + 22}">${name}</text>`,
    ...lines.map(
      (line, index) => `  <text class="below" ${place} y="${y + 41 + index * LINE_HEIGHT}">${line}</text>`,
    ),
  ].join('\n');
}

/** The names as lines of at most so many letters. */
function wrapped(names: readonly string[], lettersMax: number): string[] {
  const lines: string[] = [];
  for (const name of names) {
    const last = lines.at(-1);
    if (last !== undefined && `${last}, ${name}`.length <= lettersMax)
      lines[lines.length - 1] = `${last}, ${name}`;
    else lines.push(name);
  }
  return lines.map((line, index) => (index < lines.length - 1 ? `${line},` : line));
}

/** `api` for `src/api/`, `jobs` for `jobs/`. */
function nameOf(room: Room): string {
  return room.endsWith('.ts') ? room : room.replace(/^src\//, '').replace(/\/$/, '');
}

function rounded(length: number): number {
  return Math.round(length * 10) / 10;
}
