import type { Column } from '../../../schema/define.ts';

/** What a column means, its unit if it has one, and whether its values may be added up, for people. */
export function columnNote({ doc, additive }: Column, unit: string | undefined): string {
  return [
    doc,
    ...(unit === undefined ? [] : [`; in ${unit}`]),
    ...(additive === false ? ['. Do not sum over days or groups'] : []),
  ].join('');
}
