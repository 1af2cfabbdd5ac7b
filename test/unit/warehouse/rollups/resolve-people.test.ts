import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OPEN_END } from '../../../../schema/row.ts';
import { daysFrom, parseDay, shiftDay } from '../../../../src/core/day.ts';
import { type PeopleInput, resolvePeople } from '../../../../src/rollups/resolve-people.ts';

type Person = PeopleInput['people'][number];

const FIRST = parseDay('2026-03-01');
const DAYS = daysFrom(FIRST, shiftDay(FIRST, 12));
const PEOPLE = ['u-1', 'u-2', 'a@x.org', 'b@x.org', 'c@x.org'];

function person(spec: Pick<Person, 'person'> & Partial<Person>): Person {
  return {
    org_id: 'org_1',
    valid_from: FIRST,
    valid_to: null,
    name: null,
    team: `team of ${spec.person}`,
    department: null,
    cost_center: null,
    manager_email: null,
    ...spec,
  };
}

function email(user_id: string, user_email: string, last_seen_on: string) {
  return { user_id, user_email, last_seen_on };
}

/** The rows of people that could stand for a user on a day, the one to use first; computed without any cleverness. */
function candidatesOn(day: string, user: string, { people, emails }: PeopleInput): Person[] {
  const valid = people.filter(
    (row) => row.valid_from <= day && (row.valid_to === null || row.valid_to >= day),
  );
  const lastSeen = (row: Person) =>
    emails
      .filter((seen) => seen.user_id === user && seen.user_email.toLowerCase() === row.person)
      .map((seen) => seen.last_seen_on)
      .toSorted()
      .at(-1);
  const byEmail = valid.filter((row) => row.person !== user && lastSeen(row) !== undefined);
  const rank = (row: Person) => `${lastSeen(row)}`;
  return [
    ...valid.filter((row) => row.person === user),
    ...byEmail.toSorted((a, b) =>
      rank(a) === rank(b) ? (a.person < b.person ? -1 : 1) : rank(a) > rank(b) ? -1 : 1,
    ),
  ];
}

/** People of which each has periods that do not overlap, as a load allows them. */
const peopleOf = fc
  .tuple(
    ...PEOPLE.map((key) =>
      fc
        .uniqueArray(fc.nat({ max: 11 }), { maxLength: 6 })
        .map((cuts) => cuts.toSorted((a, b) => a - b))
        .chain((cuts) =>
          fc.tuple(
            fc.constant(cuts),
            fc.array(fc.constantFrom('core', 'web', null), { minLength: 3, maxLength: 3 }),
            fc.boolean(),
          ),
        )
        .map(([cuts, teams, isOpen]) =>
          cuts.flatMap((from, index) => {
            if (index % 2 === 1) return [];
            const to = cuts[index + 1];
            if (to === undefined && !isOpen) return [];
            const valid_to = to === undefined ? null : shiftDay(FIRST, to - (index === 0 ? 1 : 0));
            return [
              person({
                person: key,
                valid_from: shiftDay(FIRST, from),
                valid_to,
                team: teams[index / 2] ?? null,
              }),
            ];
          }),
        ),
    ),
  )
  .map((rows) => rows.flat().filter((row) => row.valid_to === null || row.valid_to >= row.valid_from));

const emailsOf = fc.array(
  fc
    .tuple(
      fc.constantFrom('u-1', 'u-2', 'u-3'),
      fc.constantFrom('a@x.org', 'A@x.org', 'b@x.org', 'c@x.org', 'd@x.org'),
      fc.constantFrom('2026-01-31', '2026-02-28', '2026-03-05'),
    )
    .map(([user, address, day]) => email(user, address, day)),
  { maxLength: 8 },
);

describe('the person of a user', () => {
  it('is, on every day, what a look at each single day finds, in the fewest periods', () => {
    fc.assert(
      fc.property(peopleOf, emailsOf, (people, emails) => {
        const input = { orgId: 'org_1', people, emails, users: ['u-1', 'u-2', 'u-3'] };
        const { periods, conflicts } = resolvePeople(input);
        for (const user of input.users) {
          for (const day of [...DAYS, OPEN_END]) {
            const isOn = (row: { user_id: string; valid_from: string; valid_to: string }) =>
              row.user_id === user && row.valid_from <= day && row.valid_to >= day;
            const [used, ...others] = candidatesOn(day, user, input);
            expect(periods.filter(isOn).map((row) => [row.person, row.team])).toEqual(
              used === undefined ? [] : [[used.person, used.team]],
            );
            expect(conflicts.filter(isOn).map((row) => [row.person, row.others])).toEqual(
              used === undefined || others.length === 0
                ? []
                : [[used.person, others.map((row) => row.person)]],
            );
          }
        }
        for (const [index, row] of periods.entries()) {
          const next = periods[index + 1];
          if (next?.user_id !== row.user_id || row.valid_to === OPEN_END) continue;
          const touches = shiftDay(parseDay(row.valid_to), 1) === next.valid_from;
          expect(touches && next.person === row.person && next.team === row.team).toBe(false);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is found by ID before email, by the email seen last before others, whatever the case of letters', () => {
    const people = [person({ person: 'u-1' }), person({ person: 'a@x.org' }), person({ person: 'b@x.org' })];
    const emails = [
      email('u-1', 'A@X.org', '2026-03-01'),
      email('u-2', 'a@x.org', '2026-01-31'),
      email('u-2', 'B@x.org', '2026-02-28'),
    ];
    const { periods, conflicts } = resolvePeople({
      orgId: 'o',
      people,
      emails,
      users: ['u-1', 'u-2', 'u-3'],
    });
    expect(periods.map((row) => [row.user_id, row.person])).toEqual([
      ['u-1', 'u-1'],
      ['u-2', 'b@x.org'],
    ]);
    expect(conflicts.map((row) => [row.user_id, row.person, row.others])).toEqual([
      ['u-1', 'u-1', ['a@x.org']],
      ['u-2', 'b@x.org', ['a@x.org']],
    ]);
  });

  it('is found for 50,000 users with a move each in time that grows with them, not with their square', () => {
    const few = processorMsOf(5_000);
    // Ten times would be the same for each user, a hundred times their square.
    expect(processorMsOf(50_000)).toBeLessThan(40 * Math.max(few, 10));
  });
});

/** The processor time, which other processes do not lengthen, of finding the people of so many users. */
function processorMsOf(count: number): number {
  const users = Array.from({ length: count }, (_, index) => `u-${index}`);
  const people = users.flatMap((user, index) => {
    const key = index % 2 === 0 ? user : `${user}@x.org`;
    return [
      person({ person: key, valid_to: '2026-04-30' }),
      person({ person: key, valid_from: '2026-05-01', team: 'other' }),
    ];
  });
  const emails = users.map((user) => email(user, `${user}@x.org`, '2026-05-31'));
  const before = process.cpuUsage();
  expect(resolvePeople({ orgId: 'o', people, emails, users }).periods).toHaveLength(2 * count);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
