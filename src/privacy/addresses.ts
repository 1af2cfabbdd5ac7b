/** Characters of a name before the @ that are recognized at most, and of a domain after it. */
const LOCAL_CHARS_MAX = 128;
const DOMAIN_CHARS_MAX = 255;
/** Characters as they are written, around an @, in which escapes and the user info of a URL are looked for. */
const WRITTEN_CHARS_MAX = 1024;

/** Ways to write the @ of an address; all but the first occur in texts that another program has encoded. */
const AT = /@|%(?:25)*40|\\u0040|&#(?:0{0,6}64|[xX]0{0,6}40);|&commat;|＠/g;
/** A character as another program has encoded it for a URL, once or several times, for JSON or for HTML. */
const ESCAPE =
  /%(?:25)*[c-f][\da-f](?:%(?:25)*[89ab][\da-f]){1,3}|%(?:25)*[0-7][\da-f]|\\+u[\da-f]{4}|&#(?:\d{1,6}|x[\da-f]{1,5});/gi;
const LOCAL = /[\p{L}\p{M}\p{N}.!$%'*+_~-]+$/u;
const LOCAL_OR_NONE = new RegExp(`^${LOCAL.source.slice(0, -2)}{0,${LOCAL_CHARS_MAX}}$`, 'u');
const QUOTED_LOCAL = /"[\p{L}\p{N}](?:[^"\\@<>]{0,62}[\p{L}\p{N}])?"$/u;
/** Scripts whose words stand beside a Latin one without a blank, with the signs that several of them share, such as ー. */
export const CLOSE = String.raw`[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}]`;
/** True for a text that may have such words. */
export const HAS_CLOSE = new RegExp(CLOSE, 'u');
/** What stands before a name and does not belong to it: quotes, and signs of a flag. */
const BEFORE_LOCAL = /^[.!$%'*+~-]*/;
const CLOSE_BEFORE = new RegExp(`^.*${CLOSE}(?=[!-~]+$)`, 'u');
const CLOSE_AFTER = new RegExp(String.raw`(?<=\.[a-z]{2,63})${CLOSE}.*$`, 'iu');
const LABEL = String.raw`[\p{L}\p{N}](?:-*[\p{L}\p{M}\p{N}])*`;
/** A domain as it may be written, and more. */
const WRITTEN_DOMAIN = /^[\p{L}\p{M}\p{N}.．。｡%\\&#;-]+/u;
/** Other dots count where there is no plain one: the full stop of a sentence in Chinese is one of them. */
const DOMAIN = new RegExp(`^${LABEL}(?:(?:\\.${LABEL})+|(?:[．。｡]${LABEL})+)`, 'u');
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

/** Searches around each @ only, up to the @ before and behind it: a pattern over the whole text would need quadratic time. */
function replaceWritten(text: string, replace: Replace): string {
  let done = '';
  let from = 0;
  let begin = 0;
  const signs = text.matchAll(AT);
  for (let sign = signs.next().value; sign !== undefined; ) {
    const next = signs.next().value;
    const around = { begin, at: sign.index, sign: sign[0], until: next?.index ?? text.length, from };
    begin = sign.index + sign[0].length;
    sign = next;
    let found = addressAt(text, around, false);
    let after = found?.address === '' ? '' : found && replace(found.address);
    // Whoever looks for known addresses finds them beside such words too; otherwise these may belong to the address.
    if (found !== undefined && after === undefined && HAS_CLOSE.test(found.address)) {
      found = addressAt(text, around, true);
      after = found && replace(found.address);
    }
    if (found === undefined || after === undefined) continue;
    done += text.slice(from, found.start) + after;
    from = found.end;
    begin = from;
  }
  return done + text.slice(from);
}

/** An @, and what is around it. */
interface Around {
  readonly at: number;
  readonly sign: string;
  /** Where the @ or the address before it ends; 0 without one. */
  readonly begin: number;
  /** Where the next @ stands, or the text ends. */
  readonly until: number;
  /** Where the last address before it ends; 0 without one. */
  readonly from: number;
}

/**
 * The address around an @; undefined if it belongs to none. It is empty for a further domain after an address, as in `a@b.io@c.io`.
 * @param isCut without the words of other scripts beside it
 */
function addressAt(
  text: string,
  { at, sign, from, ...around }: Around,
  isCut: boolean,
): { readonly start: number; readonly end: number; readonly address: string } | undefined {
  const after = at + sign.length;
  const rest = text.slice(after, Math.min(around.until, after + WRITTEN_CHARS_MAX));
  const behind = spelled(WRITTEN_DOMAIN.exec(rest)?.[0] ?? '');
  const domain = domainIn(behind.plain.slice(0, DOMAIN_CHARS_MAX), isCut);
  if (domain === undefined) return undefined;
  const begin = Math.max(around.begin, at - WRITTEN_CHARS_MAX);
  // The backslash of an escaped @ belongs to the @.
  const before = spelled(text.slice(begin, at).replace(/\\+$/, ''));
  const local = localIn(before.plain.slice(-LOCAL_CHARS_MAX), isCut);
  const isFurther = local === '' && from > 0 && begin === from && LOCAL_OR_NONE.test(before.plain);
  if ((local === '' && !isFurther) || NO_PERSON.test(local)) return undefined;
  const isUserInfo = () =>
    USER_INFO_BEFORE.test(text.slice(Math.max(0, at - WRITTEN_CHARS_MAX), at)) &&
    !MORE_USER_INFO.test(text.slice(after, after + WRITTEN_CHARS_MAX));
  if (sign === '@' && isUserInfo()) return undefined;
  const end = after + behind.startOf(domain.length);
  if (isFurther) return { start: from, end, address: '' };
  const start = begin + before.startOf(before.plain.length - local.length);
  return { start, end, address: `${local.replaceAll('"', '')}@${domain.replace(/[．。｡]/g, '.')}` };
}

/** A text as it is meant, and where its characters are written. */
interface Spelled {
  readonly plain: string;
  /** Where the character at a position of the plain text begins. */
  startOf(position: number): number;
}

function spelled(text: string): Spelled {
  if (!/[%\\&]/.test(text)) return { plain: text, startOf: (position) => position };
  const starts: number[] = [];
  let plain = '';
  const put = (meaning: string, from: number, step: 0 | 1) => {
    for (let at = 0; at < meaning.length; at += 1) starts.push(from + at * step);
    plain += meaning;
  };
  let from = 0;
  for (const { 0: written, index } of text.matchAll(ESCAPE)) {
    put(text.slice(from, index), from, 1);
    put(meaningOf(written), index, 0);
    from = index + written.length;
  }
  put(text.slice(from), from, 1);
  return { plain, startOf: (position) => starts[position] ?? text.length };
}

function meaningOf(written: string): string {
  if (written.startsWith('\\')) return String.fromCharCode(Number.parseInt(written.slice(-4), 16));
  if (written.startsWith('&')) return String.fromCodePoint(Number(`0${written.slice(2, -1)}`));
  try {
    return decodeURIComponent(written.replace(/%(?:25)+(?=[\da-f]{2})/gi, '%'));
  } catch {
    return written;
  }
}

/** The name at the end of a text. */
function localIn(text: string, isCut: boolean): string {
  const written = LOCAL.exec(text)?.[0];
  if (written === undefined) return QUOTED_LOCAL.exec(text)?.[0] ?? '';
  return (isCut ? written.replace(CLOSE_BEFORE, '') : written).replace(BEFORE_LOCAL, '');
}

/** The domain at the beginning of a text; undefined if it is none of a mailbox. */
function domainIn(text: string, isCut: boolean): string | undefined {
  const written = DOMAIN.exec(text)?.[0];
  let domain = isCut ? written?.replace(CLOSE_AFTER, '') : written;
  while (domain !== undefined) {
    const plain = domain.replace(/[．。｡]/g, '.');
    if (VERSION.test(plain) || IMAGE_SIZE.test(plain) || SYSTEMD_UNIT.test(plain)) return undefined;
    if (TOP_LEVEL.test(plain)) return domain;
    const end = domain.lastIndexOf('.');
    domain = end < 0 ? undefined : domain.slice(0, end);
  }
  return undefined;
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
