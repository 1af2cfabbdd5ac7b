import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, fieldOf, jsonOf } from './command.ts';
import { ACTS, type Event, type Kind } from './events.ts';
import { type Machine, writeOlder } from './machine.ts';
import type { Published } from './published.ts';
import { ORG_ID } from './service.ts';
import { replayCode } from './stored.ts';
import { dateOf, emailOf, type Night, RETAIN_DAYS, userId } from './truth.ts';

/** The hour of the day at which people act, after the runs of the night. */
const HOUR = 9;

/** Migrations that a warehouse of an earlier version lacks at most: tables, views and rollups came with these. */
const OLDER_MAX = 4;

/** Acts on the file of a warehouse. */
const ON_FILES: ReadonlySet<Kind> = new Set<Kind>(['lost-volume', 'upgrade']);

/** What people have done so far, and what must follow from it. */
export class People {
  readonly #machine: Machine;
  readonly #published: Published;
  /** Whether the warehouse has another organization. */
  readonly #isBeside: boolean;
  /** The last file of people and of prices, which a person loads again into a new warehouse. */
  readonly #loaded = new Map<string, readonly string[]>();
  #backup: { readonly at: Night; readonly policy: string; readonly erased: ReadonlySet<string> } | null =
    null;
  #night: Night = 0;
  /** The night in whose morning the warehouse is left to the next run as an earlier version has it. */
  #olderIn: Night | null = null;
  #isKilled = false;

  constructor(machine: Machine, published: Published, isBeside: boolean) {
    this.#isBeside = isBeside;
    this.#machine = machine;
    this.#published = published;
  }

