import type { Formula } from '../page/formula.ts';
import type { ShownNumber } from '../page/numbers.ts';
import type { Figure, Headline, Page, Phrase, Section } from '../page/page.ts';

/** Why results must not be shown, by their IDs. */
type Withheld = ReadonlyMap<string, string>;

/**
 * Removes from a page what follows from results that must not be shown. A figure gives the reason instead; a number in a
 * sentence becomes a dash with the reason; a headline goes.
 */
export function withholdFrom(page: Page, withheld: Withheld): Page {
  return {
    ...page,
    sentence: phraseWithout(page.sentence, withheld),
    sections: page.sections.flatMap((section) => sectionWithout(section, withheld)),
    asked: (page.asked ?? []).filter(({ id }) => !withheld.has(id)),
  };
}

function sectionWithout(section: Section, withheld: Withheld): Section[] {
  switch (section.kind) {
    case 'headlines': {
      const headlines = section.headlines.flatMap((headline) => headlineWithout(headline, withheld));
      return headlines.length === 0 ? [] : [{ ...section, headlines }];
    }
    case 'pair': {
      const [left, right] = section.figures;
      return [{ ...section, figures: [figureWithout(left, withheld), figureWithout(right, withheld)] }];
    }
    default:
      return [figureWithout(section, withheld)];
  }
}

function figureWithout(figure: Figure, withheld: Withheld): Figure {
  const { id, kind, title, subtitle, results } = figure;
  const reason = results.flatMap((result) => withheld.get(result.id) ?? [])[0];
  if (reason === undefined)
    return { ...figure, notes: figure.notes?.map((note) => phraseWithout(note, withheld)) ?? [] };
  return {
    kind,
    id,
    title,
    subtitle,
    table: { columns: [], rows: [] },
    tableIs: 'folded',
    results: [],
    empty: reason,
  };
}

function headlineWithout(headline: Headline, withheld: Withheld): Headline[] {
  const { number, change, results } = headline;
  if (reasonOf(number.formula, withheld) !== undefined) return [];
  const isWhole = results.every(({ id }) => !withheld.has(id));
  if (isWhole) return [headline];
  return [
    {
      ...headline,
      change: numberWithout(change, withheld),
      // A line shows no formula, so it goes if it could rest on something that must not be shown.
      line: undefined,
      results: results.filter(({ id }) => !withheld.has(id)),
    },
  ];
}

function phraseWithout(phrase: Phrase, withheld: Withheld): Phrase {
  return phrase.map((part) => {
    if (typeof part === 'string' || part.kind === 'link') return part;
    return part.kind === 'strong'
      ? { ...part, parts: phraseWithout(part.parts, withheld) }
      : numberWithout(part, withheld);
  });
}

function numberWithout(number: ShownNumber, withheld: Withheld): ShownNumber {
  const why = reasonOf(number.formula, withheld);
  return why === undefined ? number : { ...number, value: null, why };
}

function reasonOf(formula: Formula, withheld: Withheld): string | undefined {
  if ('result' in formula) return withheld.get(formula.result);
  return formula.of.flatMap((part) => reasonOf(part, withheld) ?? [])[0];
}
