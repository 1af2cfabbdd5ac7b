import type { BiFile } from '../files/bi-target.ts';

/** The longest line of a comment. */
const CHARACTERS_MAX = 100;

/** A file with one statement after its comments, each of one or several lines. */
export function statementFile(path: string, comments: readonly string[], statement: string): BiFile {
  const lines = comments.flatMap(wrap).map((line) => `-- ${line}`);
  return { path, text: `${[...lines, statement].join('\n')};\n` };
}

/** Breaks a text between words. A line break in it would end the comment, so each becomes a blank. */
function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > CHARACTERS_MAX) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return [...lines, line];
}
