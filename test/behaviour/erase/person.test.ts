import { describe, expect, test } from 'vitest';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { placesOf } from '../../support/erase/search.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

/** A Friday: somebody was active on each of the days before it. */
const today = parseDay('2026-01-30');
const SMALL = { today, users: 12, reports: 8 };

onEachDatabase((database) => {
  describe('an erased person', () => {
    test('is nowhere, every total stays, and neither a pull nor a replay brings the person back', async () => {
      const rig = await archivedRig(SMALL, database);
      const spool = tempDir();
      rig.emulator.setQuirks({ unknownFields: true });
      await rig.run({ now: parseDay('2026-01-29') });
      rig.emulator.revise({ kind: 'restate', day: parseDay('2026-01-28') });
      await rig.run();
      const { user, email } = await somebody(rig);
      const searched = { place: rig.place, archive: rig.folder, spool };
      expect((await placesOf([user, email], searched)).length).toBeGreaterThan(3);
      const sum = () => rig.value<number>('SELECT sum(billable_tokens) FROM user_daily');
      const before = await sum();
      const { certificate } = await eraseFrom(rig, { user }, { spool });
      expect(certificate.totals_sha256.after).toBe(certificate.totals_sha256.before);
      expect(await placesOf([user, email], { ...searched, texts: [JSON.stringify(certificate)] })).toEqual(
        [],
      );
      expect(await sum()).toBe(before);
      const digest = await rig.digest();
      expect(certificate.digest_after).toBe(digest);
      const firstDay = shiftDay(today, -10);
      const again = await rig.run({
        command: 'backfill',
        from: firstDay,
        until: shiftDay(today, -1),
        force: true,
      });
      expect(again.report).toMatchObject({ rowsWritten: 0, unitsFailed: 0 });
      expect(await rig.digest()).toBe(digest);
      const { rig: copy } = await rig.replayInto();
      expect(await copy.digest()).toBe(digest);
      // What the warehouse said on the first night is still known, without the person.
      const { rig: past } = await rig.replayInto({ asOf: new Date('2026-01-29T12:00:00Z') });
      expect(await past.value('SELECT count(*) FROM user_daily')).toBeGreaterThan(0);
      expect(await past.digest()).not.toBe(digest);
      expect(await placesOf([user, email], { ...searched, place: past.place })).toEqual([]);
      expect(await placesOf([user, email], searched)).toEqual([]);
    });
  });
});
