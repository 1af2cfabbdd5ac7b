import { html } from 'hono/html';
import { CHARACTER_PIXELS, COLORS, LINE_PIXELS, labelOf, pixels } from './ink.ts';

/** What happened in a bucket. */
export interface DrawnEvent {
  readonly bucket: string;
  readonly text: string;
}

interface PlacedEvent {
  readonly x: number;
  /** From the top, from 0. */
  readonly row: number;
  readonly text: string;
  /** True if the text stands at the left of the line, because there is no room at its right. */
  readonly isLeft: boolean;
}

const EVENTS_MAX = 6;
const EVENT_CHARACTERS_MAX = 32;

/** The first events in the order given, each on the first row where its text covers no other one. */
export function placedEvents(
  events: readonly DrawnEvent[],
  { buckets, step, width }: { buckets: readonly string[]; step: number; width: number },
): PlacedEvent[] {
  const shown = events.filter(({ bucket }) => buckets.includes(bucket)).slice(0, EVENTS_MAX);
  const taken: (readonly [from: number, until: number])[][] = [];
  return shown
    .toSorted((a, b) => (a.bucket < b.bucket ? -1 : 1))
    .map(({ bucket, text }) => {
      const x = buckets.indexOf(bucket) * step;
      const label = labelOf(text, EVENT_CHARACTERS_MAX);
      const room = label.length * CHARACTER_PIXELS + 8;
      const isLeft = x + room > width && x > room;
      const [from, until] = isLeft ? [x - room, x] : [x, x + room];
      const found = taken.findIndex((row) => row.every(([start, end]) => until < start || from > end));
      const row = found < 0 ? taken.length : found;
      taken[row] = [...(taken[row] ?? []), [from, until]];
      return { x, row, text: label, isLeft };
    });
}

/** A dotted line from the text of an event to the base line. */
export function eventMark(
  { x, row, text, isLeft }: PlacedEvent,
  { top, floor }: { top: number; floor: number },
): ReturnType<typeof html> {
  const y = top + LINE_PIXELS * row;
  return html`<path d="M${pixels(x)} ${y - 8}V${pixels(floor)}" stroke="${COLORS.ink3}" stroke-dasharray="1.5 2.5"/><text x="${pixels(isLeft ? x - 4 : x + 4)}" y="${y}" text-anchor="${isLeft ? 'end' : 'start'}">${text}</text>`;
}
