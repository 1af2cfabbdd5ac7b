import { ACTS, type Event, type Kind, lateNight, type World } from './events.ts';
import {
  type Content,
  type Night,
  type Person,
  RETAIN_DAYS,
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
  /** Whether somebody has limited how long people are kept. */
  isRetained = false;
  /** The IDs of people who were erased: what is stored of them has another name. */
  readonly erased = new Set<string>();
  #night: Night = 0;
  #isKnown = true;
  readonly #world: World;
  readonly #peopleOn: (day: number) => readonly Person[];
  readonly #versions = new Map<string, readonly Version[]>();
  /** The nights on which a text was shown, by stream and day. */
  readonly #shown = new Map<string, Map<string, Set<Night>>>();
  /** The days that were shown with a record twice, or with an impossible one. */
  readonly #odd = new Set<string>();

  readonly #nightsWithoutReport = new Map(REPORTS.map((report) => [report, new Set<Night>()]));

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

  /** The texts of a day that were ever shown. */
  textsOf(stream: Stream, day: number): readonly string[] {
    return [...(this.#shown.get(`${stream} ${day}`) ?? [])].map(([text]) => this.masked(text));
  }

  /** True if a day was ever shown with a record that cannot be stored: that is another answer than one without it. */
  wasOdd(stream: Stream, day: number): boolean {
    return this.#odd.has(`${stream} ${day}`);
  }

  /**
   * The first night of those in a row, as far as anybody asked, on which a day was shown without all of these rows; null if
   * the last one had some. Of users their names count: that all who are stored are away is a loss, whoever came meanwhile.
   */
  missingSince(stream: Stream, day: number, rows: string): Night | null {
    const names = rows.split(', ').map((row) => `${row.split(' ')[0]} `);
    const lacks = (text: string) =>
      stream === 'users' ? !names.some((name) => text.includes(name)) : text === '';
    const nightsWhere = (isMeant: (text: string) => boolean) =>
      [...(this.#shown.get(`${stream} ${day}`) ?? [])].flatMap(([text, on]) =>
        isMeant(text) ? [...on] : [],
      );
    const missing = new Set(nightsWhere(lacks));
    const others = nightsWhere((text) => !lacks(text)).filter((night) => !missing.has(night));
    const lastWithRows = Math.max(-1, ...others);
    const since = Math.min(...[...missing].filter((night) => night > lastWithRows));
    return Number.isFinite(since) ? since : null;
  }

  /** True for a day of which no people may be kept: nothing is stored of its users. */
  isExpired(stream: Stream, day: number): boolean {
    return this.isRetained && stream === 'users' && day < this.#night - RETAIN_DAYS;
  }

  /** The honest content of a day, as it may be stored. */
  storedTruth(stream: Stream, day: number): string {
    return this.isExpired(stream, day) ? '' : this.storedText(stream, this.truth(stream, day));
  }

  /** What this night has shown of a day; undefined if nobody asked. */
  shownTonight(stream: Stream, day: number): readonly string[] {
    const texts = this.#shown.get(`${stream} ${day}`) ?? new Map<string, Set<Night>>();
    return [...texts].flatMap(([text, nights]) => (nights.has(this.#night) ? [this.masked(text)] : []));
  }

  /** The numbers of the readiness reports that this night shows. */
  showReports(): readonly number[] {
    const lie = this.#events().find(({ kind }) => kind === 'lacks-report');
    const shown =
      lie === undefined ? REPORTS : REPORTS.filter((report) => lie.salt % 3 > 0 && report !== lie.salt % 3);
    for (const report of REPORTS)
      if (!shown.includes(report)) this.#nightsWithoutReport.get(report)?.add(this.#night);
    return shown;
  }

  /** The nights on which the list of reports lacked one of them. */
  nightsWithoutReport(report: number): number {
    return this.#nightsWithoutReport.get(report)?.size ?? 0;
  }

  /**
   * True if this night has shown fewer users of a day than were active.
   * @param stored what is stored of the activity, if that counts. Default: what this night has shown of it
   */
  isShortOfUsers(day: number, stored?: string): boolean {
    const texts = stored === undefined ? this.shownTonight('activity', day) : [stored];
    const active = texts.map((text) => Number.parseInt(text, 10) || 0);
    const listed = this.shownTonight('users', day).map((text) => (text === '' ? 0 : text.split(', ').length));
    return active.length > 0 && listed.length > 0 && Math.min(...active) > Math.max(...listed);
  }

  /** The nights on which the users of a day were shown without one of them. */
  nightsWithout(day: number, row: string): number {
    const [name = ''] = row.split(' ');
    const texts = this.#shown.get(`users ${day}`) ?? new Map<string, Set<Night>>();
    return new Set([...texts].flatMap(([text, on]) => (text.includes(`${name} `) ? [] : [...on]))).size;
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

  /** What this request is shown of a day. */
  show(stream: Stream, day: number): Shown {
    const shown = this.#choose(stream, day);
    const name = `${stream} ${day}`;
    // A record that contradicts itself stays as it is stored; whoever is absent beside it is absent.
    const text = textOf(stream, shown.content, userId);
    const texts = this.#shown.get(name) ?? new Map<string, Set<Night>>();
    this.#shown.set(name, texts);
    texts.set(text, (texts.get(text) ?? new Set()).add(this.#night));
    if (shown.shape !== 'plain') this.#odd.add(name);
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
      case 'lacks-turns':
        return content?.filter(({ id }) => id !== (event.salt + this.#night) % this.size) ?? null;
      case 'user-replaced':
        // One comes, and one or two are gone: they are no leavers.
        return (
          content
            ?.filter((_, index) => index !== 1 || event.salt % 3 === 0)
            .map((person, index) => (index === 0 ? { ...person, id: person.id + 700 } : person)) ?? null
        );
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

/** The readiness reports of every organization, by their number. */
export const REPORTS: readonly number[] = [1, 2];

/** Events that concern whole responses. */
const WHOLE: ReadonlySet<Kind> = new Set<Kind>(['other-users', 'other-organization']);
/** Events in whose nights all answers are true and arrive, and the machine is well. */
const HARMLESS: ReadonlySet<Kind> = new Set<Kind>([
  ...(['late', 'partial', 'restated', 'user-gone', 'force', 'accept-loss', 'twice', 'missed'] as const),
  ...ACTS,
]);

/** How an honest event changes what is published of a day, and from which night on. */
function withEvent(versions: readonly Version[], event: Event, day: number): readonly Version[] {
  const { kind, from, salt } = event;
  const last = versions.at(-1);
  if (last === undefined || last.content === null) return versions;
  const late = lateNight(event, day);
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
