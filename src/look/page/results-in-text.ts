import type { Result } from '../data/result.ts';
import { formulaText } from './formula.ts';
import type { ShownNumber } from './numbers.ts';
import type { Cell, Page, Phrase, Section } from './page.ts';

/** The results that numbers of a page follow from and that no figure or headline lists: those of its sentence, mostly. */
export function resultsInText(page: Page): Result[] {
  const listed = new Set(page.sections.flatMap(resultsOf).map(({ id }) => id));
  const numbers = numbersOf(page).filter(({ value }) => value !== null);
  const used = new Set(numbers.flatMap(({ formula }) => formulaText(formula).match(/\bq\d+\b/g) ?? []));
  return (page.asked ?? []).filter(({ id }) => used.has(id) && !listed.has(id));
}

function resultsOf(section: Section): readonly Result[] {
  switch (section.kind) {
    case 'headlines':
      return section.headlines.flatMap(({ results }) => results);
    case 'pair':
      return section.figures.flatMap(({ results }) => results);
    default:
      return section.results;
  }
}

function numbersOf({ sentence, sections }: Page): ShownNumber[] {
  return [...numbersIn(sentence), ...sections.flatMap(numbersInSection)];
}

function numbersInSection(section: Section): ShownNumber[] {
  if (section.kind === 'headlines')
    return section.headlines.flatMap(({ number, change }) => [number, change]);
  const figures = section.kind === 'pair' ? section.figures : [section];
  return figures.flatMap(({ table, notes = [] }) => [
    ...table.rows.flat().filter(isNumber),
    ...notes.flatMap(numbersIn),
  ]);
}

function numbersIn(phrase: Phrase): ShownNumber[] {
  return phrase.flatMap((part) => {
    if (typeof part === 'string' || part.kind === 'link') return [];
    return part.kind === 'number' ? [part] : numbersIn(part.parts);
  });
}

function isNumber(cell: Cell): cell is ShownNumber {
  return cell.kind === 'number';
}
