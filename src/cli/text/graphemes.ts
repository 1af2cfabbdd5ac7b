let segmenter: Intl.Segmenter | undefined;

/** Splits a text into characters as a person sees them. */
export function* graphemesOf(text: string): Generator<string> {
  // Created on first use: it takes a tenth of the start of the program.
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield segment;
}
