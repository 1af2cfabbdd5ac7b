import { FLOORS, type Room, roomOf } from '../test/support/structure/floors.ts';
import { importsOf, readSources } from '../test/support/structure/sources.ts';

const WIDTH = 1000;
const MARGIN = 10;
/** Left of the rooms stands the number of the floor. */
const LABEL_WIDTH = 44;
const GAP = 10;
const PADDING = 10;
const NAME_HEIGHT = 34;
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
  let y = MARGIN;
  const drawn = floors.map(([floor, rooms]) => {
    const { height, text } = drawFloor(floor, rooms, { below, y });
    y += height;
    return text;
  });
  const list = floors.map(([floor, rooms]) => `Floor ${floor}: ${rooms.map(nameOf).join(', ')}.`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y + MARGIN}" role="img" aria-labelledby="title desc"
  font-family="ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="14">
  <title id="title">The rooms of Daywalk on their floors</title>
  <desc id="desc">Each room imports from lower floors only. ${list.join(' ')}</desc>
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

/** The rooms of a floor side by side, all as high as the one with the most lines. */
function drawFloor(
  floor: number,
  rooms: readonly Room[],
  { below, y }: { readonly below: ReadonlyMap<Room, readonly Room[]>; readonly y: number },
): { readonly height: number; readonly text: string } {
  const left = MARGIN + LABEL_WIDTH;
  const width = rounded((WIDTH - MARGIN - left - GAP * (rooms.length - 1)) / rooms.length);
  const lettersMax = Math.floor((width - 2 * PADDING) / LETTER_WIDTH);
  const contents = rooms.map((room) => ({
    name: nameOf(room),
    lines: wrapped((below.get(room) ?? []).map(nameOf), lettersMax),
  }));
  const boxHeight = NAME_HEIGHT + LINE_HEIGHT * Math.max(...contents.map(({ lines }) => lines.length));
  const height = boxHeight + GAP;
  const boxes = contents.map((content, index) =>
    drawRoom(content, { x: rounded(left + index * (width + GAP)), y: y + GAP / 2, width, height: boxHeight }),
  );
  const line = `  <path class="floor" d="M${MARGIN} ${y + height} H${WIDTH - MARGIN}" />`;
  const number = `  <text class="number" x="${MARGIN + PADDING}" y="${y + height / 2 + 5}">${floor}</text>`;
  return { height, text: [number, ...boxes, line].join('\n') };
}

function drawRoom(
  { name, lines }: { readonly name: string; readonly lines: readonly string[] },
  { x, y, width, height }: Readonly<Record<'x' | 'y' | 'width' | 'height', number>>,
): string {
  const left = `x="${rounded(x + PADDING)}"`;
  return [
    `  <rect class="room" x="${x}" y="${y}" width="${width}" height="${height}" rx="6" />`,
    `  <text class="name" ${left} y="${y + 22}">${name}</text>`,
    ...lines.map(
      (line, index) => `  <text class="below" ${left} y="${y + 40 + index * LINE_HEIGHT}">${line}</text>`,
    ),
  ].join('\n');
}

/** `on api, warehouse`, in lines of at most so many letters. */
function wrapped(names: readonly string[], lettersMax: number): string[] {
  const lines: string[] = [];
  let line = 'on';
  for (const [index, name] of names.entries()) {
    const word = index < names.length - 1 ? `${name},` : name;
    if (line.length + 1 + word.length > lettersMax) {
      lines.push(line);
      line = word;
    } else line += ` ${word}`;
  }
  return names.length === 0 ? [] : [...lines, line];
}

/** `api` for `src/api/`, `jobs` for `jobs/`. */
function nameOf(room: Room): string {
  return room.endsWith('.ts') ? room : room.replace(/^src\//, '').replace(/\/$/, '');
}

function rounded(length: number): number {
  return Math.round(length * 10) / 10;
}
