import { readFileSync, writeFileSync } from 'node:fs';
import { COPIES, type Line, lineText, parseLine } from '../../../src/archive/lines.ts';

/** Changes or removes lines of an index file; what it then says is numbered and has checksums, as if a run had written it. */
export function forgeIndex(path: string, change: (line: Line) => Line | null): void {
  const parsed = readFileSync(path, 'utf8').split('\n').map(parseLine);
  const lines = new Map(parsed.flatMap((each) => (each === undefined ? [] : [[each.number, each.line]])));
  const forged = [...lines.values()].map(change).filter((line) => line !== null);
  const copy = forged.map((line, index) => lineText(line, index + 1)).join('');
  writeFileSync(path, Array(COPIES).fill(copy).join('\n'));
}

/** Changes the text of the first line of an index file in which that changes something. */
export function forgeLine(path: string, change: (text: string) => string): void {
  let isChanged = false;
  forgeIndex(path, (line) => {
    const text = JSON.stringify(line);
    const after: string = isChanged ? text : change(text);
    isChanged ||= after !== text;
    return JSON.parse(after);
  });
  if (!isChanged) throw new Error(`no line of ${path} was changed`);
}
