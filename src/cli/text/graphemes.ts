let segmenter: Intl.Segmenter | undefined;

/** Splits a text into characters as a person sees them. */
export function* graphemesOf(text: string): Generator<string> {
  // Created on first use, because creating it takes a tenth of the start-up time.
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield segment;
}
