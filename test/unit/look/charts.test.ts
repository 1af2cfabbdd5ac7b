import { describe, expect, it } from 'vitest';
import { daysFrom, parseDay } from '../../../src/core/day.ts';
import { dayBars, stacks } from '../../../src/look/charts/bars.ts';
import { calendar, markSvg, sharedMarks } from '../../../src/look/charts/calendar.ts';
import { lines, sparkline } from '../../../src/look/charts/lines.ts';
import { scaleOf, spread, timeTicks } from '../../../src/look/charts/plot.ts';
import { MARK_STATES } from '../../../src/look/page.ts';

const HOSTILE = '</svg><script>"&\u0001\u202e';
const days = daysFrom(parseDay('2026-10-23'), parseDay('2026-11-19'));
const values = days.map((day, index) => ({
  day,
  value: index === 9 ? null : 10 + index,
  isOpen: index > 25,
}));
const weeks = ['2026-10-26', '2026-11-02', '2026-11-09'];
const parts = weeks.flatMap((bucket) =>
  ['atlas', HOSTILE, 'others'].map((group, index) => ({
    bucket,
    group,
    value: 10 + index,
    isOpen: bucket === weeks[2],
  })),
);

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

function bars(svg: string): number {
  return count(svg, '<rect ');
}

describe('a drawing', () => {
  const drawn = () => [
    dayBars(values, { label: HOSTILE }),
    stacks(parts, { label: HOSTILE, groups: ['atlas', HOSTILE, 'others'] }),
    lines([{ name: HOSTILE, points: parts }], { label: HOSTILE }),
    calendar(
      days.map((day) => ({ day, state: 'loaded' })),
      HOSTILE,
    ),
    sparkline([1, 2], HOSTILE) ?? { svg: '', label: '' },
  ];

  it('has the same bytes for the same data', () => {
    expect(drawn()).toEqual(drawn());
  });

  it('shows hostile names as text', () => {
    for (const { svg } of drawn()) {
      expect(svg).toContain('role="img"');
      expect(svg).not.toContain('<script');
      expect(count(svg, '</svg>')).toBe(1);
      for (const character of ['\u0001', '\u202e']) expect(svg).not.toContain(character);
    }
  });

  it('has no style, no ID and no color of its own', () => {
    for (const { svg } of drawn()) expect(svg).not.toMatch(/<style|\sstyle=|\sid=|#[0-9a-f]{3,6}\b|rgb\(/i);
  });
});

describe('bars of days', () => {
  it('have a dashed box for a day that is not stored, and break the base line there', () => {
    const whole = dayBars(
      values.map((day) => ({ ...day, value: day.value ?? 1 })),
      { label: 'x' },
    );
    const holed = dayBars(values, { label: 'x' });
    const boxes = (svg: string) => count(svg, 'stroke-dasharray');
    expect([boxes(whole.svg), boxes(holed.svg)]).toEqual([0, 1]);
    expect(bars(holed.svg) - boxes(holed.svg)).toBe(bars(whole.svg) - 1);
    const baseLines = (svg: string) =>
      count(/ d="([^"]*)" stroke="var\(--ink-3\)"/.exec(svg)?.[1] ?? '', 'M');
    expect([baseLines(whole.svg), baseLines(holed.svg)]).toEqual([1, 2]);
  });

  it('are hatched where a day is not settled, and say so', () => {
    const { svg } = dayBars(values, { label: 'x' });
    // Two bars, and the swatch beside the words.
    expect(count(svg, 'url(#hatch)')).toBe(3);
    expect(svg).toContain('>not settled<');
    const settled = dayBars(
      values.map((day) => ({ ...day, isOpen: false })),
      { label: 'x' },
    );
    expect(settled.svg).not.toMatch(/hatch|not settled/);
  });

  it('are drawn for no day, one day and two years', () => {
    const years = daysFrom(parseDay('2026-01-14'), parseDay('2027-12-31')).map((day) => ({
      day,
      value: 1,
      isOpen: false,
    }));
    expect([[], values.slice(0, 1), years].map((list) => bars(dayBars(list, { label: 'x' }).svg))).toEqual([
      0,
      1,
      years.length,
    ]);
  });
});

