/** Characters that no XML document may hold, and halves of pairs. */
const FORBIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to be removed
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
/** A name beside a drawing cannot turn the text around it, or take more than its place. */
const DIRECTION = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text without what XML forbids and without signs of direction. Templates escape it. */
export function plainText(text: string): string {
  return text.replaceAll(FORBIDDEN, '\ufffd').replaceAll(DIRECTION, '');
}

/** A name from the warehouse as a label: one short line, never empty. */
export function labelOf(name: string, charactersMax = 20): string {
  const characters = [...plainText(name).replaceAll(/\s+/g, ' ').trim()];
  if (characters.length === 0) return 'empty';
  return characters.length <= charactersMax
    ? characters.join('')
    : `${characters.slice(0, charactersMax - 1).join('')}…`;
}
