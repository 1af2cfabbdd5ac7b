import { adoption } from './adoption.ts';
import { data } from './data.ts';
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

/** Every page, in the order of the navigation. */
export const PAGE_KINDS: readonly PageKind[] = [
  overview,
  adoption,
  models,
  tools,
  output,
  people,
  person,
  teams,
  team,
  readiness,
  data,
];
