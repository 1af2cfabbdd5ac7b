import { UNASSIGNED } from '../../metrics/question.ts';
import { type ActivePerson, PERSON_NUMBERS, type PersonNumber } from '../data/active-people.ts';
import { type PeopleOrder, personName } from '../data/people-list.ts';
import { linkTo } from '../page/links.ts';
import type { Cell, Column, Table } from '../page/page.ts';

const NUMBERS = ['credits', 'sessions', 'commits'] as const satisfies readonly PersonNumber[];

/**
 * A row per person, each with a link to the page of the person.
 * @param options `among`: the list that the people are a part of, by which columns are chosen; with `order`, columns are
 * sorted by links.
 */
export function peopleTable(
  people: readonly ActivePerson[],
  { among = people, order }: { among?: readonly ActivePerson[]; order?: PeopleOrder } = {},
): Table {
  // An address has a column of its own only where names are shown in its place.
  const hasNames = among.some(({ name }) => name !== null);
  const hasEmails = among.some(({ email }) => email !== null);
  const columns: Column[] = [
    { title: 'Person', sort: 'person' },
    ...(hasNames && hasEmails ? [{ title: 'Email', sort: 'email', isSpare: true }] : []),
    ...(hasNames || hasEmails ? [{ title: 'ID', sort: 'id', isSpare: true }] : []),
    { title: 'Team', sort: 'team' },
    ...NUMBERS.map((name) => ({ title: PERSON_NUMBERS[name].title, align: 'end' as const, sort: name })),
    { title: 'Active days', align: 'end', sort: 'days' },
    { title: 'Last active', align: 'end', sort: 'last' },
  ];
  return {
    columns: order === undefined ? columns.map(({ sort: _, ...column }) => column) : columns,
    rows: people.map((person) => [
      linkTo('/people', person.userId, personName(person)),
      ...(hasNames && hasEmails ? [textOr(person.email)] : []),
      ...(hasNames || hasEmails ? [codeCell(person.userId)] : []),
      person.team === null ? muted(UNASSIGNED) : linkTo('/teams', person.team, person.team),
      ...NUMBERS.map((name) => person.numbers[name]),
      person.activeDays,
      { kind: 'text' as const, text: person.lastActiveOn },
    ]),
    ...(order === undefined ? {} : { sorting: order }),
  };
}

function textOr(text: string | null): Cell {
  return text === null ? muted('–') : { kind: 'text', text };
}

function codeCell(text: string): Cell {
  return { kind: 'text', text, isCode: true };
}

function muted(text: string): Cell {
  return { kind: 'text', text, isMuted: true };
}
