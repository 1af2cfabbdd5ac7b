/** An address that occurs nowhere else. */
export const CANARY = 'Canary.Qx@qx-secret.example';

/** What is left of it in a text in any form. */
export const CANARY_REST =
  /canary\.qx|qx-secret|Q2FuYXJ5LlF4|Q2FuYXJ5LlF4QHF4LXNlY3JldC5leGFtcGxl|Om9yOkNhbmFyeS5R/i;

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The address in the forms that are recognized, each in a word of its own. */
export const CANARY_FORMS: readonly string[] = [
  CANARY,
  CANARY.toLowerCase(),
  `<${CANARY}>`,
  `mailto:${CANARY}`,
  `--to=${CANARY}`,
  `https://host.example/?to=${CANARY}&x=1`,
  `https://${encodeURIComponent(CANARY)}:qx-secret-password@host.example/`,
  encodeURIComponent(CANARY),
  encodeURIComponent(encodeURIComponent(CANARY)),
  CANARY.replace('@', String.raw`\u0040`),
  CANARY.replace('@', '&#64;'),
  CANARY.replace('@', String.raw`\@`),
  base64(CANARY),
  base64(CANARY).replace(/=+$/, ''),
];

/** Fields that a service could not answer with another value: they say what the answer is about. */
const STRUCTURE: ReadonlySet<string> = new Set([
  'date',
  'org_id',
  'start_date',
  'end_date',
  'next_cursor',
  'reportId',
]);

/** Plants texts into every text, every name of a map, and an unknown field of each object, in turn. */
export class Planter {
  readonly #texts: readonly string[];
  readonly #spared: ReadonlySet<string>;
  #next = 0;
  planted = 0;

  /** @param spared further fields that stay as they are. @default none */
  constructor(texts: readonly string[], spared: readonly string[] = []) {
    this.#texts = texts;
    this.#spared = new Set([...STRUCTURE, ...spared]);
  }

  /** The JSON text of an answer with the planted texts. */
  answer(json: string): string {
    return JSON.stringify(this.#value(JSON.parse(json), ''));
  }

  #take(): string {
    const text = this.#texts[this.#next % this.#texts.length] ?? '';
    this.#next += 1;
    this.planted += 1;
    return text;
  }

  #value(value: unknown, field: string): unknown {
    if (typeof value === 'string') return this.#spared.has(field) ? value : this.#text(value, field);
    if (Array.isArray(value)) return value.map((each) => this.#value(each, field));
    if (typeof value !== 'object' || value === null) return value;
    const isMap = ['apps', 'report', 'daily_active_users_by_client'].includes(field);
    const members = Object.entries(value).map(([name, member]) => [
      isMap ? `${name} ${this.#take()}` : name,
      this.#value(member, name),
    ]);
    const isRecord = 'date' in value || 'reportId' in value || 'tool' in value;
    const unknown = isRecord
      ? [['unknown', { [this.#take()]: [this.#take()], contact_email: this.#take() }]]
      : [];
    return Object.fromEntries([...members, ...unknown]);
  }

  /** Tiers and levels are words of the service, and an address is one as a whole. */
  #text(value: string, field: string): string {
    if (field === 'user_email') return `${value.split('@')[0]}.${CANARY}`;
    return `${value} ${this.#take()}`;
  }
}
