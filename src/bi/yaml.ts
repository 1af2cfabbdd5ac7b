/** A value of a YAML file. Fields that are undefined are left out. */
export type Yaml =
  | string
  | number
  | boolean
  | readonly Yaml[]
  | { readonly [field: string]: Yaml | undefined };

/** Texts that are the same without quotes. All others are quoted as JSON, which every reader of YAML takes. */
const PLAIN = /^[a-z][a-z0-9_]*$/i;

/** Words that a reader takes for something other than text. */
const RESERVED = /^(true|false|null|yes|no|on|off|y|n)$/i;

/** Returns a value as the text of a YAML file, with one field or item on each line, and a text of several lines as a block. */
export function yamlText(value: { readonly [field: string]: Yaml | undefined }): string {
  return `${linesOf(value).join('\n')}\n`;
}

function linesOf(value: Yaml): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const [first = '', ...rest] = isBlock(item) ? linesOf(item) : [inline(item)];
      return [`- ${first}`, ...rest.map((line) => `  ${line}`)];
    });
  }
  if (!isFields(value)) return [inline(value)];
  return Object.entries(value).flatMap(([field, item]) => {
    if (item === undefined) return [];
    if (isLongText(item)) return [`${scalar(field)}: |-`, ...item.split('\n').map((line) => `  ${line}`)];
    if (!isBlock(item)) return [`${scalar(field)}: ${inline(item)}`];
    return [`${scalar(field)}:`, ...linesOf(item).map((line) => `  ${line}`)];
  });
}

/** True for a text of several lines that readers of YAML give back unchanged from a block. */
function isLongText(value: Yaml): value is string {
  if (typeof value !== 'string' || !value.includes('\n') || /^\s|\s$/.test(value)) return false;
  return value.split('\n').every((line) => /^[\x20-\x7e]+$/.test(line));
}

/** True for what needs lines of its own: fields, and lists of anything but scalars. */
function isBlock(value: Yaml): boolean {
  if (Array.isArray(value)) return value.some((item) => typeof item === 'object');
  return isFields(value) && Object.values(value).some((item) => item !== undefined);
}

function isFields(value: Yaml): value is { readonly [field: string]: Yaml | undefined } {
  return typeof value === 'object' && !Array.isArray(value);
}

function inline(value: Yaml): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  return isFields(value) ? '{}' : scalar(value);
}

function scalar(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  return PLAIN.test(value) && !RESERVED.test(value) ? value : JSON.stringify(value);
}
