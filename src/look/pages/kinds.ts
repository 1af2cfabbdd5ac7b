import { overview } from './overview.ts';
import type { PageKind } from './page-kind.ts';

/** Every page, in the order of the navigation. */
export const PAGE_KINDS: readonly PageKind[] = [overview];
