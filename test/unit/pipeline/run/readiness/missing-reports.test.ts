// @module-tag campaign/answers

import { describe, expect, it } from 'vitest';
import { doubtText, parseDoubt, type StandingDoubt } from '../../../../../src/judge/doubt.ts';
import { missingReports, weighReports } from '../../../../../src/judge/missing-reports.ts';
import { ReportLists, type ReportRule } from '../../../../support/model/report-lists.ts';
import { answersMax } from '../../../../support/suite/campaign-length.ts';

const ALL = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];

/** A pass that lacks these reports, after others. */
function pass(standing: StandingDoubt | null, missing: readonly string[], at: string, acceptsLoss = false) {
  const loss = { missing, stored: ALL.length };
  return weighReports(standing, loss, { now: new Date(at), acceptsLoss });
}

describe('a report that a full pass misses', () => {
  it('stays, is listed, and is gone once a pass on another day misses it', () => {
    const first = pass(null, ['a', 'b'], '2026-03-01T03:00:00.000Z');
    expect(first.gone).toEqual([]);
    expect(first.doubt).toMatchObject({ rule: 'loss-of-reports', rows: 2, of: 12, seenOn: ['2026-03-01'] });
    const again = pass(first.doubt, ['a', 'b'], '2026-03-01T23:00:00.000Z');
    expect(again).toEqual(first);
    expect(pass(again.doubt, ['a', 'b'], '2026-03-02T03:00:00.000Z')).toEqual({
      gone: ['a', 'b'],
      doubt: null,
    });
  });

  it('starts again if it was back in between, and does not wait for others', () => {
    const first = pass(null, ['a', 'b'], '2026-03-01T03:00:00.000Z');
    const second = pass(first.doubt, ['b', 'c'], '2026-03-02T03:00:00.000Z');
    expect(second.gone).toEqual(['b']);
    expect(second.doubt).toMatchObject({
      ...{ missing: ['c'], since: '2026-03-02T03:00:00.000Z', seenOn: ['2026-03-02'] },
    });
    const third = pass(second.doubt, ['a', 'c'], '2026-03-03T03:00:00.000Z');
    expect(third.gone).toEqual(['c']);
    expect(third.doubt).toMatchObject({ missing: ['a'], since: '2026-03-03T03:00:00.000Z' });
  });

  it('is not gone by two passes around midnight', () => {
    const first = pass(null, ['a'], '2026-03-01T23:30:00.000Z');
    const second = pass(first.doubt, ['a'], '2026-03-02T00:30:00.000Z');
    expect(second.gone).toEqual([]);
    expect(pass(second.doubt, ['a'], '2026-03-02T12:00:00.000Z').gone).toEqual(['a']);
    expect(pass(second.doubt, ['a'], '2026-03-02T11:30:00.000Z').gone).toEqual(['a']);
    expect(pass(second.doubt, ['a'], '2026-03-02T11:29:59.999Z').gone).toEqual([]);
  });

  it('is not gone by two passes of one day, whatever others were missed before', () => {
    const first = pass(null, ALL.slice(0, 7), '2026-03-01T03:00:00.000Z');
    const second = pass(first.doubt, ALL.slice(0, 8), '2026-03-02T03:00:00.000Z');
    expect(pass(second.doubt, ['h'], '2026-03-02T23:00:00.000Z').gone).toEqual([]);
    expect(pass(second.doubt, ['h'], '2026-03-03T03:00:00.000Z').gone).toEqual(['h']);
  });

  it('needs passes on three days, and 60 hours, if most are missing', () => {
    const most = ALL.slice(0, 7);
    const first = pass(null, most, '2026-03-01T03:00:00.000Z');
    expect(pass(first.doubt, most, '2026-03-09T03:00:00.000Z').gone).toEqual([]);
    const second = pass(first.doubt, most, '2026-03-02T03:00:00.000Z');
    expect(pass(second.doubt, most, '2026-03-03T14:59:59.999Z').gone).toEqual([]);
    expect(pass(second.doubt, most, '2026-03-03T15:00:00.000Z').gone).toEqual(most);
  });

  it.each([1, 2, 3, 12, 19, 40])(
    'of %i stays for three days and 60 hours if most or all are missing',
    (count) => {
      const missing = Array.from({ length: Math.floor(count / 2) + 1 }, (_, index) => `r${index}`);
      let standing: StandingDoubt | null = null;
      for (const day of [1, 2, 3]) {
        const rule = { now: new Date(`2026-03-0${day}T03:00:00.000Z`), acceptsLoss: false };
        const { gone, doubt } = weighReports(standing, { missing, stored: count }, rule);
        expect(gone).toEqual([]);
        expect(doubt?.rule).toBe(missing.length === count ? 'loss-of-all' : 'loss-of-most');
        standing = doubt;
      }
      const rule = { now: new Date('2026-03-04T03:00:00.000Z'), acceptsLoss: false };
      expect(weighReports(standing, { missing, stored: count }, rule)).toEqual({
        gone: missing,
        doubt: null,
      });
    },
  );

  it('counts against the number that was stored when the first was missed: new reports hide no loss', () => {
    const first = pass(null, ALL.slice(0, 7), '2026-03-01T03:00:00.000Z');
    const rule = { now: new Date('2026-03-02T03:00:00.000Z'), acceptsLoss: false };
    const second = weighReports(first.doubt, { missing: ALL.slice(0, 7), stored: 100 }, rule);
    expect(second).toMatchObject({ gone: [], doubt: { rule: 'loss-of-most', rows: 7, of: 12 } });
    const more = weighReports(first.doubt, { missing: ALL.slice(0, 8), stored: 100 }, rule);
    expect(more).toMatchObject({ gone: [], doubt: { rule: 'loss-of-most', rows: 8, of: 12 } });
  });

  it('raises no doubt if the same walk stored it, as in a first walk, when it is deleted under the cursor', () => {
    const rule = { now: new Date('2026-03-01T03:00:00.000Z'), acceptsLoss: false };
    const { doubt } = weighReports(null, { missing: ['a'], stored: 0, fresh: 1 }, rule);
    expect(doubt).toMatchObject({ rule: 'loss-of-reports', rows: 1, of: 1 });
    expect(pass(doubt, ['a'], '2026-03-02T03:00:00.000Z').gone).toEqual(['a']);
    // Seven of the twelve that were stored before are most of them.
    const loss = { missing: ALL.slice(0, 9), stored: 12, fresh: 2 };
    expect(weighReports(null, loss, rule).doubt).toMatchObject({ rule: 'loss-of-most', of: 14 });
  });

  it('is accepted on demand only if an earlier pass missed it', () => {
    const first = pass(null, ALL.slice(0, 8), '2026-03-01T03:00:00.000Z', true);
    expect(first.gone).toEqual([]);
    const second = pass(first.doubt, ALL.slice(0, 9), '2026-03-01T04:00:00.000Z', true);
    expect(second.gone).toEqual(ALL.slice(0, 8));
    expect(second.doubt).toMatchObject({ rule: 'loss-of-reports', missing: ['i'], rows: 1, of: 4 });
    // Three of the four that are left are most of them.
    const more = pass(first.doubt, ALL.slice(0, 11), '2026-03-01T04:00:00.000Z', true);
    expect(more.doubt).toMatchObject({ rule: 'loss-of-most', rows: 3, of: 4 });
  });

  it('begins now if a clock that was ahead missed it', () => {
    const ahead = pass(null, ['a'], '2027-03-01T03:00:00.000Z');
    const now = pass(ahead.doubt, ['a'], '2026-03-01T03:00:00.000Z');
    expect(now.doubt).toMatchObject({ since: '2026-03-01T03:00:00.000Z', seenOn: ['2026-03-01'] });
    expect(pass(now.doubt, ['a'], '2026-03-02T03:00:00.000Z').gone).toEqual(['a']);
  });

  it('is remembered as text, each report with its own beginning', () => {
    const first = pass(null, ALL.slice(0, 7), '2026-03-01T03:00:00.000Z');
    const { doubt } = pass(first.doubt, ALL.slice(0, 8), '2026-03-02T03:00:00.000Z');
    expect(first.doubt).not.toHaveProperty('later');
    expect(doubt).toMatchObject({ since: first.doubt?.since });
    expect(doubt?.later).toEqual({ h: '2026-03-02T03:00:00.000Z' });
    expect(pass(first.doubt, ['h', ...ALL.slice(0, 7)], '2026-03-02T03:00:00.000Z').doubt).toEqual({
      ...{ ...doubt, missing: ['h', ...ALL.slice(0, 7)] },
    });
    if (doubt === null) return;
    expect(parseDoubt(doubtText(doubt), doubt.since)).toEqual(doubt);
    expect(missingReports(doubt).at(-1)).toEqual({ reportId: 'h', since: '2026-03-02T03:00:00.000Z' });
    expect(missingReports(doubt)[0]).toEqual({ reportId: 'a', since: first.doubt?.since });
    // The doubt about a day names rows by bits.
    expect(missingReports({ ...doubt, missing: 'AQ==' })).toEqual([]);
  });

  it('keeps its days if the doubt was noted by an earlier version, which had one beginning for all', () => {
    const text =
      '{"missing":["a","b","c","d","e","f","g"],"of":12,"rows":7,"rule":"loss-of-most","seenOn":["2026-03-01","2026-03-02"]}';
    const standing = parseDoubt(text, '2026-03-01T03:00:00.000Z');
    expect(pass(standing, ALL.slice(0, 7), '2026-03-04T03:00:00.000Z').gone).toEqual(ALL.slice(0, 7));
  });
});

