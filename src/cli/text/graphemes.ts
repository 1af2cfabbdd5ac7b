let segmenter: Intl.Segmenter | undefined;

/** The characters of a text as a person sees them. */
export function* graphemesOf(text: string): Generator<string> {
  // Made when it is needed: a segmenter takes a tenth of the start of the program.
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield segment;
}
