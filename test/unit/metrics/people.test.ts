import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { daysFrom, parseDay, shiftDay } from '../../../src/core/day.ts';
import { UsageError } from '../../../src/core/errors.ts';
import { peopleFile } from '../../../src/csv-files/people-file.ts';
import { parseCsv } from '../../../src/csv-files/read-csv.ts';
import { changesBetween } from '../../../src/csv-files/replace-rows.ts';
import { Gate } from '../../../src/privacy/gate.ts';
import { NOBODY } from '../../../src/privacy/people-kept-out.ts';

const FIRST = parseDay('2026-03-01');
const DAYS = daysFrom(FIRST, shiftDay(FIRST, 8));

function people(...lines: string[]) {
  const text = ['user_email,team,valid_from,valid_to', ...lines].join('\n');
  const rows = parseCsv(text, 'people.csv', peopleFile.format);
  const storing = { orgId: 'org_1', file: 'people.csv', erased: NOBODY, now: new Date(0) };
  return peopleFile.linesOf(rows, { ...storing, gate: new Gate({ mode: 'keep' }) });
}

/** Lines of two people with a team, or none, on each of {@link DAYS}. */
const timelines = fc
  .record({
    'a@x.org': fc.array(fc.constantFrom('core', 'web', null), {
      minLength: DAYS.length,
      maxLength: DAYS.length,
    }),
    'b@x.org': fc.array(fc.constantFrom('core', null), { minLength: DAYS.length, maxLength: DAYS.length }),
  })
  .map((teams) =>
    Object.entries(teams).flatMap(([email, byDay]) =>
      byDay.flatMap((team, index) =>
        team === null ? [] : [`${email},${team},${DAYS[index] ?? FIRST},${DAYS[index] ?? FIRST}`],
      ),
    ),
  )
  .map((lines) => people(...lines).map(({ row }) => row));

describe('a load', () => {
  it('reports as moves exactly the days on which a person had another team before', () => {
    fc.assert(
      fc.property(timelines, timelines, (before, after) => {
        const { items: moves, counts } = changesBetween(before, after, peopleFile);
        for (const person of ['a@x.org', 'b@x.org']) {
          for (const day of DAYS) {
            const teamIn = (rows: typeof before) =>
              rows.find((row) => row.person === person && row.valid_from === day)?.team;
            const [was, is] = [teamIn(before), teamIn(after)];
            const isMove = was !== undefined && is !== undefined && was !== is;
            const found = moves.filter(
              (move) =>
                move.person === person &&
                move.valid_from <= day &&
                (move.valid_to === null || move.valid_to >= day),
            );
            expect(found.map((move) => [move.from_team, move.to_team])).toEqual(isMove ? [[was, is]] : []);
          }
        }
        const all = new Set([...before, ...after].map(({ person }) => person));
        expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(all.size);
        expect(counts.moved).toBe(new Set(moves.map(({ person }) => person)).size);
      }),
    );
  });

  it('stores an end in the year 9999 as none', () => {
    expect(people('a@x.org,core,,9999-12-31').map(({ row }) => row.valid_to)).toEqual([null]);
  });

  it('refuses a person with more than 1,000 periods', () => {
    const lines = daysFrom(FIRST, shiftDay(FIRST, 1_000)).map((day) => `a@x.org,core,${day},${day}`);
    expect(people(...lines.slice(1))).toHaveLength(1_000);
    expect(() => people(...lines)).toThrow(UsageError);
    expect(() => people(...lines)).toThrow(
      'people.csv:1002: the person of this line has more than 1000 periods',
    );
  });
});
