import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createStyle } from '../../../../src/cli/output/terminal.ts';
import { renderTable } from '../../../../src/cli/screens/table.ts';
import { widthOf } from '../../../../src/cli/screens/text.ts';

const plain = createStyle(false);
const columns = [
  { header: 'repository', shrinks: true },
  { header: 'day' },
  { header: 'rows', align: 'right' as const },
  { header: 'error', shrinks: true },
];
const rows = [
  ['https://git.example.com/platform/a-very-long-repository-name', '2026-03-01', 1_234_567, 'answered 500'],
  ['短い', '2026-03-02', 0, null],
  ['evil\u001b[2J\nname', '2026-03-03', 12, 'x'.repeat(60)],
];

describe('a table', () => {
  test.each([40, 60, 80, 200])('is no wider than %i cells', (width) => {
    const lines = renderTable(columns, rows, { width, style: plain });
    expect(lines).toHaveLength(4);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
  });

  test('shows everything if there is room, with numbers grouped and aligned right', () => {
    expect(renderTable(columns, rows.slice(0, 2), { width: 200, style: plain })).toEqual([
      'REPOSITORY                                                    DAY              ROWS  ERROR',
      'https://git.example.com/platform/a-very-long-repository-name  2026-03-01  1,234,567  answered 500',
      '短い                                                          2026-03-02          0  –',
    ]);
  });

  test('cuts text before numbers and days, and marks the cut', () => {
    const [, first, , third] = renderTable(columns, rows, { width: 80, style: plain });
    expect(first).toMatch(/^https:\/\/git\S*…\s+2026-03-01 {2}1,234,567 {2}answered 500$/);
    expect(third).toMatch(/x…$/);
  });

  test('aligns its columns for all characters', () => {
    const lines = renderTable(
      [{ header: 'a' }, { header: 'b' }],
      [
        ['日本', 'x'],
        ['👩‍💻', 'x'],
        ['abcd', 'x'],
      ],
      {
        width: 80,
        style: plain,
      },
    );
    const starts = lines.slice(1).map((line) => widthOf(line.slice(0, line.indexOf('x'))));
    expect(new Set(starts)).toEqual(new Set([6]));
  });

  test('escapes foreign text', () => {
    const lines = renderTable(columns, rows, { width: 200, style: plain });
    expect(lines).toHaveLength(4);
    expect(lines[3]).toContain('evil\\x1b[2J\\nname');
  });

  test('colours cells without moving them', () => {
    const style = createStyle(true);
    const cells = [[{ content: 'bad', paint: style.red }, 7]];
    const header = [{ header: 'state' }, { header: 'n', align: 'right' as const }];
    const coloured = renderTable(header, cells, { width: 80, style });
    expect(coloured.join('')).toContain('\u001b[31m');
    expect(coloured.map(stripVTControlCharacters)).toEqual(
      renderTable(header, [['bad', 7]], { width: 80, style: plain }),
    );
  });

  test('is cut if even the shortest columns are too wide, never inside a control code', () => {
    const style = createStyle(true);
    const wide = Array.from({ length: 12 }, (_, index) => ({ header: `column ${index}` }));
    const lines = renderTable(wide, [wide.map(({ header }) => ({ content: header, paint: style.red }))], {
      width: 40,
      style,
    });
    for (const line of lines) {
      expect(line).toMatch(/^.{1,39}…$/u);
      expect(line).not.toContain('\u001b');
    }
  });
});
