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

/** The ID of a user as the service writes IDs, in words and texts in which it is recognized. */
const ID_CANARY = 'user_0QXQXQXQX';
export const ID_CANARY_FORMS: readonly string[] = [
  ID_CANARY,
  `home-${ID_CANARY}`,
  `${ID_CANARY}_2`,
  `/u/${ID_CANARY}/x`,
  `su ${ID_CANARY}; ls`,
  JSON.stringify({ user_id: 'QXQX-opaque', user: ID_CANARY }),
  String.raw`\u0075ser_0QXQXQXQX`.replace(String.raw`\u0075`, 'u'),
];
/** What is left of an ID, also of those that {@link StrangeIds} makes. */
export const ID_CANARY_REST = /qxqx|99009900|facefeed|user_0/i;

/** IDs of other shapes than those of the service, each always the same for one user. */
const SHAPES: readonly ((n: number) => string)[] = [
  (n) => `QXQX-U-${n}`,
  (n) => `qxqx.${n}@qxqx-secret.example`,
  (n) => `99009900${n}`,
  (n) => `user_qxqx${'abcdefghij'[n % 10]}`,
  (n) => `${'qxqx'.repeat(75)}${n}`,
  (n) => `Ω qxqx-ü "${n}"`,
  (n) => `person-${`facefeed${n}`.padEnd(32, '0')}`,
  (n) => `user_0QXQX${n}`,
];

/** Gives users strange IDs, in `by_user` under each name that can hold one. Cursors stay: the service behind knows them. */
export class StrangeIds {
  readonly #known = new Map<string, string>();

  answer(json: string): string {
    return JSON.stringify(this.#value(JSON.parse(json), 'user_id'));
  }

  #of(id: string): string {
    const n = this.#known.size;
    const known = this.#known.get(id) ?? SHAPES[n % SHAPES.length]?.(n) ?? '';
    this.#known.set(id, known);
    return known;
  }

  #value(value: unknown, name: string): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#value(each, name));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([field, member], index) => {
        if (field === 'user_id') return [name, this.#of(String(member))];
        const isList = field === 'by_user' && Array.isArray(member);
        if (!isList) return [field, this.#value(member, 'user_id')];
        const names = ['user_id', 'user', 'id', 'group_key'];
        return [field, member.map((each, at) => this.#value(each, names[(at + index) % 4] ?? ''))];
      }),
    );
  }
}

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