describe('stacks', () => {
  it('hatch open parts in their color, and give others a color of their own', () => {
    const { svg } = stacks(parts, { label: 'x', groups: ['atlas', HOSTILE, 'others'] });
    expect(['url(#hatch-0)', 'url(#hatch-1)', 'url(#hatch-4)'].map((fill) => count(svg, fill))).toEqual([
      1, 1, 1,
    ]);
    expect(svg).toContain('var(--others)');
    expect(svg).not.toContain('var(--category-3)');
  });

  it('name their groups, unless the title names the only one', () => {
    const own = parts.filter(({ group }) => group === 'atlas');
    const named = stacks(own, { label: 'x', groups: ['atlas'] }).svg;
    const bare = stacks(own, { label: 'x', groups: ['atlas'], named: false }).svg;
    expect([named, bare].map((svg) => count(svg, '>atlas<'))).toEqual([1, 0]);
    expect(bare).toContain('var(--bar)');
  });
});

describe('lines', () => {
  it('are interrupted where a value is missing, and a value between two gaps is a point', () => {
    const points = [1, null, 2, null, 3, 4].map((value, index) => ({
      bucket: `2026-0${index + 1}`,
      value,
      isOpen: false,
    }));
    const { svg } = lines([{ name: 'share', points }], { label: 'x' });
    expect(count(svg, ' r="2.5"') + count(svg, 'r="2.5" ')).toBeGreaterThan(0);
    const path = /<g [^>]*><path d="([^"]+)"/.exec(svg)?.[1] ?? '';
    expect(count(path, 'M')).toBe(3);
  });
});

describe('the calendar', () => {
  it('has a square per day with its state, and a mark of its own for each state', () => {
    const marks = MARK_STATES.map((state, index) => ({ day: days[index] ?? parseDay('2026-01-14'), state }));
    const { svg } = calendar(marks, 'x');
    for (const state of MARK_STATES) {
      expect(count(svg, `href="#mark-${state}"`)).toBe(1);
      expect(count(sharedMarks(), `id="mark-${state}"`)).toBe(1);
      expect(markSvg(state)).toContain(`#mark-${state}`);
    }
    const shapes = [...sharedMarks().matchAll(/<symbol[^>]*>(.*?)<\/symbol>/g)].map(([, shape]) =>
      shape?.replaceAll(/var\([^)]*\)/g, ''),
    );
    expect(new Set(shapes).size).toBe(MARK_STATES.length);
    expect(svg).toContain('<title>23 October 2026: loaded</title>');
  });
});

describe('a line of weeks', () => {
  it('needs two values, and has a gap where one is missing', () => {
    expect(sparkline([null, 1], 'x')).toBeUndefined();
    expect(count(sparkline([1, null, 2, 3], 'x')?.svg ?? '', 'M')).toBe(2);
  });
});

describe('an axis', () => {
  const ticks = (values: number[], zero: { zero: boolean }) => [...scaleOf(values, zero).ticks.keys()];

  it('has round numbers that hold all values, and whole ones for whole values', () => {
    expect(ticks([3, 213], { zero: true })).toEqual([0, 50, 100, 150, 200, 250]);
    expect(ticks([0, 1, 2], { zero: true })).toEqual([0, 1, 2]);
    expect(ticks([], { zero: true })).toEqual([0, 1]);
    expect(ticks([0.31, 0.36], { zero: false })).toEqual([0.31, 0.32, 0.33, 0.34, 0.35, 0.36]);
  });

  it('names months where they begin, the year where it changes, and days where there are few', () => {
    const winter = daysFrom(parseDay('2026-11-20'), parseDay('2027-02-10'));
    expect([...timeTicks(winter, 900)]).toEqual([
      ['2026-12-01', 'Dec'],
      ['2027-01-01', '2027'],
      ['2027-02-01', 'Feb'],
    ]);
    expect([...timeTicks(winter.slice(0, 2), 300).values()]).toEqual(['20 Nov', '21 Nov']);
    expect([...timeTicks(['2026-10', '2026-11'], 300).values()]).toEqual(['Oct', 'Nov']);
    expect([...timeTicks(['2026-01', '2026-02'], 300).values()]).toEqual(['Jan', 'Feb']);
  });

  it('moves labels apart, and keeps them inside where there is room', () => {
    const moved = spread([{ value: 9.9 }, { value: 10 }, { value: 2 }], { gap: 1, low: 0, high: 10 });
    expect(moved.map(({ value }) => value)).toEqual([2, 9, 10]);
  });
});
