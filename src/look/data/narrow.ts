import type { PageReader } from './reader.ts';

/** The same reader, with questions about one user whatever the team. Selections name the user themselves. */
export function readerOfUser(reader: PageReader, user: string): PageReader {
  return {
    ...reader,
    filters: { ...reader.filters, team: undefined },
    ask: (question) => reader.ask({ ...question, user, team: 'everybody' }),
  };
}

/** The same reader, with questions about one team; null means people without a team. */
export function readerOfTeam(reader: PageReader, team: string | null): PageReader {
  return {
    ...reader,
    filters: { ...reader.filters, team },
    ask: (question) => reader.ask({ ...question, team: question.team ?? { named: team } }),
  };
}
