import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/core/errors.ts';
import {
  amountCell,
  dayCell,
  monthCell,
  optional,
  required,
  textCell,
} from '../../../src/csv-files/csv-columns.ts';
import { parseCsv } from '../../../src/csv-files/read-csv.ts';
import { writeCsv } from '../../../src/csv-files/write-csv.ts';

const FORMAT = {
  columns: {
    team: required(textCell),
    user_id: optional(textCell),
    user_email: optional(textCell),
    valid_from: optional(dayCell),
    month: optional(monthCell),
    amount: optional(amountCell),
  },
  oneOf: ['user_id', 'user_email'],
} as const;

const read = (text: string) => parseCsv(text, 'people.csv', FORMAT);

/** The lines of the error with which a text is refused, its hint last. */
function refusal(text: string): string[] {
  try {
    read(text);
  } catch (error) {
    if (error instanceof UsageError) return [error.message, ...error.details, error.hint ?? ''];
    throw error;
  }
  throw new Error('the text was accepted');
}

describe('a CSV file', () => {
  it('is read by column name, with the line of each row, typed values and null for empty cells', () => {
    const text =
      '\uFEFFuser_id, team ,valid_from,amount,month\r\nu-1, "Core, EU" ,2026-05-01,1250.50,2026-05\r\nu-2,b,,,\r\n';
    expect(read(text)).toEqual([
      {
        line: 2,
        cells: {
          user_id: 'u-1',
          user_email: null,
          team: 'Core, EU',
          valid_from: '2026-05-01',
          month: '2026-05',
          amount: 1250.5,
        },
      },
      {
        line: 3,
        cells: { user_id: 'u-2', user_email: null, team: 'b', valid_from: null, month: null, amount: null },
      },
    ]);
  });

  it('may have the empty lines and rows that spreadsheets leave at the end', () => {
    expect(read('user_id,team\n\nu-1,a\n,\n , \n\n').map(({ line }) => line)).toEqual([3]);
  });

  it.each([
    ['user_id;team\nu-1;a', 'people.csv:1: the columns are separated by semicolons', 'comma delimited'],
    ['user_id\tteam\nu-1\ta', 'people.csv:1: the columns are separated by tabs', 'comma delimited'],
    ['user_id,teams\nu-1,a', 'people.csv:1: unknown column "teams"', 'write team'],
    ['user_id,team,color\nu-1,a,b', 'people.csv:1: unknown column "color"', 'the columns are team, user_id'],
    ['user_id,team,team\nu-1,a,b', 'people.csv:1: the column "team" occurs twice', 'remove'],
    ['user_id\nu-1', 'people.csv:1: the column team is missing', 'add the column team'],
    ['team\na', 'people.csv:1: the file needs a column user_id or user_email', 'add a column user_id'],
    ['', 'people.csv:1: the file is empty', 'user_id,user_email'],
    ['user_id,team\nu-1,a,b', 'people.csv:2: the line has 3 fields, the header has 2', 'double quotes'],
    ['user_id,team\nu-1,', 'people.csv:2: team is empty', 'give a team'],
    ['user_id,team,user_email\n,a,', 'people.csv:2: user_id and user_email are empty', 'give one'],
    ['user_id,team\n"u\n1",a', 'people.csv:2: user_id "u\n1" contains a line break', 'one line'],
    ['user_id,team\nu-1,"a\nu-2,b\n', 'people.csv:2: a quoted value does not end', 'double quotes'],
    ['user_id,team\nu-1,"a" b', 'people.csv:2: a double quote is in the wrong place', 'double quotes'],
    [
      'user_id,team,valid_from\nu-1,a,01.05.2026',
      'people.csv:2: valid_from "01.05.2026" is not',
      '2026-05-01',
    ],
    [
      'user_id,team,valid_from\nu-1,a,2026-02-30',
      'people.csv:2: valid_from "2026-02-30" is not',
      'YYYY-MM-DD',
    ],
    ['user_id,team,month\nu-1,a,2026-13', 'people.csv:2: month "2026-13" is not', '2026-05'],
    ['user_id,team,amount\nu-1,a,"1,5"', 'people.csv:2: amount "1,5" is not a number', 'decimal point'],
    ['user_id,team,amount\nu-1,a,-1', 'people.csv:2: amount "-1" is not a number of 0', '0 or more'],
    [
      'user_id,team,amount\nu-1,a,0.1234567890123456',
      'people.csv:2: amount "0.1234567890123456" has',
      'number',
    ],
  ])('is refused with file, line and remedy: %j', (text, message, hint) => {
    const [found = '', ...rest] = refusal(text);
    expect(found).toContain(message);
    expect(rest.at(-1)).toContain(hint);
  });

  it('is refused with all its mistakes in the order of lines, ten at most, the others counted', () => {
    const lines = Array.from({ length: 12 }, (_, index) => `u-${index},`);
    const found = refusal(['user_id,team', ...lines].join('\n'));
    expect(found.slice(0, 10)).toEqual(
      lines.slice(0, 10).map((_, index) => `people.csv:${index + 2}: team is empty`),
    );
    expect(found.slice(10)).toEqual(['and 2 more mistakes', 'give a team']);
  });

  it('has values of 500 characters at most', () => {
    expect(refusal(`user_id,team\nu-1,${'x'.repeat(501)}`)).toEqual([
      expect.stringContaining('has 501 characters'),
      'write 500 characters at most',
    ]);
  });

  it('counts the lines of values that have line breaks', () => {
    const [first, second] = refusal('user_id,team\nu-1,"a\r\nb"\nu-2,\n');
    expect([first, second]).toEqual([
      expect.stringContaining('people.csv:2: team'),
      expect.stringContaining('people.csv:4: team is empty'),
    ]);
  });
});

describe('a written CSV file', () => {
  it('has no cell that a spreadsheet takes for a formula, and keeps negative numbers', () => {
    const row = (team: string) => ({ team, amount: -1.5 });
    expect(writeCsv(['team', 'amount'], ['=1+1', '@a', '-a', '＝1', "'=a", 'a,"b"'].map(row))).toBe(
      `team,amount\n'=1+1,-1.5\n'@a,-1.5\n'-a,-1.5\n'＝1,-1.5\n''=a,-1.5\n"a,""b""",-1.5\n`,
    );
  });

  it('reads back as it was, but for blanks at the ends', () => {
    const team = fc.string({ unit: fc.constantFrom(...`=+-@'",;a é`), minLength: 1 });
    fc.assert(
      fc.property(fc.array(team), (teams) => {
        const kept = teams.filter((text) => text.trim() !== '');
        const rows = kept.map((text) => ({ user_id: 'u', team: text.trim() }));
        const found = read(writeCsv(['user_id', 'team'], rows));
        expect(found.map(({ cells }) => cells.team)).toEqual(kept.map((text) => text.trim()));
      }),
    );
  });
});