describe('lists that lose reports for some nights', () => {
  const seeds = Array.from({ length: answersMax(400, 100) }, (_, seed) => seed);

  it('delete a report only after passes on two days, or on three if most are missing, and list it until then', () => {
    const total = { deleted: 0, missed: 0, doubted: 0 };
    for (const seed of seeds) {
      const { faults, counts } = new ReportLists(seed);
      expect(faults, `lists ${seed}`).toEqual([]);
      for (const name of ['deleted', 'missed', 'doubted'] as const) total[name] += counts[name];
    }
    expect(total.deleted).toBeGreaterThan(seeds.length * 2.5);
    expect(total.doubted).toBeGreaterThan(seeds.length * 0.75);
    expect(total.missed).toBeGreaterThan(total.doubted);
  });

  /** The rule of earlier versions: one pass suffices, unless most of twenty or all are missing. */
  const once: ReportRule = (standing, loss, rule) => {
    const isMost = loss.missing.length > loss.stored / 2;
    const isDoubted = isMost && (loss.stored >= 20 || loss.missing.length >= loss.stored);
    return isDoubted ? weighReports(standing, loss, rule) : { gone: loss.missing, doubt: null };
  };
  /** Nothing is remembered of the passes before. */
  const forgetful: ReportRule = (_, loss, rule) => weighReports(null, loss, rule);
  /** Every missing report counts as missing since the first one. */
  const together: ReportRule = (standing, loss, rule) =>
    weighReports(standing === null ? null : { ...standing, missing: loss.missing, later: {} }, loss, rule);

  it.each([
    ['one pass suffices', once],
    ['passes are forgotten', forgetful],
    ['the passes of one report count for others', together],
  ])('would fail if %s', (_, rule) => {
    expect(seeds.flatMap((seed) => new ReportLists(seed, rule).faults)).not.toEqual([]);
  });
});
