import { createHash } from 'node:crypto';
import type { ExactText } from '../api/exact.ts';
import { originalOf, type Rejected } from '../api/shapes/salvage.ts';
import { canonicalJson, isExact, isObject } from '../core/json.ts';
import { canonicalText } from '../core/json-text.ts';
import type { Privacy } from '../privacy/email.ts';
import type { Drift, QuarantinedRecord } from '../warehouse/port.ts';

/** Maximum length of a sample in the drift table, in characters. */
const SAMPLE_CHARS_MAX = 200;

/** The place of a record in the schema of its answer, and the text of that answer. */
export interface Source {
  readonly place: string;
  readonly exact: ExactText;
}

/** The unknown fields of an object inside a record, under the name of that object. */
export interface Nested {
  readonly name: string;
  readonly text: string | null;
}

/** Collects problems in the answers of a unit: records that cannot be stored, unknown fields and contradictions. */
export class Findings {
  readonly #quarantined = new Map<string, QuarantinedRecord>();
  /** Digests of records that are about something else. */
  readonly #foreign = new Set<string>();
  readonly #drift = new Map<string, Drift>();
  readonly #warnings = new Set<string>();
  readonly #privacy: Privacy;

  constructor(privacy: Privacy) {
    this.#privacy = privacy;
  }

  /** Quarantines a part of an answer, as the text that the service sent. */
  reject(part: Rejected, exact: ExactText): void {
    const { path, kind, reason } = part;
    const sent = sentText(part, exact);
    const text = this.#privacy.scrubJson(sent);
    const recordSha256 = createHash('sha256').update(text).digest('hex');
    this.#quarantined.set(recordSha256, { reason, path, record: text, recordSha256 });
    if (kind === 'foreign') this.#foreign.add(recordSha256);
    if (kind === 'wrong-type') this.#note(placeOf(path), 'wrong type', `${reason}: ${text}`);
  }

  /**
   * The fields of a record that are not in `known`, as canonical JSON text; null if there are none. Numbers that a
   * double cannot hold keep their digits.
   * @param nested unknown fields of an object in the record whose own fields became columns.
   */
  extra(record: object, known: ReadonlySet<string>, source: Source, nested?: Nested): string | null {
    let members: [name: string, text: string][] | undefined;
    for (const name in record) {
      if (known.has(name) || !Object.hasOwn(record, name)) continue;
      const value: unknown = Reflect.get(record, name);
      const text = this.#scrubbed(
        isExact(value)
          ? canonicalJson(value)
          : canonicalText(source.exact.fieldText(originalOf(record), name) ?? 'null'),
      );
      members ??= [];
      // A name may be an email too.
      const shown = this.#privacy.scrub(name);
      members.push([shown, text]);
      this.#note(`${source.place}.${shown}`, 'unknown field', text);
    }
    if (nested !== undefined && nested.text !== null)
      members = [...(members ?? []), [nested.name, nested.text]];
    if (members === undefined) return null;
    // Scrubbing may give two fields the same name. Every database keeps the last one.
    const sorted = [...new Map(members)].sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${sorted.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
  }

  /** Records a value that this version does not know in an open-ended enumeration. */
  expectOneOf(known: readonly string[], value: string | null | undefined, place: string): void {
    if (value === null || value === undefined || known.includes(value)) return;
    this.#note(place, 'new value', this.#privacy.scrub(value));
  }

  /** Records a contradiction within the answers, and how it was resolved. */
  warn(text: string): void {
    this.#warnings.add(text);
  }

  /** Number of quarantined records that belong to what was requested: the answer has them, but not as rows. */
  get setAside(): number {
    return this.#quarantined.size - this.#foreign.size;
  }

  get quarantined(): QuarantinedRecord[] {
    return [...this.#quarantined.values()];
  }

  get drift(): Drift[] {
    return [...this.#drift.values()];
  }

  get warnings(): string[] {
    return [...this.#warnings];
  }

  /** Removes what must not be stored from a canonical text; the result is canonical again. */
  #scrubbed(text: string): string {
    const scrubbed = this.#privacy.scrubJson(text);
    return scrubbed === text ? text : canonicalText(scrubbed);
  }

  #note(path: string, kind: Drift['kind'], sample: string): void {
    if (!this.#drift.has(path))
      this.#drift.set(path, { path, kind, sample: sample.slice(0, SAMPLE_CHARS_MAX).toWellFormed() });
  }
}

/** The text that the service sent of a rejected part. */
function sentText({ record, path }: Rejected, exact: ExactText): string {
  if (!isObject(record)) return exact.textAt(path) ?? JSON.stringify(record) ?? 'null';
  const own = exact.textOf(originalOf(record));
  if (own !== undefined) return own;
  // An entry of a map is not an object of the answer, so its name and value are put together.
  const [name = ''] = Object.keys(record);
  return `{${JSON.stringify(name)}:${exact.textAt(path) ?? canonicalJson(record[name])}}`;
}

/** A path without its indices: the place in the schema. */
function placeOf(path: string): string {
  return path.replace(/\[\d+\]/g, '[]').replace(/\["(?:[^"\\]|\\.)*"\]/g, '[*]');
}
