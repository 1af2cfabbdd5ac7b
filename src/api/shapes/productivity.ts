import Type, { type Static } from 'typebox';
import { Identity, listOf, Metric } from './fields.ts';

export const ExtensionElement = Type.Object({ extension: Type.String(), count: Metric });
export type ExtensionElement = Static<typeof ExtensionElement>;

export const LanguageElement = Type.Object({ language: Type.String(), count: Metric });
export type LanguageElement = Static<typeof LanguageElement>;

/** A row of /productivity: one day (specification, section 2.4). */
export const ProductivityRow = Type.Object({
  date: Identity,
  files_created: Metric,
  files_edited: Metric,
  by_extension: listOf(ExtensionElement),
  by_language: listOf(LanguageElement),
  git_commits: Metric,
  git_prs_created: Metric,
});
export type ProductivityRow = Static<typeof ProductivityRow>;