  /** Does what the events of a night say, after a last run that was killed or ended; answers with the promises that did not hold. */
  async act(night: Night, events: readonly Event[], isKilled: boolean): Promise<string[]> {
    this.#night = night;
    this.#isKilled = isKilled;
    const faults: string[] = [];
    for (const event of events) {
      if (!isAct(event.kind)) continue;
      if (this.#machine.place === null ? !existsSync(this.#machine.warehouse) : ON_FILES.has(event.kind))
        continue;
      // Before the first run, nobody knows whose people these are.
      if (event.kind === 'people' && (await this.#machine.stored())?.orgId === null) continue;
      faults.push(...(await this.#do(event)));
      if (faults.length > 0) return faults;
    }
    return this.#findExcluded();
  }

  async #do({ kind, salt }: Event): Promise<string[]> {
    const { folder } = this.#machine;
    switch (kind) {
      case 'people':
        return this.#load('people', this.#peopleLines(salt));
      case 'prices':
        return this.#load('prices', [
          'valid_from,valid_to,currency,price_per_million',
          `2026-01-01,,EUR,${1 + (salt % 9)}`,
        ]);
      case 'erase':
        return this.#erase(salt % this.#published.size);
      case 'policy':
        return this.#tighten(salt);
      case 'backup': {
        const faults = await this.#expect(0, 'backup', join(folder, 'backup.db'));
        this.#backup = {
          ...{ at: this.#night, policy: this.#machine.env['DAYWALK_EMAILS'] ?? 'keep' },
          erased: new Set(this.#published.erased),
        };
        return [...faults, ...(await this.#isAsBackedUp())];
      }
      case 'restore':
        // Without a list nobody knows who was erased since; the person would have to erase again.
        return this.#backup === null || !this.#knowsErasures() ? [] : this.#restore();
      case 'copy':
        return this.#copy();
      case 'replay':
        return this.#replay();
      case 'lost-volume':
        return this.#lose();
      case 'upgrade':
        return this.#upgrade(salt);
      case 'retain':
        // It holds from the next run on.
        this.#machine.setEnv({ DAYWALK_RETAIN_USERS: `${RETAIN_DAYS}d` });
        this.#published.isRetained = true;
        return [];
      case 'accept-quarantine':
        return this.#expect(0, 'quarantine', 'accept', '--all');
      case 'publish':
        return this.#expect(0, 'publish', '--sqlite', join(folder, 'published.db'));
      default:
        return [];
    }
  }

  #peopleLines(salt: number): string[] {
    const people = Array.from({ length: this.#published.size }, (_, id) => id);
    const lines = people.map((id) => `${userId(id)},${emailOf(id)},team-${(id + salt) % 3},2026-01-01`);
    return ['user_id,user_email,team,valid_from', ...lines];
  }

  async #load(what: 'people' | 'prices', lines: readonly string[]): Promise<string[]> {
    this.#loaded.set(what, lines);
    const path = join(this.#machine.folder, `${what}.csv`);
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
    const faults = await this.#expect(0, what, 'load', path, ...(await this.#ofOrganization()));
    // The file is the person's own; what the program makes of it is looked at.
    rmSync(path);
    return faults;
  }

  async #erase(id: number): Promise<string[]> {
    const whose = await this.#ofOrganization();
    const ended = await this.#command('erase', '--user', userId(id), '--leave-joined', '--json', ...whose);
    // Who never came, or whom a lie has replaced on each stored day, is an unknown ID.
    if (ended.code === 2 && !(await this.#isStored(`${userId(id)} `))) return [];
    this.#published.erased.add(userId(id));
    return ended.code === 0 ? [] : [told(ended)];
  }

  async #isStored(name: string): Promise<boolean> {
    const stored = await this.#machine.stored();
    return stored?.units.some(({ stream, text }) => stream === 'users' && text.includes(name)) === true;
  }

  /** Keep, then hash, then drop: what is kept never becomes more. */
  async #tighten(salt: number): Promise<string[]> {
    const { env } = this.#machine;
    if (env['DAYWALK_EMAILS'] === 'drop') return [];
    const mode = env['DAYWALK_EMAILS'] === 'hash' || salt % 2 === 0 ? 'drop' : 'hash';
    this.#machine.setEnv({
      DAYWALK_EMAILS: mode,
      ...(mode === 'hash' && { DAYWALK_EMAIL_SALT: 'salt-of-the-world-1234567890' }),
    });
    return this.#expect(0, 'privacy', 'apply', '--yes');
  }

  /** I6: a backup that is restored has the digest of the warehouse. */
  async #isAsBackedUp(): Promise<string[]> {
    const { folder } = this.#machine;
    const place = join(folder, 'restored.db');
    const ended = await this.#command('restore', join(folder, 'backup.db'), '--warehouse', place);
    const faults = ended.code === (this.#knowsErasures() ? 0 : 5) ? [] : [told(ended)];
    // A restore removes people whose time is over also where the last run could not, or did not know that it is.
    const mayExpire =
      this.#published.isRetained && (this.#isKilled || this.#published.isHappening('clock-behind'));
    const isCompared = faults.length === 0 && !mayExpire;
    const differences = isCompared ? await this.#compare('the restored backup', place) : faults;
    removeDatabase(place);
    return differences;
  }

  async #copy(): Promise<string[]> {
    const place = join(this.#machine.folder, 'copy.db');
    const faults = await this.#expect(0, 'copy', '--to', place, '--replace');
    return faults.length > 0 ? faults : this.#compare('the copy', place);
  }

  /** I6: the archive rebuilds what the runs have stored. */
  async #replay(): Promise<string[]> {
    const { DAYWALK_ARCHIVE: archive } = this.#machine.env;
    // Where every night was missed, there is none yet.
    if (archive === undefined || !existsSync(archive)) return [];
    const place = join(this.#machine.folder, 'replayed.db');
    const ended = await this.#command('replay', '--warehouse', place);
    // After a kill, the archive knows what was committed only when the next run has looked.
    const isOpen =
      ended.code === 2 && ended.stderr.includes('whether these answers were committed') && this.#isKilled;
    const isRight = isOpen || ended.code === replayCode(place);
    removeDatabase(place);
    return isRight ? [] : [told(ended)];
  }

  /** I6: a warehouse of an earlier version has the same digest after its upgrade, by the command or by the next run. */
  async #upgrade(salt: number): Promise<string[]> {
    const { folder, warehouse } = this.#machine;
    const older = join(folder, 'older.db');
    const own = await this.#digest(warehouse);
    await writeOlder(warehouse, older, 1 + (salt % OLDER_MAX));
    removeDatabase(warehouse);
    renameSync(older, warehouse);
    if (salt % 3 === 0) {
      this.#olderIn = this.#night;
      return [];
    }
    const faults = await this.#expect(0, 'upgrade');
    if (faults.length > 0) return faults;
    const upgraded = await this.#digest(warehouse);
    return own === upgraded ? [] : [`I6: the digest was ${own} before the upgrade, and is ${upgraded}`];
  }

  async #compare(what: string, place: string): Promise<string[]> {
    const [own, other] = [await this.#digest(this.#machine.warehouse), await this.#digest(place)];
    return own === other ? [] : [`I6: ${what} has the digest ${other}, the warehouse ${own}`];
  }

  async #digest(place: string): Promise<string> {
    return String(
      fieldOf(jsonOf(await this.#command('digest', '--json', '--warehouse', place)), 'warehouse'),
    );
  }

  /** The warehouse is gone. A person restores the last backup, or lets the next run begin anew. */
  async #lose(): Promise<string[]> {
    if (this.#backup === null && this.#machine.env['DAYWALK_ARCHIVE'] !== undefined) return [];
    removeDatabase(this.#machine.warehouse);
    const { erased } = this.#published;
    if (this.#knowsErasures()) return this.#backup === null ? [] : this.#restore();
    // Without a list, the next warehouse shows the people who were erased since the backup until a person erases them again.
    const isKnown = this.#backup?.erased ?? new Set();
    for (const user of erased) if (!isKnown.has(user)) erased.delete(user);
    return this.#backup === null ? [] : this.#restore(erased.size === 0 ? 0 : 5);
  }

  async #restore(code = 0): Promise<string[]> {
    const ended = await this.#command(
      'restore',
      join(this.#machine.folder, 'backup.db'),
      '--replace',
      '--json',
    );
    return ended.code === code ? [] : [told(ended)];
  }

  #knowsErasures(): boolean {
    return this.#machine.env['DAYWALK_ERASURES'] !== undefined || this.#published.erased.size === 0;
  }

  /** I4: no byte of the warehouse, the archive, the copy or what was published holds what is excluded. */
  async #findExcluded(): Promise<string[]> {
    const { folder, env, place, mirror } = this.#machine;
    const everyone = Array.from({ length: this.#published.size }, (_, id) => id);
    const erased = everyone.filter((id) => this.#published.erased.has(userId(id)));
    const hidden = env['DAYWALK_EMAILS'] === undefined ? erased : everyone;
    const words = [...erased.map(userId), ...hidden.map(emailOf)];
    if (words.length === 0) return [];
    // Copies and backups stay as they are until they are made again: the certificate names them.
    const files = readdirSync(folder).filter((name) => !/^(backup|copy|published)/.test(name));
    await place?.mirror(mirror);
    const paths = [...files.map((name) => join(folder, name)), ...(place === null ? [] : [mirror])];
    return paths.flatMap((path) => {
      if (!statSync(path).isFile()) return [];
      const bytes = readFileSync(path);
      return words.filter((word) => bytes.includes(word)).map((word) => `I4: ${path} holds ${word}`);
    });
  }

  async #expect(code: number, ...args: readonly string[]): Promise<string[]> {
    const ended = await this.#command(...args);
    // What only reads a warehouse of an earlier version asks for its upgrade.
    if (ended.code === 2 && this.#olderIn === this.#night && ended.stderr.includes('daywalk upgrade')) {
      this.#olderIn = null;
      return [...(await this.#expect(0, 'upgrade')), ...(await this.#expect(code, ...args))];
    }
    return ended.code === code ? [] : [told(ended)];
  }

  /** The flag that names the first organization, where a warehouse has two. */
  async #ofOrganization(): Promise<string[]> {
    if (!this.#isBeside) return [];
    return ['--organization', (await this.#machine.stored())?.orgId ?? ORG_ID];
  }

  #command(...args: readonly string[]): Promise<Ended> {
    return this.#machine.command(args, `${dateOf(this.#night)}T${String(HOUR).padStart(2, '0')}:00:00Z`);
  }
}

function isAct(kind: Kind): boolean {
  return ACTS.some((act) => act === kind);
}

function told({ line, code, stdout, stderr }: Ended): string {
  return `I2: ${line} ended with exit code ${code}: ${stdout.slice(0, 300)} ${stderr.slice(0, 900)}`;
}

function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '.lock', '.lock-journal'])
    rmSync(`${path}${suffix}`, { force: true });
}
