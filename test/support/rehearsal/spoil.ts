import { cpSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
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
      changed(archive, (db) => {
        db.exec(
          'CREATE TEMP TABLE gone AS SELECT id FROM answers WHERE substr(at, 1, 10) = (SELECT max(substr(at, 1, 10)) FROM answers)',
        );
        db.exec('DELETE FROM outcomes WHERE answer IN (SELECT id FROM gone)');
        db.exec('DELETE FROM answers WHERE id IN (SELECT id FROM gone)');
      });
      return { ...rehearsed, archive };
    },
  },
  {
    what: 'the erased person is in the archive again',
    check: 'the erasure',
    finds: /^the erased person is in .*archive\.db, page/,
    plant: async (rehearsed) => {
      const archive = copyOf(rehearsed.archive);
      changed(archive, (db) =>
        db.prepare("INSERT INTO meta VALUES ('planted', ?, 0)").run(rehearsed.erased.user),
      );
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

/** Changes the file of an archive with SQL. */
function changed(archive: string, change: (db: Sqlite.Database) => void): void {
  const db = new Sqlite(join(archive, 'archive.db'));
  change(db);
  db.close();
}
