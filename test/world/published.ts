import { ACTS, type Event, type Kind, type World } from './events.ts';
import {
  type Content,
  type Night,
  type Person,
  renumbered,
  type Stream,
  textOf,
  truthOf,
  userId,
} from './truth.ts';

/** What the oracle calls whoever was erased. */
export const ERASED = 'erased';

/** What a response shows of a day. */
export interface Shown {
  readonly content: Content;
  /** `twice` and `impossible` contradict themselves, so nothing may be stored from them. */
  readonly shape: 'plain' | 'twice' | 'impossible';
}

interface Version {
  readonly from: Night;
  readonly content: Content;
}

/** What the service of a world publishes, night by night, and what it has shown. */
export class Published {
  readonly size: number;
  /** The request that is being answered. */
  asked = { isRange: false };
  /** The IDs of people who were erased: what is stored of them has another name. */
  readonly erased = new Set<string>();
  #night: Night = 0;
  #isKnown = true;
  readonly #world: World;
  readonly #peopleOn: (day: number) => readonly Person[];
  readonly #versions = new Map<string, readonly Version[]>();
  /** The nights on which a text was shown, by stream and day. */
  readonly #shown = new Map<string, Map<string, Set<Night>>>();

  constructor(world: World) {
    this.#world = world;
    const { size, peopleOn } = truthOf(world.seed);
    this.size = size;
    this.#peopleOn = peopleOn;
  }

  begin(night: Night, isKnown = true): void {
    this.#night = night;
    this.#isKnown = isKnown;
  }

  isHappening(kind: Kind): boolean {
    return this.#events().some((event) => event.kind === kind);
  }

  /** True in a night in which every response is honest and arrives. */
  isHonest(night = this.#night): boolean {
    return !this.#world.events.some(
      ({ kind, from, until }) => from <= night && night <= until && !HARMLESS.has(kind),
    );
  }

  /** The honest content of a day in a night. */
  truth(stream: Stream, day: number, night = this.#night): Content {
    return this.versions(stream, day).findLast(({ from }) => from <= night)?.content ?? null;
  }

  /** All honest contents of a day, in the order of their nights. */
  versions(stream: Stream, day: number): readonly Version[] {
    const name = `${stream} ${day}`;
    const known = this.#versions.get(name) ?? this.#makeVersions(stream, day);
    this.#versions.set(name, known);
    return known;
  }

  /** The nights on which a day was shown with this text. */
  nightsOf(stream: Stream, day: number, text: string): number {
    const texts = this.#shown.get(`${stream} ${day}`) ?? new Map<string, Set<Night>>();
    if (this.erased.size === 0 || stream !== 'users') return texts.get(text)?.size ?? 0;
    const nights = [...texts].flatMap(([shown, on]) => (this.masked(shown) === text ? [...on] : []));
    return new Set(nights).size;
  }

  /** The text of a content, as it may be stored. */
  storedText(stream: Stream, content: Content): string {
    const text = textOf(stream, content, userId);
    return stream === 'users' ? this.masked(text) : text;
  }

  /** A text of users, with one name for all who were erased. */
  masked(text: string): string {
    if (this.erased.size === 0 || text === '') return text;
    const rows = text.split(', ').map((row) => {
      const [name = '', ...numbers] = row.split(' ');
      return [this.erased.has(name) ? ERASED : name, ...numbers].join(' ');
    });
    return rows.toSorted().join(', ');
  }

  /** True if the service has ever shown the person. */
  isShownUser(id: number): boolean {
    const name = `${userId(id)} `;
    return [...this.#shown].some(
      ([unit, texts]) => unit.startsWith('users') && [...texts.keys()].some((text) => text.includes(name)),
    );
  }

  /** What this request is shown of a day. */
  show(stream: Stream, day: number): Shown {
    const shown = this.#choose(stream, day);
    // A record that contradicts itself stays as it is stored; whoever is absent beside it is absent.
    {
      const text = textOf(stream, shown.content, userId);
      const name = `${stream} ${day}`;
      const texts = this.#shown.get(name) ?? new Map<string, Set<Night>>();
      this.#shown.set(name, texts);
      texts.set(text, (texts.get(text) ?? new Set()).add(this.#night));
    }
    return shown;
  }

  #events(): readonly Event[] {
    return this.#world.events.filter(({ from, until }) => from <= this.#night && this.#night <= until);
  }

  #choose(stream: Stream, day: number): Shown {
    let content = day < this.#night ? this.truth(stream, day) : null;
    let shape: Shown['shape'] = 'plain';
    for (const event of this.#events()) {
      if (!event.streams.includes(stream) && !WHOLE.has(event.kind)) continue;
      if ((day < event.firstDay || day > event.lastDay) && !WHOLE.has(event.kind)) continue;
      if (event.kind === 'contradiction') shape = 'twice';
      else if (event.kind === 'impossible') shape = 'impossible';
      else content = this.#lied(content, event, stream, day);
    }
    return { content, shape };
  }

  #lied(content: Content, event: Event, stream: Stream, day: number): Content {
    switch (event.kind) {
      case 'empty':
        return null;
      case 'stale':
        return this.truth(stream, day, this.#night - 1 - (event.salt % 3));
      case 'wrong-numbers':
        return content && renumbered(content, event.salt);
      case 'lacks-user':
        return content?.filter(({ id }) => id !== event.salt % this.size) ?? null;
      case 'flapping':
        return (this.#night - event.from) % 2 === 0 ? content && renumbered(content, event.salt) : content;
      case 'trimmed-ranges':
        return this.asked.isRange ? null : content;
      case 'other-users':
        if (!this.#isKnown) return content;
        return content?.map((person) => ({ ...person, id: person.id + 500 })) ?? null;
      default:
        return content;
    }
  }

  #makeVersions(stream: Stream, day: number): readonly Version[] {
    const people = this.#peopleOn(day);
    const first: Version = { from: day + 1, content: people };
    return this.#world.events
      .filter(
        ({ streams, firstDay, lastDay }) => firstDay <= day && day <= lastDay && streams.includes(stream),
      )
      .toSorted((a, b) => a.from - b.from)
      .reduce<readonly Version[]>((versions, event) => withEvent(versions, event, day), [first]);
  }
}

/** Events that concern whole responses. */
const WHOLE: ReadonlySet<Kind> = new Set<Kind>(['other-users', 'other-organization']);
/** Events in whose nights all answers are true and arrive, and the machine is well. */
const HARMLESS: ReadonlySet<Kind> = new Set<Kind>([
  ...(['late', 'partial', 'restated', 'user-gone', 'force', 'accept-loss', 'twice', 'missed'] as const),
  ...ACTS,
]);

/** How an honest event changes what is published of a day, and from which night on. */
function withEvent(
  versions: readonly Version[],
  { kind, from, salt }: Event,
  day: number,
): readonly Version[] {
  const last = versions.at(-1);
  if (last === undefined || last.content === null) return versions;
  const late = day + 2 + (salt % 3);
  switch (kind) {
    case 'late':
      return [{ from: late, content: last.content }];
    case 'partial':
      return [
        { from: day + 1, content: last.content.slice(0, -1) },
        { from: late, content: last.content },
      ];
    case 'restated':
      return from <= last.from ? versions : [...versions, { from, content: renumbered(last.content, salt) }];
    case 'user-gone':
      return from <= last.from ? versions : [...versions, { from, content: last.content.slice(1) }];
    default:
      return versions;
  }
}
