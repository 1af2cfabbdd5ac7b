/** Lines that are not read yet. */
interface Lines {
  readonly all: readonly string[];
  next: number;
}

/**
 * Reads the YAML that Daywalk writes: maps and lists by indentation, words, JSON values, and blocks of text.
 * @throws {Error} at anything else.
 */
export function readYaml(text: string): unknown {
  const lines: Lines = { all: text.split('\n').slice(0, -1), next: 0 };
  const value = readNode(lines, 0);
  if (lines.next < lines.all.length)
    throw new Error(`line ${lines.next + 1} is not indented like the others`);
  return value;
}

const indentOf = (line: string) => line.length - line.trimStart().length;
const lineOf = ({ all, next }: Lines) => all[next] ?? '';
const isAt = (lines: Lines, indent: number) =>
  lines.next < lines.all.length && indentOf(lineOf(lines)) === indent;

function readNode(lines: Lines, indent: number): unknown {
  return lineOf(lines).trimStart().startsWith('- ') ? readList(lines, indent) : readMap(lines, indent);
}

function readList(lines: Lines, indent: number): unknown[] {
  const items: unknown[] = [];
  while (isAt(lines, indent) && lineOf(lines).startsWith('- ', indent)) {
    const rest = lineOf(lines).slice(indent + 2);
    if (!/^([\w.-]+:|- )/.test(rest)) {
      items.push(readScalar(rest));
      lines.next += 1;
      continue;
    }
    const all = lines.all.with(lines.next, `${' '.repeat(indent + 2)}${rest}`);
    const inner: Lines = { all, next: lines.next };
    items.push(readNode(inner, indent + 2));
    lines.next = inner.next;
  }
  return items;
}

function readMap(lines: Lines, indent: number): Record<string, unknown> {
  const map: Record<string, unknown> = {};
  while (isAt(lines, indent)) {
    const [, key, value] = /^([\w.-]+):(?: (.*))?$/.exec(lineOf(lines).slice(indent)) ?? [];
    if (key === undefined || key in map) throw new Error(`line ${lines.next + 1}: ${lineOf(lines)}`);
    lines.next += 1;
    if (value === undefined) map[key] = readNode(lines, indentOf(lineOf(lines)));
    else if (value === '|-') map[key] = readBlock(lines, indent + 2);
    else map[key] = readScalar(value);
  }
  return map;
}

/** Reads a word without quotes, a list of values on one line, or a value as JSON has it. */
function readScalar(text: string): unknown {
  if (/^\[.+\]$/.test(text)) return text.slice(1, -1).split(', ').map(readScalar);
  if (/^(true|false)$/.test(text) || !/^[a-z]\w*$/i.test(text)) return JSON.parse(text);
  return text;
}

function readBlock(lines: Lines, indent: number): string {
  const block: string[] = [];
  for (; lines.next < lines.all.length && indentOf(lineOf(lines)) >= indent; lines.next += 1) {
    block.push(lineOf(lines).slice(indent));
  }
  return block.join('\n');
}
