/** A message of the program as a sentence: it begins with a capital and ends with a full stop. */
export function sentenceOf(message: string): string {
  const text = `${message.slice(0, 1).toUpperCase()}${message.slice(1)}`;
  return text.endsWith('.') ? text : `${text}.`;
}
