import { data } from './data.ts';
import { overview } from './overview.ts';
import type { PageKind } from './page-kind.ts';
import { people } from './people.ts';

/** Every page, in the order of the navigation. */
export const PAGE_KINDS: readonly PageKind[] = [overview, people, data];
