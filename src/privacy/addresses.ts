/** Characters of a name before the @ that are recognized at most, and of a domain after it. */
const LOCAL_CHARS_MAX = 128;
const DOMAIN_CHARS_MAX = 255;
/** Characters before an @ in which the user info of a URL is looked for. */
const URL_CHARS_MAX = 1024;

/** Ways to write the @ of an address; all but the first occur in texts that another program has encoded. */
const AT = /@|%(?:25)*40|\\u0040|&#(?:0{0,6}64|[xX]0{0,6}40);|&commat;|＠/g;
/** Letters beyond ASCII as an escape of a URL or of JSON. */
const ENCODED = String.raw`%(?:25)*[89a-f][\da-f]|\\+u(?!00[0-7])[\da-f]{4}`;
const LOCAL = new RegExp(String.raw`(?:[\p{L}\p{M}\p{N}.!$%'*+_~-]|${ENCODED})+$`, 'iu');
const LOCAL_OR_NONE = new RegExp(`^(?:${LOCAL.source.slice(0, -1)})?$`, 'iu');
const QUOTED_LOCAL = /"[\p{L}\p{N}](?:[^"\\@<>]{0,62}[\p{L}\p{N}])?"$/u;
/** What stands before a name and does not belong to it: quotes, signs of a flag, and an escape of a URL that is no plus or dot. */
const BEFORE_LOCAL = /^(?:.*%(?:[013][\da-f]|2[\dacf]|5[b-e]|7[b-d]))?[.!$%'*+~-]*/i;
const LABEL = String.raw`(?:[\p{L}\p{N}]|${ENCODED})(?:-*(?:[\p{L}\p{M}\p{N}]|${ENCODED}))*`;
/** Other dots count where there is no plain one: the full stop of a sentence in Chinese is one of them. */
const OTHER_DOT = '[．。｡]|%(?:25)*2e';
const DOMAIN = new RegExp(`^${LABEL}(?:(?:\\.${LABEL})+|(?:(?:${OTHER_DOT})${LABEL})+)`, 'iu');
/** The end of a domain of a mailbox: letters, at least two. */
const TOP_LEVEL = /\.(?:xn--[\w-]+|\p{L}[\p{L}\p{M}\p{N}-]*[\p{L}\p{N}])$/u;

/** What stands after an @ and is no domain: a version, a size of an image file, a unit of systemd. */
const VERSION = /^v?\d+(?:\.\d+)+(?:$|-|\.(?:tgz|tar|zip|gz|whl|jar|x)\b)|^v?\d+(?:\.\d+){2,}\./i;
const IMAGE_SIZE = /^\d+(?:\.\d+)?x?\.(?:png|jpe?g|gif|webp|svg|avif|pdf)$/i;
const SYSTEMD_UNIT = /\.(?:service|socket|target|timer|mount|automount|slice|scope|path|device|swap)$/;
/** Users of version control, whom no person is: `git@github.com:acme/api.git`. */
const NO_PERSON = /^(?:git|hg|svn)$/i;

/** It has none of the signs that separate a URL from what follows it. */
const USER_INFO_BEFORE = /(?<!mailto):\/\/[^\s/?#"'<>,;&=|()[\]{}\\`]*$/i;
const MORE_USER_INFO = /^[^\s/?#"'<>@]*@/;
/** Base64 of any text with an @ has one of these, whatever stands before it. */
const BASE64_AT = 'Q[A-P]|[EUk0][A-D]|[BFJNRVZdhlptx159]A';
const MAY_BE_BASE64 = new RegExp(BASE64_AT);
const BASE64_TOKEN = /[A-Za-z\d+/_-]{8,4096}={0,2}/g;
const PRINTABLE = /^[\p{L}\p{M}\p{N}\x20-\x7e]+$/u;

/** JSON can write any character as an escape, also those of the patterns that follow. */
const ESCAPED = String.raw`\\u(?:00[2-7]|[fF][fF])`;

/**
 * What a JSON text has where it may hold an address: an @ in any form, the name of a field of addresses, or Base64. One pattern for
 * all of them would take twice the time.
 */
const HINTS: readonly RegExp[] = [`${AT.source}|${ESCAPED}`, '[Ee]-?[Mm][Aa][Ii][Ll]', BASE64_AT].map(
  (source) => new RegExp(source, 'g'),
);

/** Finds where a text may hold an address. The positions grow. */
export class AddressHints {
  readonly #text: string;
  readonly #next: number[];

  constructor(text: string) {
    this.#text = text;
    this.#next = HINTS.map((hint) => positionOf(hint, text, 0));
  }

  /** The first position from another one on; -1 for none. */
  from(position: number): number {
    let first = -1;
    for (const [index, hint] of HINTS.entries()) {
      let next = this.#next[index] ?? -1;
      if (next >= 0 && next < position) {
        next = positionOf(hint, this.#text, position);
        this.#next[index] = next;
      }
      if (next >= 0 && (first < 0 || next < first)) first = next;
    }
    return first;
  }
}

function positionOf(hint: RegExp, text: string, from: number): number {
  hint.lastIndex = from;
  return hint.exec(text)?.index ?? -1;
}

/** What an address becomes; undefined if it stays as it is written. */
type Replace = (address: string) => string | undefined;

/** What was replaced can complete another address, which the next pass finds. */
const PASSES_MAX = 8;

/**
 * Replaces the email addresses in a text. See docs/privacy.md for the forms that are recognized, and for the texts that only
 * look like an address and stay. A repetition changes nothing.
 */
export function replaceAddresses(text: string, replace: Replace): string {
  let done = text;
  for (let pass = 1; pass <= PASSES_MAX; pass += 1) {
    const before = done;
    const plain = replaceWritten(before, replace);
    done = MAY_BE_BASE64.test(plain) ? replaceEncoded(plain, replace) : plain;
    if (done === before) break;
  }
  return done;
}

/** Searches around each @ only: a pattern over the whole text would need quadratic time. */
function replaceWritten(text: string, replace: Replace): string {
  let done = '';
  let from = 0;
  AT.lastIndex = 0;
  for (let match = AT.exec(text); match !== null; match = AT.exec(text)) {
    const found = addressAt(text, { at: match.index, sign: match[0], from });
    const after = found?.address === '' ? '' : found && replace(found.address);
    if (found === undefined || after === undefined) continue;
    done += text.slice(from, found.start) + after;
    from = found.end;
    AT.lastIndex = from;
  }
  return done + text.slice(from);
}

/**
 * The address around an @; undefined if it belongs to none. It is empty for a further domain after an address, as in `a@b.io@c.io`.
 * @param place.from where the last address before it ends; 0 without one
 */
function addressAt(
  text: string,
  { at, sign, from }: { readonly at: number; readonly sign: string; readonly from: number },
): { readonly start: number; readonly end: number; readonly address: string } | undefined {
  const after = at + sign.length;
  const domain = domainIn(text.slice(after, after + DOMAIN_CHARS_MAX));
  if (domain === undefined) return undefined;
  // The backslash of an escaped @ belongs to the @.
  const before = text.slice(Math.max(from, at - LOCAL_CHARS_MAX), at).replace(/\\+$/, '');
  const local = localIn(before);
  const isNear = from > 0 && at - from <= LOCAL_CHARS_MAX;
  const isFurther = local === '' && isNear && LOCAL_OR_NONE.test(text.slice(from, at));
  if ((local === '' && !isFurther) || NO_PERSON.test(local)) return undefined;
  const isUserInfo = () =>
    USER_INFO_BEFORE.test(text.slice(Math.max(0, at - URL_CHARS_MAX), at)) &&
    !MORE_USER_INFO.test(text.slice(after, after + URL_CHARS_MAX));
  if (sign === '@' && isUserInfo()) return undefined;
  const end = after + domain.length;
  if (isFurther) return { start: from, end, address: '' };
  const start = Math.max(from, at - LOCAL_CHARS_MAX) + before.length - local.length;
  return { start, end, address: `${decoded(local.replaceAll('"', ''))}@${decoded(domain)}` };
}

/** The name at the end of a text. */
function localIn(text: string): string {
  const written = LOCAL.exec(text)?.[0];
  if (written === undefined) return QUOTED_LOCAL.exec(text)?.[0] ?? '';
  const isEscape = text.at(-1 - written.length) === '\\';
  return written.replace(isEscape ? /^u00[0-7][\da-f]/i : '', '').replace(BEFORE_LOCAL, '');
}

/** The domain at the beginning of a text; undefined if it is none of a mailbox. */
function domainIn(text: string): string | undefined {
  let domain = DOMAIN.exec(text)?.[0];
  while (domain !== undefined) {
    const plain = decoded(domain);
    if (VERSION.test(plain) || IMAGE_SIZE.test(plain) || SYSTEMD_UNIT.test(plain)) return undefined;
    if (TOP_LEVEL.test(plain)) return domain;
    const end = domain.lastIndexOf('.');
    domain = end < 0 ? undefined : domain.slice(0, end);
  }
  return undefined;
}

function decoded(text: string): string {
  if (!/[%\\．。｡]/.test(text)) return text;
  const plain = text
    .replace(/\\+u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/[．。｡]/g, '.')
    .replace(/%(?:25)+(?=[\da-f]{2})/gi, '%');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/** Replaces whole words of Base64 whose text holds an address; a part of a path may be one too. */
function replaceEncoded(text: string, replace: Replace): string {
  const replaced = (word: string) => {
    if (!MAY_BE_BASE64.test(word)) return word;
    const plain = Buffer.from(word, 'base64').toString('utf8');
    if (!plain.includes('@') || !PRINTABLE.test(plain)) return word;
    let first: string | undefined;
    replaceWritten(plain, (address) => {
      first ??= replace(address);
      return undefined;
    });
    return first ?? word;
  };
  return text.replace(BASE64_TOKEN, (word) => {
    const whole = replaced(word);
    return whole === word && word.includes('/') ? word.split('/').map(replaced).join('/') : whole;
  });
}
