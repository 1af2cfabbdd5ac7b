import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '../suite/temp-dir.ts';
import type { Check } from './judge.ts';
import type { Rehearsed } from './rehearse.ts';

/** A fault that is planted into a rehearsal, and what must find it. */
export interface Spoiled {
  readonly what: string;
  readonly check: Check;
  /** The words of the check. */
  readonly finds: RegExp;
  /** Plants the fault. Later faults may be planted on top of it. */
  plant(rehearsed: Rehearsed): Promise<Rehearsed>;
}

/** One fault for each claim of the rehearsal. */
export const FAULTS: readonly Spoiled[] = [
  {
    what: 'an incident was not reported',
    check: 'incidents',
    finds: /^missing: /,
    plant: async (rehearsed) => {
      const isNews = (body: string) => JSON.parse(body).opened_count > 0;
      const first = rehearsed.messages.findIndex(({ body }) => isNews(body));
      return { ...rehearsed, messages: rehearsed.messages.filter((_, index) => index !== first) };
    },
  },
  {
    what: 'an incident was reported that nobody planned',
    check: 'incidents',
    finds: /^not planned: /,
    plant: async (rehearsed) => {
      const [scene, ...scenes] = rehearsed.plan.scenes.filter(({ what }) => what !== 'upgrade');
      if (scene === undefined) throw new Error('nothing is planned');
      const outages = scenes.filter(({ what }) => what !== 'outage');
      return { ...rehearsed, plan: { ...rehearsed.plan, scenes: outages } };
    },
  },
  {
    what: 'the archive lacks the last run',
    check: 'a replay of the archive',
    finds: /^other digests of .*tokens_daily/,
    plant: async (rehearsed) => {
      const archive = copyOf(rehearsed.archive);
      for (const file of newestFiles(join(archive, 'index'))) rmSync(file);
      return { ...rehearsed, archive };
    },
  },
  {
    what: 'the erased person is in the archive again',
    check: 'the erasure',
    finds: /^the erased person is in .*planted/,
    plant: async (rehearsed) => {
      const archive = copyOf(rehearsed.archive);
      writeFileSync(join(archive, 'index', 'planted'), `{"user":"${rehearsed.erased.user}"}`);
      return { ...rehearsed, archive };
    },
  },
  {
    what: 'a row was lost',
    check: 'an undisturbed export',
    finds: /^other digests of tokens_daily, warehouse$/,
    plant: async (rehearsed) => {
      await rehearsed.place.execute(
        'DELETE FROM tokens_daily WHERE date = (SELECT MIN(date) FROM tokens_daily)',
      );
      return rehearsed;
    },
  },
];

function copyOf(archive: string): string {
  const copy = tempDir();
  cpSync(archive, copy, { recursive: true });
  return copy;
}

/** The files of an index that the runs of the last night have written. A name has a number, then the instant. */
function newestFiles(folder: string): string[] {
  const names = readdirSync(folder).sort();
  const dateOf = (name: string) => name.split('-')[1]?.slice(0, 'yyyymmdd'.length) ?? '';
  const last = names.map(dateOf).sort().at(-1);
  return names.filter((name) => dateOf(name) === last).map((name) => join(folder, name));
}
