import { contractOf, whyNotKept } from '../../expected/index.ts';
import { runReads } from '../../port/index.ts';
import { asSentence } from '../words.ts';
import { adoption } from './adoption.ts';
import { data } from './data.ts';
import { explore } from './explore.ts';
import { models } from './models.ts';
import { output } from './output.ts';
import { overview } from './overview.ts';
import type { PageKind } from './page-kind.ts';
import { people } from './people.ts';
import { person } from './person.ts';
import { readiness } from './readiness.ts';
import { team } from './team.ts';
import { teams } from './teams.ts';
import { tools } from './tools.ts';

/** A page whose numbers all come from single users: where nothing is kept of them, it says so. */
function aboutUsers(kind: PageKind): PageKind {
  return {
    ...kind,
    build: async (reader, params) => {
      const contract = await runReads(reader.warehouse, contractOf(reader.filters.orgId));
      const notKept = whyNotKept(contract, ['users']);
      if (notKept === null) return kind.build(reader, params);
      const name = kind.name ?? params.subject ?? '';
      return { name, heading: name, sentence: [asSentence(notKept)], sections: [] };
    },
  };
}

/** Every page, in the order of the navigation. */
export const PAGE_KINDS: readonly PageKind[] = [
  overview,
  adoption,
  models,
  tools,
  output,
  aboutUsers(people),
  aboutUsers(person),
  aboutUsers(teams),
  aboutUsers(team),
  readiness,
  data,
  explore,
];
